"""Let a thread wait for the chunks that another thread or the background loop receives."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event
from typing import Any

from toolbench.core.background_loop import portal
from toolbench.runs.control import Cancellable
from toolbench.threads import daemon_thread


class StoppedError(Exception):
    """The caller has stopped waiting for the answer."""


@dataclass(frozen=True)
class Ended:
    """The last item of a request: it tells that the request has ended, and with which error, if any."""

    error: BaseException | None = None


Send = Callable[[Any], None]
Start = Callable[[Send], Callable[[], object]]
"""A function that begins to receive: it calls its argument with each chunk, and with `Ended` at
the end. It returns at once, with a function that closes the request."""

_STOPPED = object()


def in_thread(work: Callable[[Send], object]) -> Start:
    """Return a `Start` that calls `work(send)` in a new thread.

    Nothing can stop a thread. If the caller stops waiting, the thread is left behind: the next call
    of *send* raises `StoppedError` there, which ends *work*.
    """

    def start(send: Send) -> Callable[[], object]:
        was_left = Event()

        def pass_on(item: Any) -> None:
            if was_left.is_set():
                raise StoppedError
            send(item)

        def run() -> None:
            try:
                work(pass_on)
            except BaseException as error:  # noqa: BLE001 - the thread that waits raises it
                send(Ended(error))
            else:
                send(Ended())

        daemon_thread(copy_context().run, run, name="toolbench-model").start()
        return was_left.set

    return start


def in_loop(work: Callable[[Send], Awaitable[object]]) -> Start:
    """Return a `Start` that awaits `work(send)` in the background loop. To close it cancels the task."""

    def start(send: Send) -> Callable[[], object]:
        async def run() -> None:
            try:
                await work(send)
            except Exception as error:  # noqa: BLE001 - the thread that waits raises it
                send(Ended(error))
            except BaseException:
                # The task was cancelled, or the loop is closed
                send(Ended(ConnectionError("it was closed here")))
                raise
            else:
                send(Ended())

        return portal.start(run).cancel

    return start


def received(start: Start, cancel: Cancellable) -> Iterator[Any]:
    """Yield the chunks that *start* receives, as they arrive.

    The request is always closed at the end, even after an interrupt. After a cancel the caller
    does not wait until the request is closed.

    Raises:
        StoppedError: If *cancel* was cancelled.
        BaseException: The error of the request.
    """
    if cancel.cancelled:
        raise StoppedError
    inbox: SimpleQueue[Any] = SimpleQueue()
    forget = cancel.on_cancel(lambda: inbox.put(_STOPPED))
    close = start(inbox.put)
    try:
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
        # It may be closed already
        with suppress(Exception):
            close()


def result(start: Start, cancel: Cancellable) -> Any:
    """Return the only item that *start* receives; the errors are those of `received`."""
    [value] = received(start, cancel)
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
