"""Where the output of the calling code goes, if not to the screen."""

import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Protocol

from toolbench.runs.current_run import CurrentRun


class Sink(Protocol):
    """Takes the output of a piece of work; several threads may bring some."""

    def write(self, stream: str, text: str) -> None:
        """Take *text*, which was printed to *stream*: `stdout` or `stderr`."""

    def display(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Take a displayed mime bundle, and its display id *name*."""


class Redirection:
    """A piece of work and its sink; threads it starts share it."""

    def __init__(
        self,
        sink: Sink,
        outer: "Redirection | None",
        run: CurrentRun | None = None,
    ) -> None:
        """Give *sink* the output; after the end, it is that of *outer* again.

        Args:
            sink: Takes the output.
            outer: The redirection this one is part of.
            run: The run this one is part of.
        """
        self.sink: Sink | None = sink
        self.outer = outer
        self.run = run

    def end(self) -> None:
        """Let what comes now pass; a thread that lives on keeps no output in memory."""
        self.sink = None


_here: ContextVar[Redirection | None] = ContextVar("toolbench_sink", default=None)
_INHERITED = "_toolbench_sink"  # what a thread got from the one that started it


def sink_here() -> Sink | None:
    """Return the sink of the work this code is part of, or None."""
    redirection = redirection_here()
    return None if redirection is None else redirection.sink


def redirection_here() -> Redirection | None:
    """Return the innermost redirection of this code to a sink that has not ended, or None."""
    redirection = innermost()
    while redirection is not None and redirection.sink is None:
        redirection = redirection.outer
    return redirection


def innermost() -> Redirection | None:
    """Return the redirection this code was put into last, or None."""
    redirection = _here.get()
    if redirection is None:
        thread = threading.current_thread()
        redirection = getattr(thread, _INHERITED, None)
    return redirection


def enter(redirection: Redirection) -> Callable[[], None]:
    """Make *redirection* the one of this code; call what is returned to go back."""
    token = _here.set(redirection)
    return lambda: _here.reset(token)


def hand_down(thread: threading.Thread) -> None:
    """Let *thread*, about to start, share the redirection of the one that starts it."""
    redirection = innermost()
    if redirection is not None:
        setattr(thread, _INHERITED, redirection)
