"""Collect what a cell prints and displays, and leave alone what others do meanwhile."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, RLock
from typing import Any

from toolbench.runs.output.redirect import redirect_to
from toolbench.tools.terminal.buffer import HeadAndTail

Part = HeadAndTail | Mapping[str, Any]

_one_at_a_time = RLock()  # a shell at work changes `builtins`, of which there is one


class Captured:
    """What a cell printed and displayed, in order: texts and mime bundles."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.parts: list[Part] = []
        self._lock = Lock()

    def write(self, stream: str, text: str) -> None:
        """Take *text* printed to *stream*: a model reads both as one."""
        data = text.encode("utf-8", "replace")
        with self._lock:
            if not self.parts or not isinstance(self.parts[-1], HeadAndTail):
                self.parts.append(HeadAndTail())
            last = self.parts[-1]
            if data and isinstance(last, HeadAndTail):
                last.write(data)

    def display(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Take the mime bundle *data*; one that is displayed again, by its *name*, comes again."""
        with self._lock:
            self.parts.append(data)


@contextmanager
def captured(shell: Any) -> Iterator[Captured]:
    """Collect what this thread, and threads it starts, print and display by *shell*."""
    result = Captured()
    with _one_at_a_time, redirect_to(result, shell):
        yield result
