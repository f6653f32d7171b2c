"""Let a thread wait for the chunks that another thread or the background loop receives."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event
from typing import Any

from toolbench.runs.control import Cancellable


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


@contextmanager
def ending(send: Send) -> Iterator[None]:
    """Make a `with` block. At its end, send `Ended`, with the error of the block, if there is one.

    An exception that only stops the block, for example when the background loop closes,
    is raised again.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the thread that waits raises it
        send(Ended(error))
    except BaseException:
        # The loop is closed, or the request
        send(Ended(ConnectionError("it was closed here")))
        raise
    else:
        send(Ended())


def received(start: Start, cancel: Cancellable) -> Iterator[Any]:
    """Yield the chunks that *start* receives, as they arrive.

    The request is always closed at the end, also after an interrupt. After a cancel the caller
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
