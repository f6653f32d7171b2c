"""Stop a run: first ask the run to stop, then use force.

`CancelToken` is for work that checks the token or adds a callback. For all other work,
`Interruptible` raises an exception in the thread of the work.

To ask a run means: mark the run as cancelled, call its callbacks (one of them cancels the future of
an async run), and call the executor's `interrupt()`. Force, after a grace period, means: kill the
processes that the run started, and raise an exception in its thread. A call blocked in C cannot be
stopped: the run is reported as stopping until the call returns, but callers wait only a few
seconds.
"""

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from itertools import count
from pathlib import Path
from subprocess import Popen
from threading import Lock, Thread, current_thread, get_ident
from time import sleep
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

from toolbench.runs.current_run import inherited_run
from toolbench.threads import daemon_thread, have_threads

if TYPE_CHECKING:
    from toolbench.runs.run import Run


Callback = Callable[[], object]
INTERRUPTED = "interrupted"
"""The reason of a stop that an interrupt of the kernel or of an agent caused.

Jupyter also interrupts a kernel before it ends the kernel.
"""


class RunCancelled(BaseException):
    """Raised inside a run to stop it; executors must not catch it."""


class Cancellable(Protocol):
    """An object that knows whether work is cancelled: a `CancelToken`, or `current_run()`."""

    @property
    def cancelled(self) -> bool:
        """Whether the work is cancelled."""

    @property
    def cancelled_in(self) -> Thread | None:
        """The thread that cancelled the work; None if it is not cancelled, or by its parent only."""

    def on_cancel(self, callback: Callback) -> Callable[[], None]:
        """Call *callback* when the work is cancelled; at once if it is cancelled already.

        Returns:
            A function that removes the callback.
        """


class CancelToken:
    """A token that cancels a piece of work once; any thread may cancel it or add a callback."""

    def __init__(self) -> None:
        """Make a token that is not cancelled."""
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
        """Call *callback* in the thread that calls `cancel`; at once, if that has happened already.

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
        """Mark the work as cancelled; return the callbacks that no earlier call of this method returned.

        The caller has to call these callbacks.
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


# Rounds of a loop; the exception arrives in the first round
_SOON = 100_000
_START = Thread.start.__code__
# Checks whether a thread still starts another one
_LONGEST_START = 1_000


def raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise *error* in the thread with the identifier *thread*, between two bytecodes.

    The exception waits until a blocking call in C has returned.
    """
    _wait_for_started_threads(thread)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _wait_for_started_threads(thread: int) -> None:
    """Wait while *thread* starts another thread.

    Before Python 3.12, a new thread at first has the identifier of its parent, the thread that
    starts it. The new thread would get the exception and end, and its parent would wait for ever.
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
    """Make sure that no exception sent by another thread can still arrive in this thread.

    Another thread may have sent an exception that has not arrived yet. CPython cannot take this
    exception back without making the process slower for ever. So this function sends a second
    exception, which replaces the first exception, and waits for the second.

    Args:
        raise_here: A function that sends the second exception to this thread.
    """
    raise_here()
    for _ in range(_SOON):
        pass


class Interruptible:
    """A piece of work in one thread that another thread may stop with an exception."""

    def __init__(self, error: type[BaseException]) -> None:
        """Make a piece of work that `strike` stops by raising *error*."""
        self._error = error
        self._lock = Lock()
        self._thread: int | None = None
        self._struck = False

    def begin(self) -> None:
        """Allow `strike` to raise the exception in the calling thread from now on."""
        with self._lock:
            self._thread = get_ident()

    def end(self) -> None:
        """Stop allowing the exception; if it was sent already and has not arrived, it has no effect."""
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
        """Do the same as `strike`; the caller holds the lock."""
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
        """Raise the exception in *thread*; a subclass may have a quicker way."""
        raise_in(thread, self._error)

    def _disallow(self) -> None:
        """Called when the work ends; a subclass can undo its own preparations for the exception here."""


