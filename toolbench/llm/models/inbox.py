"""Let a thread wait for chunks that another thread or the background loop receives."""

from collections.abc import Awaitable, Callable, Iterator
from contextvars import copy_context
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event
from typing import Any

from toolbench.core.background_loop import Task, portal
from toolbench.runs.control import Cancellable
from toolbench.threads import daemon_thread


class StoppedError(Exception):
    """Raised when the caller has stopped waiting for the answer."""


@dataclass(frozen=True)
class Ended:
    """The last item of a request, with the error that ended the request, if any."""

    error: BaseException | None = None


Send = Callable[[Any], None]
_STOPPED = object()


class InThread:
    """A request that calls `work(send)` in a new thread.

    Closing the request cannot stop the thread immediately. The thread continues until *work* calls
    *send* again. This call raises `StoppedError`, which ends *work*.
    """

    def __init__(self, work: Callable[[Send], object]) -> None:
        """Prepare a call of *work*."""
        self._work = work
        self._was_left = Event()

    def begin(self, send: Send) -> None:
        """Start the request and return immediately; *send* gets each chunk, and finally `Ended`."""
        daemon_thread(copy_context().run, self._run, send, name="toolbench-model").start()

    def _run(self, send: Send) -> None:
        def pass_on(item: Any) -> None:
            if self._was_left.is_set():
                raise StoppedError
            send(item)

        try:
            self._work(pass_on)
        except BaseException as error:  # noqa: BLE001 - the thread that waits raises it
            send(Ended(error))
        else:
            send(Ended())

    def close(self) -> None:
        """End the request, even if it has not begun; return immediately."""
        self._was_left.set()


class InLoop:
    """A request that awaits `work(send)` in the background loop; closing it cancels the task."""

    def __init__(self, work: Callable[[Send], Awaitable[object]]) -> None:
        """Prepare a call of *work*."""
        self._work = work
        self._task = Task()

    def begin(self, send: Send) -> None:
        """Start the request and return immediately; see `InThread.begin`."""
        portal.start(self._task.run, self._run, send)

    async def _run(self, send: Send) -> None:
        try:
            await self._work(send)
        except Exception as error:  # noqa: BLE001 - the thread that waits raises it
            send(Ended(error))
        except BaseException:
            # The task was cancelled, or the loop is closed
            send(Ended(ConnectionError("it was closed here")))
            raise
        else:
            send(Ended())

    def close(self) -> None:
        """Cancel the task of the request; see `InThread.close`."""
        portal.cancel(self._task)


Request = InThread | InLoop
"""A request for chunks. It is created before it begins, so that an interrupt can close it."""


def received(request: Request, cancel: Cancellable) -> Iterator[Any]:
    """Start *request*, and yield its chunks as they arrive.

    The request is always closed at the end, even after an error or an interrupt. If *cancel* is
    cancelled, the iteration ends immediately, without waiting until the request is closed.

    Raises:
        StoppedError: If *cancel* was cancelled.
        BaseException: If the request fails; its error is raised again.
    """
    if cancel.cancelled:
        raise StoppedError
    inbox: SimpleQueue[Any] = SimpleQueue()
    forget = cancel.on_cancel(lambda: inbox.put(_STOPPED))
    try:
        request.begin(inbox.put)
        while True:
            item = inbox.get()
            if item is _STOPPED or cancel.cancelled:
                raise StoppedError
            if isinstance(item, Ended):
                if item.error is not None:
                    raise item.error
                return
            yield item
    finally:
        forget()
        request.close()


def result(request: Request, cancel: Cancellable) -> Any:
    """Return the only item that *request* receives; raise the same errors as `received`."""
    [value] = received(request, cancel)
    return value


def pause(seconds: float, cancel: Cancellable) -> None:
    """Wait for *seconds*, or until *cancel* is cancelled.

    Raises:
        StoppedError: If *cancel* was cancelled.
    """
    stopped = Event()
    forget = cancel.on_cancel(stopped.set)
    try:
        if stopped.wait(seconds) or cancel.cancelled:
            raise StoppedError
    finally:
        forget()
