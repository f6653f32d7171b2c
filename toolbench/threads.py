"""Start threads, even in a Python without threads, where the work is done immediately."""

import os
import sys
from collections.abc import Callable
from threading import Thread
from typing import Any
from weakref import WeakSet

NO_THREADS = "this Python runs in a page, where there are no threads"
"""The reason why something cannot be done without threads, as a part of a sentence."""


def have_threads() -> bool:
    """Tell whether this Python can start threads; Pyodide cannot.

    Source: `sys._emscripten_info.pthreads`, which only CPython for Emscripten has.
    """
    emscripten = getattr(sys, "_emscripten_info", None)
    return emscripten is None or bool(emscripten.pthreads)


class _AtOnce(Thread):
    """A substitute for `Thread`: `start` does the work immediately, in the calling thread."""

    def start(self) -> None:
        """Do the work now, in the calling thread."""
        self.run()

    def join(self, timeout: float | None = None) -> None:
        """Return immediately, because `start` has done the work."""


def daemon_thread(work: Callable[..., object], *args: Any, name: str) -> Thread:
    """Return a daemon thread that calls `work(*args)`.

    On a Python without threads, `start()` calls `work(*args)` itself, and then returns.
    """
    kind = Thread
    if not have_threads():
        kind = _AtOnce
    return kind(target=work, args=args, name=name, daemon=True)


_with_threads: WeakSet[Any] = WeakSet()


def leave_behind_in_forks(thing: Any) -> None:
    """Call `thing.leave_behind()` in each process that is forked from this process.

    Use this for an object that has threads, because a forked process does not have these threads.
    Only a weak reference to *thing* is kept.
    """
    _with_threads.add(thing)


def _leave_behind() -> None:
    for thing in list(_with_threads):
        thing.leave_behind()


# Windows has no fork
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_behind)
