"""Collect the printed and displayed output of a cell, but not that of other work."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, RLock
from typing import Any

from toolbench.runs.output.redirect import redirect_to
from toolbench.tools.terminal.buffer import HeadAndTail

Part = HeadAndTail | Mapping[str, Any]

_one_at_a_time = RLock()  # a running shell changes `builtins`, which all share


class Captured:
    """The output of a cell, in order: printed texts and displayed mime bundles."""

    def __init__(self) -> None:
        """Start without output."""
        self.parts: list[Part] = []
        self._lock = Lock()

    def write(self, stream: str, text: str) -> None:
        """Add *text* printed to *stream*; a model reads both streams as one."""
        data = text.encode("utf-8", "replace")
        with self._lock:
            if not self.parts or not isinstance(self.parts[-1], HeadAndTail):
                self.parts.append(HeadAndTail())
            last = self.parts[-1]
            if data and isinstance(last, HeadAndTail):
                last.write(data)

    def display(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Add the mime bundle *data*, even if the same *name* was displayed before."""
        with self._lock:
            self.parts.append(data)


@contextmanager
def captured(shell: Any) -> Iterator[Captured]:
    """Collect the output of this thread, and of threads it starts, in *shell*."""
    result = Captured()
    with _one_at_a_time, redirect_to(result, shell):
        yield result
