"""Collect what a cell prints and displays, and leave alone what others do meanwhile."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from io import TextIOBase
from threading import Lock, RLock, get_ident
from threading import enumerate as all_threads
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from toolbench.tools.terminal.buffer import HeadAndTail

Part = HeadAndTail | Mapping[str, Any]

_one_at_a_time = RLock()  # sys.stdout is one for the whole process
_cell: ContextVar["Captured | None"] = ContextVar("toolbench_cell", default=None)


class Captured:
    """What a cell printed and displayed, in order: texts and mime bundles."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.parts: list[Part] = []
        self.over = False
        """Whether the cell has ended: a stand-in that outlives it lets everything pass."""
        self._lock = Lock()
        self._others = {t.ident for t in all_threads()} - {get_ident()}

    def is_ours(self) -> bool:
        """Whether this thread works for the cell: the cell's own, or one it started."""
        if self.over:
            return False
        return _cell.get() is self or get_ident() not in self._others

    def write(self, text: str) -> None:
        """Take printed *text*."""
        data = text.encode("utf-8", "replace")
        with self._lock:
            if not self.parts or not isinstance(self.parts[-1], HeadAndTail):
                self.parts.append(HeadAndTail())
            last = self.parts[-1]
            if data and isinstance(last, HeadAndTail):
                last.write(data)

    def show(self, bundle: Mapping[str, Any]) -> None:
        """Take something displayed."""
        with self._lock:
            self.parts.append(bundle)


class _Stream(TextIOBase):
    """Stands in for `sys.stdout`: text of the cell is captured, all else goes on."""

    def __init__(self, real: Any, captured: Captured) -> None:
        self._real = real
        self._captured = captured

    def write(self, text: str) -> int:
        if not self._captured.is_ours():
            written: int = self._real.write(text)
            return written
        self._captured.write(text)
        return len(text)

    def flush(self) -> None:
        self._real.flush()

    def isatty(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_real"], name)


class _Publisher:
    """Stands in for a shell's display publisher in the same way."""

    def __init__(self, real: Any, captured: Captured) -> None:
        self._real = real
        self._captured = captured

    def publish(self, data: Any, *arguments: Any, **options: Any) -> None:
        if self._captured.is_ours():
            self._captured.show(data)
        else:
            self._real.publish(data, *arguments, **options)

    def clear_output(self, *arguments: Any, **options: Any) -> None:
        if not self._captured.is_ours():
            self._real.clear_output(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_real"], name)


@contextmanager
def captured(shell: Any) -> Iterator[Captured]:
    """Collect what this thread, and threads it starts, print and display by *shell*."""
    with _one_at_a_time:
        result = Captured()
        token = _cell.set(result)
        put_back = [
            _replace(sys, "stdout", _Stream(sys.stdout, result)),
            _replace(sys, "stderr", _Stream(sys.stderr, result)),
        ]
        shells = [shell]
        if InteractiveShell.initialized():  # `display` asks for this one
            shells.append(InteractiveShell.instance())
        for one in {id(s): s for s in shells}.values():
            stand_in = _Publisher(one.display_pub, result)
            put_back.append(_replace(one, "display_pub", stand_in))
        try:
            yield result
        finally:
            result.over = True
            for restore in put_back:
                restore()
            _cell.reset(token)


def _replace(owner: Any, name: str, stand_in: Any) -> Callable[[], None]:
    before = getattr(owner, name)
    setattr(owner, name, stand_in)

    def restore() -> None:
        if getattr(owner, name) is stand_in:  # the cell may have put its own there
            setattr(owner, name, before)

    return restore
