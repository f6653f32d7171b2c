"""Let a thread wait for the chunks that another thread or the background loop receives."""

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
    """The caller has stopped waiting for the answer."""


@dataclass(frozen=True)
class Ended:
    """The last item of a request: it tells that the request has ended, and with which error, if any."""

    error: BaseException | None = None


Send = Callable[[Any], None]
_STOPPED = object()


class InThread:
    """A request that calls `work(send)` in a new thread.

    Nothing can stop a thread. If the caller stops waiting, the thread is left behind: the next call
    of *send* raises `StoppedError` there, which ends *work*.
    """

    def __init__(self, work: Callable[[Send], object]) -> None:
        """Prepare a call of *work*."""
        self._work = work
        self._was_left = Event()

    def begin(self, send: Send) -> None:
        """Begin to receive: *send* gets each chunk, and `Ended` at the end. Return at once."""
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
        """End the request, which may have begun or not; return at once."""
        self._was_left.set()


class InLoop:
    """A request that awaits `work(send)` in the background loop. To close it cancels the task."""

    def __init__(self, work: Callable[[Send], Awaitable[object]]) -> None:
        """Prepare a call of *work*."""
        self._work = work
        self._task = Task()

    def begin(self, send: Send) -> None:
        """Do the same as `InThread.begin`."""
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
        """Do the same as `InThread.close`."""
        portal.cancel(self._task)


Request = InThread | InLoop
"""What receives chunks elsewhere: there before it begins, so that an interrupt can close it in any case."""


def received(request: Request, cancel: Cancellable) -> Iterator[Any]:
    """Yield the chunks that *request* receives, as they arrive.

    It is always closed at the end, even after an interrupt while it begins. After a cancel the caller
    does not wait until the request is closed.

    Raises:
        StoppedError: If *cancel* was cancelled.
        BaseException: The error of the request.
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
    """Return the only item that *request* receives; the errors are those of `received`."""
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
