"""Stand-ins for stdout, stderr, warnings, logging and thread starts, while a run needs them.

Each looks for the background run the calling thread belongs to; what belongs to none passes
through untouched. Front ends lose what threads print (measured in JupyterLab 4.6), which is why
none of it may go there.
"""

import logging
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from io import TextIOBase
from typing import Any

from toolbench.runs.current import active_run, hand_down
from toolbench.runs.run import Run


def background_run() -> Run | None:
    """Return the background run the calling thread belongs to, if any."""
    run = active_run()
    return run if isinstance(run, Run) and run.source == "button" else None


class RoutedStream(TextIOBase):
    """Stands in for `sys.stdout`: text of a run goes to the run, all else to the real one."""

    def __init__(self, real: Any, name: str) -> None:
        self.real, self._name = real, name

    def write(self, text: str) -> int:
        """Write *text* where it belongs."""
        run = background_run()
        if run is None:
            written: int = self.real.write(text)
            return written
        run.write(self._name, text)
        return len(text)

    def flush(self) -> None:
        """Flush the real stream."""
        self.real.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["real"], name)  # encoding, fileno, set_parent ...


class _RoutedLog(logging.Handler):
    """Gives log records of a run to the run; others to where they went before."""

    def __init__(self, *, alone: bool) -> None:
        super().__init__()
        self._alone = alone  # nobody else handles what reaches the root

    def emit(self, record: logging.LogRecord) -> None:
        run = background_run()
        if run is not None:
            run.log(f"{record.name}: {record.getMessage()}", record.levelname.lower())
            return
        last = logging.lastResort if self._alone else None
        if last is not None and record.levelno >= last.level:
            last.handle(record)


class Routing:
    """Puts the stand-ins in place for the first run, and takes them away after the last."""

    def __init__(self) -> None:
        """Nothing is in place yet."""
        self._lock = threading.Lock()
        self._users = 0
        self._undo = ExitStack()

    def acquire(self) -> None:
        """One more run needs the stand-ins."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._install()

    def release(self) -> None:
        """One run less does."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._undo.close()

    def _install(self) -> None:
        for name in ("stdout", "stderr"):
            self._replace(sys, name, RoutedStream(getattr(sys, name), name))
        self._replace(warnings, "showwarning", _showing(warnings.showwarning))
        self._replace(threading.Thread, "start", _starting(threading.Thread.start))
        root = logging.getLogger()
        handler = _RoutedLog(alone=not root.handlers)
        root.addHandler(handler)
        self._undo.callback(root.removeHandler, handler)

    def _replace(self, owner: Any, name: str, stand_in: Any) -> None:
        real = getattr(owner, name)
        setattr(owner, name, stand_in)

        def put_back() -> None:
            if (
                getattr(owner, name) is stand_in
            ):  # somebody may have put theirs over ours
                setattr(owner, name, real)

        self._undo.callback(put_back)


def _showing(show: Callable[..., None]) -> Callable[..., None]:
    def show_where_it_belongs(
        message: Any, category: Any, filename: str, lineno: int, *rest: Any
    ) -> None:
        run = background_run()
        if run is None:
            show(message, category, filename, lineno, *rest)
        else:
            run.log(f"{category.__name__}: {message}", "warning")

    return show_where_it_belongs


def _starting(start: Callable[..., None]) -> Callable[..., None]:
    def start_as_part_of_the_run(thread: threading.Thread) -> None:
        hand_down(thread)
        start(thread)

    return start_as_part_of_the_run


routing = Routing()
"""The stand-ins of this process."""
