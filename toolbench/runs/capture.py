"""Send what a background run prints, logs, warns and displays to that run.

While a background run is active, `sys.stdout` and `sys.stderr` are stand-ins that look for the
run of the printing thread. Text printed outside runs passes through untouched. Front ends lose
what threads print (measured in JupyterLab 4.6), which is why none of it may go there.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOBase
from typing import Any

from toolbench.runs.current import active_run, hand_down
from toolbench.runs.run import Run


class RoutedStream(TextIOBase):
    """Stands in for `sys.stdout`: text of a run goes to the run, all else to the real one."""

    def __init__(self, real: Any, name: str) -> None:
        self.real, self._name = real, name

    def write(self, text: str) -> int:
        """Write *text* where it belongs."""
        run = active_run()
        if not isinstance(run, Run) or run.source != "button":
            written: int = self.real.write(text)
            return written
        run.write(self._name, text)
        return len(text)

    def flush(self) -> None:
        """Flush the real stream."""
        self.real.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["real"], name)  # encoding, fileno, set_parent ...


class _Routing:
    """Puts the stand-ins in place while they are needed, and takes them away."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._start: Callable[..., Any] | None = None

    def acquire(self) -> None:
        with self._lock:
            self._users += 1
            if self._users > 1:
                return
            for name in ("stdout", "stderr"):
                setattr(sys, name, RoutedStream(getattr(sys, name), name))
            self._start = threading.Thread.start
            _start_threads_by(_handing_down(self._start))

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
            for name in ("stdout", "stderr"):
                stream = getattr(sys, name)
                if isinstance(
                    stream, RoutedStream
                ):  # somebody may have put theirs over ours
                    setattr(sys, name, stream.real)
            if self._start is not None:
                _start_threads_by(self._start)


def _handing_down(start: Callable[..., None]) -> Callable[..., None]:
    def start_as_part_of_the_run(thread: threading.Thread) -> None:
        hand_down(thread)
        start(thread)

    return start_as_part_of_the_run


def _start_threads_by(start: Callable[..., None]) -> None:
    setattr(threading.Thread, "start", start)  # noqa: B010 - mypy would see a method


_routing = _Routing()


@contextmanager
def captured(run: Run) -> Iterator[None]:
    """Send what this thread, and threads it starts, print and display to *run*."""
    _routing.acquire()
    publisher = _publisher()
    keep = _keeping(run)
    if publisher is not None:
        publisher.register_hook(keep)  # thread-local in ipykernel
    try:
        yield
    finally:
        if publisher is not None:
            publisher.unregister_hook(keep)
        _routing.release()


def _publisher() -> Any:
    """IPython's display publisher, where it has ipykernel's thread-local hooks."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    publisher = getattr(shell, "display_pub", None)
    return publisher if hasattr(publisher, "register_hook") else None


def _keeping(run: Run) -> Callable[[dict[str, Any]], None]:
    def keep(message: dict[str, Any]) -> None:
        data = message["content"].get("data", {})
        run.write("display", data.get("text/plain", "") + "\n")

    return keep
