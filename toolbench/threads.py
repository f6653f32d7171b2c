"""Tell whether this Python has threads. In a page (Pyodide) it has none: work is then done at once."""

import sys
from collections.abc import Callable
from threading import Thread
from typing import Any

NO_THREADS = "this Python runs in a page, where there are no threads"
"""The reason why something cannot be done without threads, as a part of a sentence."""


def have_threads() -> bool:
    """Tell whether this Python can start threads; Pyodide cannot.

    Source: `sys._emscripten_info.pthreads`, which only CPython for Emscripten has.
    """
    emscripten = getattr(sys, "_emscripten_info", None)
    return emscripten is None or bool(emscripten.pthreads)


class _AtOnce(Thread):
    """A thread object whose `start` does the work at once, in the calling thread."""

    def start(self) -> None:
        """Do the work now, in the calling thread."""
        self.run()

    def join(self, timeout: float | None = None) -> None:
        """Return at once: `start` has done the work."""


def daemon_thread(work: Callable[..., object], *args: Any, name: str) -> Thread:
    """Return a daemon thread that calls `work(*args)`.

    On a Python without threads, `start()` calls `work(*args)` itself, and then returns.
    """
    kind = Thread if have_threads() else _AtOnce
    return kind(target=work, args=args, name=name, daemon=True)
