"""Sinks: objects that get the output of the calling code, in place of the screen."""

import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Protocol

from toolbench.runs.current_run import CurrentRun


class Sink(Protocol):
    """An object that gets the output of a piece of work, perhaps from several threads."""

    def write(self, stream: str, text: str) -> None:
        """Add *text*, which was printed to *stream*: `stdout` or `stderr`."""

    def display(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Add *data*, a mime bundle that was displayed with the display id *name*."""


class Redirection:
    """A piece of work and its sink. The threads that the work starts have the same sink."""

    def __init__(
        self,
        sink: Sink,
        outer: "Redirection | None",
        run: CurrentRun | None = None,
    ) -> None:
        """Send the output of the work to *sink*; after `end`, to the sink of *outer* again.

        Args:
            sink: The object that gets the output.
            outer: The redirection around this redirection, if any.
            run: The run whose output is redirected, if any.
        """
        self.sink: Sink | None = sink
        self.outer = outer
        self.run = run

    def end(self) -> None:
        """Release the sink, so that a thread that still runs does not keep it in memory."""
        self.sink = None


redirection_in_context: ContextVar[Redirection | None] = ContextVar("toolbench_sink", default=None)
"""The innermost redirection of the calling code, unless only its thread tells."""
# Attribute of a thread: the redirection of the thread that started it
_INHERITED = "_toolbench_sink"


def sink_here() -> Sink | None:
    """Return the sink that gets the output of the calling code; None if there is none."""
    redirection = redirection_here()
    return None if redirection is None else redirection.sink


def redirection_here() -> Redirection | None:
    """Return the innermost redirection of the calling code that has not ended; None if there is none."""
    redirection = innermost()
    while redirection is not None and redirection.sink is None:
        redirection = redirection.outer
    return redirection


def innermost() -> Redirection | None:
    """Return the innermost redirection of the calling code, even if it has ended; None if none."""
    redirection = redirection_in_context.get()
    if redirection is None:
        thread = threading.current_thread()
        redirection = getattr(thread, _INHERITED, None)
    return redirection


def enter(redirection: Redirection) -> Callable[[], None]:
    """Make *redirection* the innermost one of the calling code; return a function that undoes this."""
    token = redirection_in_context.set(redirection)
    return lambda: redirection_in_context.reset(token)


def hand_down(thread: threading.Thread) -> None:
    """Let *thread*, which is not started yet, write its output where the calling thread writes."""
    redirection = innermost()
    if redirection is not None:
        setattr(thread, _INHERITED, redirection)
