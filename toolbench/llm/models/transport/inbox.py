"""Where the thread that asks waits for what another thread, or the background loop, receives."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event
from typing import Any

from toolbench.runs.cancellation.cancel_token import Cancellable


class StoppedError(Exception):
    """The caller does not wait for the answer any more."""


@dataclass(frozen=True)
class Ended:
    """Nothing follows; with the error, if it ended with one."""

    error: BaseException | None = None


Send = Callable[[Any], None]
Start = Callable[[Send], Callable[[], object]]
"""Begins to receive: it is given where to put each chunk, and `Ended` at the end. It returns at
once, with what closes the request."""

_STOPPED = object()


@contextmanager
def ending(send: Send) -> Iterator[None]:
    """Send `Ended` when the block is over, with the error if it ends with one.

    What only stops the block, as when the background loop closes, goes on after that.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the thread that waits raises it
        send(Ended(error))
    except BaseException:  # the loop is closed, or the request
        send(Ended(ConnectionError("it was closed here")))
        raise
    else:
        send(Ended())


def received(start: Start, cancel: Cancellable) -> Iterator[Any]:
    """Return the chunks that *start* receives, as they come.

    However this ends, also by an interrupt, the request is closed; once *cancel* is cancelled
    no caller waits for that.

    Raises:
        StoppedError: If *cancel* was cancelled.
        BaseException: What the request ended with.
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
        with suppress(Exception):  # it may be closed already
            close()


def pause(seconds: float, cancel: Cancellable) -> None:
    """Wait so many *seconds*, less if *cancel* is cancelled.

    Raises:
        StoppedError: If it was.
    """
    stopped = Event()
    forget = cancel.on_cancel(stopped.set)
    try:
        if stopped.wait(seconds) or cancel.cancelled:
            raise StoppedError
    finally:
        forget()
