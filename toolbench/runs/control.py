"""Stop a run: first ask it to stop, then use force.

`CancelToken` is for work that checks the token or adds a callback. For all other work,
`Interruptible` raises an exception in the thread of the work. `Control` combines the two for one
run, and `stop` applies them in this order. `active` lists the background runs.

A run is asked to stop in three ways. It is marked as cancelled, its callbacks are called (one of
them cancels the future of an async run), and the executor's `interrupt()` is called. After a grace
period, force is used: the processes that the run started are killed, and an exception is raised in
its thread. A call blocked in C cannot be stopped. Its run is reported as stopping until the call
returns, but callers wait only a few seconds.
"""

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from enum import Enum
from itertools import count
from pathlib import Path
from subprocess import Popen
from threading import Lock, Thread, current_thread, get_ident
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar
from weakref import WeakSet

from toolbench.runs.current_run import run_of_code
from toolbench.runs.kernel import InterruptWatch
from toolbench.threads import daemon_thread, have_threads

if TYPE_CHECKING:
    from toolbench.runs.run import Run

T = TypeVar("T")
Callback = Callable[[], object]


class RunCancelled(BaseException):
    """Raised inside a run to stop it; executors must not catch it."""


class StopCause(Enum):
    """What stops a run."""

    PERSON = "the user cancels the run"
    INTERRUPT = "the kernel or the conversation is interrupted"
    TIMEOUT = "the time limit of the run is over"
    PROGRAM = "a part of the program does not need the run any more"


class Stop(NamedTuple):
    """Why a run was stopped."""

    cause: StopCause
    words: str
    """The reason for the record and for views, such as `timed out after 3 s`."""

    @classmethod
    def timeout(cls, seconds: float) -> Self:
        """Return the reason for a run that took longer than *seconds*."""
        return cls(StopCause.TIMEOUT, f"timed out after {seconds:g} s")

    @property
    def sentence(self) -> str:
        """How the run was stopped: a sentence for the model, without its full stop."""
        if self.cause is StopCause.PERSON:
            return "The user cancelled the run"
        if self.cause is StopCause.INTERRUPT:
            return "The user interrupted the run"
        return f"The run was {self.words}"


CANCELLED = Stop(StopCause.PERSON, "cancelled")
INTERRUPTED = Stop(StopCause.INTERRUPT, "interrupted")
"""The reason for a stop that an interrupt of the kernel or of an agent caused.

Jupyter also interrupts a kernel before it shuts the kernel down.
"""


class Cancellable(Protocol):
    """An object that knows whether work is cancelled: a `CancelToken`, or `current_run()`."""

    @property
    def cancelled(self) -> bool:
        """Whether the work is cancelled."""

    @property
    def cancelled_in(self) -> Thread | None:
        """The thread that cancelled the work; None if not cancelled, or only through its parent."""

    def on_cancel(self, callback: Callback) -> Callable[[], None]:
        """Call *callback* when the work is cancelled; immediately if it already is.

        Returns:
            A function that removes the callback.
        """


class CancelToken:
    """A handle for cancelling a request or a run.

    Any thread may call `cancel` or add a callback. Only the first call of `cancel` counts.

    Examples:
        >>> from toolbench.errors import ModelStoppedError
        >>> from toolbench.llm import CancelToken, ScriptedModel, user_message
        >>> token = CancelToken()
        >>> remove = token.on_cancel(lambda: print("the request is closed"))
        >>> token.cancel("the user left")
        the request is closed
        >>> token.cancelled, token.reason
        (True, 'the user left')
    """

    def __init__(self) -> None:
        """Create a token that is not cancelled."""
        self.cancelled = False
        """Whether `cancel` was called."""
        self.reason = ""
        """The reason of the first call of `cancel`."""
        self.cancelled_in: Thread | None = None
        """The thread in which `cancel` was called first."""
        self._callbacks: list[Callback] = []
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<CancelToken{' cancelled' if self.cancelled else ''}>"

    def on_cancel(self, callback: Callback) -> Callable[[], None]:
        """Call *callback* in the thread that calls `cancel`; immediately if already cancelled.

        Returns:
            A function that removes the callback.
        """
        with self._lock:
            if not self.cancelled:
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def cancel(self, reason: str = "") -> None:
        """Cancel the work and call every callback; a second call does nothing."""
        for callback in self.request(reason):
            # If one fails, the others are still called
            with suppress(Exception):
                callback()

    def request(self, reason: str = "") -> list[Callback]:
        """Mark the work as cancelled; return the callbacks, which the caller has to call.

        Each callback is returned only once.
        """
        with self._lock:
            if not self.cancelled:
                self.cancelled, self.reason = True, reason
                self.cancelled_in = current_thread()
            callbacks, self._callbacks = self._callbacks, []
        return callbacks

    def _forget(self, callback: Callback) -> None:
        with self._lock, suppress(ValueError):
            self._callbacks.remove(callback)


# Rounds of a loop; an exception that was sent arrives in the first round
_SOON = 100_000
_START = Thread.start.__code__
# How often it is checked whether a thread is still starting another one
_LONGEST_START = 1_000


def raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise *error* in another thread, which has the identifier *thread*.

    It is raised between two bytecodes. If the thread is blocked in C code, the exception arrives
    after the blocking call returns.
    """
    _wait_for_started_threads(thread)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _wait_for_started_threads(thread: int) -> None:
    """Wait while *thread* is starting another thread.

    Before Python 3.12, a new thread first has the identifier of the thread that starts it. Without
    this wait, an exception for *thread* would be raised in the new thread and end it, and *thread*
    would wait forever for the new thread to start.
    """
    if sys.version_info >= (3, 12):
        return
    for _ in range(_LONGEST_START):
        frame = sys._current_frames().get(thread)
        while frame is not None and frame.f_code is not _START:
            frame = frame.f_back
        if frame is None:
            return
        sleep(0.001)


def receive(raise_here: Callable[[], object]) -> None:
    """Make sure that no exception from another thread can arrive in this thread any more.

    Another thread may have sent an exception that has not arrived yet. This function sends a second
    exception to this thread, which replaces the first one, and waits until it arrives.

    Args:
        raise_here: A function that sends the second exception to this thread.
    """
    # Taking the first exception back would make the whole process slower in CPython, permanently
    raise_here()
    for _ in range(_SOON):
        pass


class Interruptible:
    """A piece of work in one thread that another thread may stop with an exception."""

    def __init__(self, error: type[BaseException]) -> None:
        """Prepare work that `strike` stops by raising *error*."""
        self._error = error
        self._lock = Lock()
        self._thread: int | None = None
        self._struck = False

    def carry_out(self, work: Callable[[], T]) -> T:
        """Return `work()`; `strike` can end *work* with the exception only while *work* runs."""
        # IPython leaves out such frames
        __tracebackhide__ = True
        try:
            try:
                self.begin()
                return work()
            finally:
                self.end()
        except BaseException:
            # Again: the exception may have hit the first call
            self.end()
            raise

    def begin(self) -> None:
        """Allow `strike` to raise the exception in the calling thread from now on."""
        with self._lock:
            self._thread = get_ident()

    def end(self) -> None:
        """Stop allowing the exception; if it was sent but has not arrived, it has no effect."""
        while self._thread is not None:
            try:
                self._settle()
            except self._error:
                continue

    def strike(self) -> None:
        """Raise the exception in the thread of the work, if the work still runs."""
        with self._lock:
            self._strike()

    def _strike(self) -> None:
        """Do the same as `strike`, for a caller that already holds the lock."""
        if self._thread is not None:
            self._struck = True
            self._raise_in(self._thread)

    def _settle(self) -> None:
        with self._lock:
            if self._struck:
                self._struck = False
                receive(lambda: self._raise_in(get_ident()))
            self._disallow()
            self._thread = None

    def _raise_in(self, thread: int) -> None:
        """Raise the exception in *thread*; a subclass may have a faster way."""
        raise_in(thread, self._error)

    def _disallow(self) -> None:
        """Undo preparations for the exception when the work ends; for subclasses to override."""


class Control:
    """Cancels one run, and stops it by force if needed; any thread may use it. See `stop`."""

    def __init__(self, outer: "Control | None") -> None:
        """Create the control of a run that has not started; *outer* is that of its parent."""
        self.outer = outer
        self.why: Stop | None = None
        """Why the run was stopped; None if it was not stopped, or if only its parent was."""
        self.thread: Thread | None = None
        """The thread of a background run."""
        self.is_given_up = False
        """Whether callers no longer wait for the run, although its call has not returned."""
        self.token = CancelToken()
        """The token of the run; cancelling it does not cancel the tokens of the runs inside."""
        self.work = Interruptible(RunCancelled)
        """The work of the run, which `break_off` ends by force."""
        # Most runs start no process
        self._processes: WeakSet[Popen[Any]] | None = None
        self._lock = Lock()

    @property
    def cancelled(self) -> bool:
        """Whether the run, or a run that contains it, is cancelled."""
        return self.token.cancelled or (self.outer is not None and self.outer.cancelled)

    @property
    def cancelled_in(self) -> Thread | None:
        """The thread that cancelled the run; None if it is not cancelled, or only its parent is."""
        return self.token.cancelled_in

    def on_cancel(self, callback: Callback) -> Callable[[], None]:
        """Call *callback* when the run is stopped; immediately if it already is.

        Returns:
            A function that removes the callback.
        """
        return self.token.on_cancel(callback)

    def request(self, why: Stop = CANCELLED) -> list[Callback]:
        """Mark the run as cancelled; return the callbacks, as `CancelToken.request` does."""
        with self._lock:
            if self.why is None:
                self.why = why
        return self.token.request(why.words)

    def add_process(self, process: "Popen[Any]") -> None:
        """Remember *process*, which the run started, so that stopping the run by force kills it."""
        with self._lock:
            if self._processes is None:
                self._processes = WeakSet()
            self._processes.add(process)

    def break_off(self, threads: list[Thread]) -> None:
        """Kill the processes of the run, and raise `RunCancelled` in its thread.

        Processes that a thread of the run started through `subprocess` are killed on every system.
        Processes that were started in another way are killed only on Linux.

        Args:
            threads: The threads of the run.
        """
        if threads:
            self._kill_processes(threads)
        self.work.strike()

    def _kill_processes(self, threads: list[Thread]) -> None:
        import psutil  # noqa: PLC0415 - only to stop a run by force

        pids = set[int]()
        for process in list(self._processes or ()):
            if process.returncode is None:
                pids.add(process.pid)
        for thread in threads:
            with suppress(OSError):
                children = Path(f"/proc/self/task/{thread.native_id}/children").read_text()
                pids.update(map(int, children.split()))
        for pid in pids:
            with suppress(psutil.NoSuchProcess):
                known = psutil.Process(pid)
                for victim in [*known.children(recursive=True), known]:
                    with suppress(psutil.NoSuchProcess):
                        victim.kill()


# Seconds between asking and the first use of force
GRACE = 1.0
# Uses of force before the run is given up
PATIENCE = 3
# Seconds that a run has to end after its callbacks, before `interrupt()` is called
CALLBACK_SECONDS = 0.2


def stop(run: "Run", why: Stop = CANCELLED) -> None:
    """Stop *run* because of *why*: ask it first, then use force; return immediately.

    A second call does nothing.
    """
    if run.has_ended or run.state == "stopping":
        return
    control = run.control
    callbacks = control.request(why)
    # A run that begins later notices the request
    is_begun = run.state != "new"
    run.enter("stopping")
    daemon_thread(_ask, run, callbacks, name="toolbench-cancel").start()
    # If the parent is being stopped, the force used on it stops this run too
    outer = control.outer
    is_hit = control.thread is None and outer is not None and outer.cancelled
    # Without threads, the run has ended, or is a task
    if is_begun and not is_hit and have_threads():
        daemon_thread(_insist, run, name="toolbench-cancel").start()


def _ask(run: "Run", callbacks: list[Callback]) -> None:
    for callback in callbacks:
        _tell(run, callback)
    seconds = CALLBACK_SECONDS
    if not have_threads():
        seconds = 0
    # Only if the callbacks were not enough: `interrupt` may stop other runs too
    if not (callbacks and run.done.wait(seconds)):
        _tell(run, getattr(run.tool.executor, "interrupt", None))


def _tell(run: "Run", callback: Callback | None) -> None:
    try:
        if callback is not None:
            callback()
    except Exception as error:  # noqa: BLE001 - if one fails, the others are still called
        run.log(f"while stopping: {error}", "warning")


def _insist(run: "Run") -> None:
    control = run.control
    for times in count(1):
        # Less and less often after the run was given up, as each time wakes the process
        if run.done.wait(GRACE * max(1, times - PATIENCE)):
            return
        if times > PATIENCE and not control.is_given_up:
            run.give_up()
        threads = list[Thread]()
        if control.thread is not None:
            others = [t for t in threading.enumerate() if run_of_code.of(t) is run]
            threads = [control.thread, *others]
        control.break_off(threads)


class BackgroundRuns:
    """The list of the background runs; any thread may use this list.

    Attributes:
        watch: The handler through which an interrupt of the kernel stops these runs.
    """

    def __init__(self) -> None:
        """Create an empty list of runs."""
        self.watch = InterruptWatch(self)
        self._runs: set[Run] = set()
        self._lock = Lock()

    def start(self, run: "Run", work: Callback, then: Callback) -> Thread:
        """Start *work* in a new daemon thread, and return the thread.

        *run* is in this list until *work* ends. On a Python without threads, *work* has already
        ended when this method returns.

        Args:
            run: The run.
            work: The function that executes the run.
            then: A function that is called in the thread after the run has left this list.
        """

        def body() -> None:
            try:
                # Raised when the work is already over
                with suppress(RunCancelled):
                    work()
            finally:
                with self._lock:
                    self._runs.discard(run)
                then()

        thread = daemon_thread(copy_context().run, body, name=f"toolbench-run-{run.id}")
        with self._lock:
            self._runs.add(run)
        run.control.thread = thread
        thread.start()
        return thread

    def interrupt(self) -> None:
        """Stop every background run because the kernel is interrupted."""
        self.stop_all(INTERRUPTED)

    def stop_all(self, why: Stop) -> None:
        """Stop every background run."""
        for run in self:
            stop(run, why)

    def __iter__(self) -> Iterator["Run"]:
        with self._lock:
            return iter(list(self._runs))

    def __len__(self) -> int:
        return len(self._runs)


active = BackgroundRuns()
"""The background runs of this process."""


class Limits:
    """The limits of the runs that the user starts with a button or a magic.

    Attributes:
        seconds: Seconds after which such a run is cancelled; None means no limit.
    """

    def __init__(self) -> None:
        """Set no limit."""
        self.seconds: float | None = None

    def seconds_of(self, run: "Run", timeout: float | None) -> float | None:
        """Return the seconds after which *run* is cancelled: *timeout*, or else this limit."""
        if timeout is None and run.source in ("button", "magic"):
            return self.seconds
        return timeout


limits = Limits()
"""The limits of this process; `%config Toolbench.timeout` sets them."""
