"""One background event loop, started on first use, for everything that is `async`.

It is separate from the kernel's own loop. So a cell, a button and the session of a server can all
wait for tasks in this loop at the same time. If a waiting caller is interrupted, its task is
cancelled. If the task is a request to an MCP server, the server is told to cancel it too.
"""

import atexit
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError, Future, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from toolbench.errors import ToolbenchError
from toolbench.threads import NO_THREADS, have_threads, leave_behind_in_forks

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from anyio import CancelScope
    from anyio.from_thread import BlockingPortal

T = TypeVar("T")
Close = Callable[[], Awaitable[object]]
_CLOSING_SECONDS = 5.0
# Seconds from one drawing to the next
_EVERY = 0.25
_draw: ContextVar[Callable[[], object] | None] = ContextVar("draw", default=None)


@dataclass(frozen=True)
class _Running:
    """A loop that runs in its own thread."""

    manager: "AbstractContextManager[BlockingPortal]"
    portal: "BlockingPortal"
    loop: "AbstractEventLoop"
    thread: int


class Task:
    """A call that can be cancelled at any time, even before it has started.

    `portal.start(task.run, function)` starts the call, and `portal.cancel(task)` cancels it. The
    caller can therefore cancel the call even if it was interrupted before `start` returned.
    """

    def __init__(self) -> None:
        """Prepare a task."""
        self._scope: CancelScope | None = None
        self._is_cancelled = False

    async def run(self, function: Callable[..., Awaitable[T]], *args: Any) -> T:
        """Await `function(*args)` until the task is cancelled, and return its result."""
        from anyio import CancelScope  # noqa: PLC0415 - asyncio, only for what is async

        with CancelScope() as self._scope:
            if self._is_cancelled:
                self._scope.cancel()
            return await function(*args)
        # Nobody waits for it
        raise CancelledError

    def cancel(self) -> None:
        """Cancel the task now, or as soon as it starts; call this in the background loop."""
        self._is_cancelled = True
        if self._scope is not None:
            self._scope.cancel()