class Children:
    """The list of the processes that one run started.

    A process that a thread of the run starts through `subprocess` is known on every system. On
    Linux, a process started in another way is known too.
    """

    def __init__(self) -> None:
        """Make an empty list."""
        self._started: WeakSet[Popen[Any]] = WeakSet()

    def add(self, process: "Popen[Any]") -> None:
        """Add *process* to the list."""
        self._started.add(process)

    def kill(self, threads: list[Thread]) -> None:
        """Kill the processes of this list, others that *threads* started, and all their children."""
        import psutil  # noqa: PLC0415 - only to stop a run by force

        known = [p.pid for p in list(self._started) if p.returncode is None]
        for pid in {*known, *_of(threads)}:
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                for victim in [*process.children(recursive=True), process]:
                    with suppress(psutil.NoSuchProcess):
                        victim.kill()


def _of(threads: list[Thread]) -> Iterator[int]:
    for thread in threads:
        with suppress(OSError):
            pids = Path(f"/proc/self/task/{thread.native_id}/children").read_text()
            yield from map(int, pids.split())


# Seconds between asking and the first use of force
GRACE = 1.0
# Uses of force before the run is given up
PATIENCE = 3
# Seconds a run has to end after its callbacks, before `interrupt()`
CALLBACK_SECONDS = 0.2


def cancel(
    run: "Run", insist: Callable[[], object] | None = None, reason: str = "cancelled"
) -> None:
    """Stop *run*, and return at once; repeated calls do no harm.

    Args:
        run: The run.
        insist: A function that uses force; it is called every second until the run has ended.
        reason: The reason, for the record.
    """
    if run.has_ended or run.state == "stopping":
        return
    callbacks = run.wants_cancel(reason)
    run.enter("stopping")
    _in_background(_ask, run, callbacks)
    # Else it has ended, or is a task
    if insist is not None and have_threads():
        _in_background(_insist, run, insist)


def _in_background(work: Callable[..., None], *args: object) -> None:
    daemon_thread(work, *args, name="toolbench-cancel").start()


def _ask(run: "Run", callbacks: list[Callable[[], object]]) -> None:
    for callback in callbacks:
        _tell(run, callback)
    patience = CALLBACK_SECONDS if have_threads() else 0
    # Only then: `interrupt` may stop other runs too
    if not (callbacks and run.done.wait(patience)):
        _tell(run, getattr(run.tool.executor, "interrupt", None))


def _insist(run: "Run", insist: Callable[[], object]) -> None:
    for times in count(1):
        # less and less often after it was given up: each time wakes the process
        if run.done.wait(GRACE * max(1, times - PATIENCE)):
            return
        if times > PATIENCE and not run.is_stuck:
            run.give_up()
        insist()


def _tell(run: "Run", callback: Callable[[], object] | None) -> None:
    try:
        if callback is not None:
            callback()
    except Exception as error:  # noqa: BLE001 - if one fails, the others are still called
        run.log(f"while stopping: {error}", "warning")


def break_off(run: "Run", thread: Thread) -> None:
    """Kill the processes that *run* started, and raise `RunCancelled` in *thread*, the thread of *run*."""
    others = [t for t in threading.enumerate() if inherited_run(t) is run]
    run.children.kill([thread, *others])
    run.work.strike()


class Active:
    """The list of the background runs; any thread may use this list."""

    def __init__(self) -> None:
        """Make an empty list of runs."""
        self._threads: dict[Run, Thread] = {}
        self._lock = Lock()

    def start(self, run: "Run", work: Callable[[], object], then: Callable[[], object]) -> Thread:
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
                # Comes when work is over
                with suppress(RunCancelled):
                    work()
            finally:
                with self._lock:
                    self._threads.pop(run, None)
                then()

        thread = daemon_thread(copy_context().run, body, name=f"toolbench-run-{run.id}")
        with self._lock:
            self._threads[run] = thread
        thread.start()
        return thread

    def stop(self, run: "Run", reason: str = "cancelled") -> None:
        """Cancel *run*; if *run* is in this list, also use force on its thread. See `cancel`."""
        thread = self._threads.get(run)
        insist = None if thread is None else lambda: break_off(run, thread)
        cancel(run, insist, reason)

    def stop_all(self, reason: str) -> None:
        """Cancel every background run."""
        for run in self:
            self.stop(run, reason)

    def __iter__(self) -> "Iterator[Run]":
        with self._lock:
            return iter(list(self._threads))

    def __len__(self) -> int:
        return len(self._threads)


active = Active()
"""The background runs of this process."""