class Portal:
    """Runs coroutine functions in the background loop, for callers in other threads."""

    def __init__(self) -> None:
        """Create a portal. The background loop and its thread start when they are first needed."""
        self._begin()

    def _begin(self) -> None:
        self._lock = Lock()
        self._closing_lock = Lock()
        self._running: _Running | None = None
        self._to_close: set[Close] = set()
        self.is_closing = False
        """Whether the loop is about to stop, usually because the process exits."""

    @property
    def loop(self) -> "AbstractEventLoop":
        """The background loop. Reading this property starts the loop if it does not run."""
        return self._opened().loop

    def start(self, function: Callable[..., Awaitable[T]], *args: Any) -> Future[T]:
        """Start `function(*args)` as a task of the background loop, and return the task's future.

        Raises:
            ToolbenchError: If the loop is being closed. Also if the caller runs in the background
                loop, because waiting for the future there would block the loop for ever.
        """
        self.refuse_inside()
        portal = self._opened().portal
        try:
            return portal.start_task_soon(function, *args)
        except RuntimeError:
            # It stopped after `_opened` had returned it
            msg = "The background loop is being closed, so the call was not made: make it again."
            raise ToolbenchError(msg) from None

    def call(
        self,
        function: Callable[..., Awaitable[T]],
        *args: Any,
        timeout: float | None = None,
    ) -> T:
        """Run `function(*args)` in the background loop, wait, and return its result.

        The task is cancelled if the call times out, or if the waiting thread is interrupted.

        Args:
            function: The coroutine function.
            *args: The arguments of the function.
            timeout: Seconds to wait; None waits for ever.

        Raises:
            TimeoutError: If the call takes longer than *timeout*.
            ToolbenchError: If called from the background loop itself, or while the loop is closed.
        """
        task = Task()
        future: Future[T] | None = None
        draw = _draw.get()
        try:
            future = self.start(task.run, function, *args)
            if draw is not None and timeout is None:
                while not wait([future], _EVERY).done:
                    draw()
            return future.result(timeout)
        except ToolbenchError as error:
            # it says all: with a group of exceptions behind it, IPython shows a long traceback
            error.__context__ = None
            raise
        except BaseException:
            # Even at KeyboardInterrupt, and even if that came before `start` had returned
            if future is not None:
                future.cancel()
            else:
                self.cancel(task)
            raise

    def cancel(self, task: Task) -> None:
        """Request that *task* is cancelled, whether or not it has begun, from any thread."""
        if (running := self._running) is not None:
            running.loop.call_soon_threadsafe(task.cancel)

    @property
    def drawer(self) -> Callable[[], object] | None:
        """The function that the surrounding `drawing` block calls; None outside such a block."""
        return _draw.get()

    @contextmanager
    def drawing(self, draw: Callable[[], object]) -> Iterator[None]:
        """Call *draw* four times a second while code in the `with` block waits for a `call`.

        *draw* is called in the waiting thread. It is not called if the `call` has a timeout.
        """
        token = _draw.set(draw)
        try:
            yield
        finally:
            _draw.reset(token)

    def refuse_inside(self, instead: str = "tool.acall(action)") -> None:
        """Raise an error if the calling thread is the thread of the background loop.

        A blocking call in this thread would never return.

        Args:
            instead: The awaitable call that the error message suggests.

        Raises:
            ToolbenchError: If the calling thread is the thread of the background loop.
        """
        running = self._running
        if running is not None and get_ident() == running.thread:
            msg = (
                "A blocking call was made inside the background loop, where async tools "
                f"and answerers run: await it instead, as in `await {instead}`."
            )
            raise ToolbenchError(msg)

    def close_first(self, close: Close) -> None:
        """Register *close*, which closes a connection; it is awaited before the loop stops."""
        self._to_close.add(close)

    def is_closed(self, close: Close) -> None:
        """Undo `close_first(close)`, because the connection is already closed."""
        self._to_close.discard(close)

    def close(self) -> None:
        """Close connections, cancel all tasks and stop the loop; a later call starts a new loop.

        While the loop is closing, it still runs calls from other threads. Connections may need
        these calls in order to close.
        """
        with self._closing_lock:
            running = self._running
            if running is None:
                return
            to_close, self._to_close = self._to_close, set()
            self.is_closing = True
            try:
                # It is stopping already
                with suppress(RuntimeError):
                    running.portal.call(_close_all, to_close)
                    running.portal.call(running.portal.stop, True)  # noqa: FBT003 - anyio's
                running.manager.__exit__(None, None, None)
                # Not after an interrupt: then the loop may run, and is closed at the next try
                self._running = None
            finally:
                self.is_closing = False

    def leave_behind(self) -> None:
        """Forget the loop in a forked process, which has no copy of the loop's thread to stop."""
        if self._running is not None:
            # It must not wait: nothing would wake it here
            with suppress(StopIteration):
                self._running.portal.stop().send(None)
        self._begin()

    def _opened(self) -> _Running:
        """Return the loop, started if necessary, even while it is being closed."""
        running = self._running
        if running is not None:
            return running
        if not have_threads():
            msg = (
                f"The call has to wait for async work, and cannot: {NO_THREADS}. Await it, as "
                "in `await tool.acall(action)`, or press Run in the panel of the tool."
            )
            raise ToolbenchError(msg)
        from concurrent.futures import (  # noqa: PLC0415 - loads more, only for what is async
            ThreadPoolExecutor,
        )

        # in another thread: an interrupt while anyio starts the loop would make anyio wait for ever
        with ThreadPoolExecutor(1) as opener:
            return opener.submit(self._start).result()

    def _start(self) -> _Running:
        # Held here, where no interrupt comes: an interrupted caller leaves this thread at work
        with self._lock:
            if self._running is None:
                self._running = self._new_loop()
            return self._running

    def _new_loop(self) -> _Running:
        from anyio.from_thread import (  # noqa: PLC0415 - asyncio, only for what is async
            start_blocking_portal,
        )
        from anyio.lowlevel import current_token  # noqa: PLC0415 - as above

        manager = start_blocking_portal("asyncio", name="toolbench-loop")
        portal = manager.__enter__()
        token: Any = portal.call(current_token)
        # without this the interpreter never ends: it waits for the loop
        atexit.register(self.close)
        return _Running(manager, portal, token.native_token, portal.call(get_ident))


async def _close_all(to_close: set[Close]) -> None:
    from anyio import move_on_after  # noqa: PLC0415 - asyncio, only for what is async

    with move_on_after(_CLOSING_SECONDS):
        for close in to_close:
            # If one fails, the others are still closed
            with suppress(Exception):
                await close()


portal = Portal()
"""The portal of this process; `portal.close()` resets it."""
leave_behind_in_forks(portal)
