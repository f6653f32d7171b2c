"""Stand-ins for stdout, stderr, display, warnings, logging, threads and subprocesses.

They are in place while background runs go on. Each looks for the run the calling thread
belongs to; what belongs to none passes through untouched. Front ends lose what threads print
(measured in JupyterLab 4.6), which is why none of it may go there.
"""

import logging
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

from toolbench.runs.current import active_run, hand_down
from toolbench.runs.run import Run
from toolbench.runs.shell import running_shell


def background_run() -> Run | None:
    """Return the background run the calling thread belongs to, if any.

    A tool that runs another tool shows what that one says as its own.
    """
    run = active_run()
    while isinstance(run, Run) and run.source != "button":
        run = run.parent
    return run if isinstance(run, Run) else None


class RoutedStream:
    """Stands in for `sys.stdout`: text of a run goes to the run, all else to the real one.

    It is no `TextIOBase`: what that defines, `encoding` or `fileno`, would not be the real one's.
    """

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

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of *lines* where it belongs."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["real"], name)  # encoding, fileno, set_parent ...


class _RoutedLog(logging.Handler):
    """Gives log records of a run to the run; others to where they went before."""

    def __init__(self, *, alone: bool) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        self._alone = alone  # nobody else handles what reaches the root

    def emit(self, record: logging.LogRecord) -> None:
        run = background_run()
        if run is not None:
            try:
                run.log(self.format(record), record.levelname.lower())
            except Exception:  # noqa: BLE001 - a bad log call fails no work, in any handler
                self.handleError(record)
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

    @contextmanager
    def needed(self) -> Iterator[None]:
        """Keep the stand-ins in place during the `with` block."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._install()
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._undo.close()

    def _install(self) -> None:
        self._hush_logs()
        for name in ("stdout", "stderr"):
            self._replace(sys, name, RoutedStream(getattr(sys, name), name))
        self._replace(warnings, "showwarning", _showing(warnings.showwarning))
        self._replace(threading.Thread, "start", _starting(threading.Thread.start))
        self._replace(
            subprocess.Popen, "__init__", _spawning(subprocess.Popen.__init__)
        )
        # what `display()` publishes through
        publisher = getattr(running_shell(), "display_pub", None)
        if publisher is not None:
            self._replace(publisher, "publish", _publishing(publisher.publish))
            clear = _unless_in_a_run(publisher.clear_output)
            self._replace(publisher, "clear_output", clear)

    def _hush_logs(self) -> None:
        """Have the root logger tell runs, and not also the streams they cannot reach."""
        root = logging.getLogger()
        handler = _RoutedLog(alone=not root.handlers)
        for other in root.handlers:
            if getattr(other, "stream", None) in (sys.stdout, sys.stderr):
                other.addFilter(_of_no_run)
                self._undo.callback(other.removeFilter, _of_no_run)
        root.addHandler(handler)
        self._undo.callback(root.removeHandler, handler)

    def _replace(self, owner: Any, name: str, stand_in: Any) -> None:
        real, own = getattr(owner, name), name in vars(owner)
        setattr(owner, name, stand_in)

        def put_back() -> None:
            if getattr(owner, name) is not stand_in:
                return  # somebody put theirs over ours
            if own:
                setattr(owner, name, real)
            else:
                delattr(owner, name)

        self._undo.callback(put_back)


def _of_no_run(record: logging.LogRecord) -> bool:
    return background_run() is None


def _publishing(publish: Callable[..., None]) -> Callable[..., None]:
    def publish_where_it_belongs(
        data: Any, metadata: Any = None, *args: Any, **options: Any
    ) -> None:
        run = background_run()
        if run is None:
            publish(data, metadata, *args, **options)
        else:
            run.display(data, (options.get("transient") or {}).get("display_id"))

    return publish_where_it_belongs


def _unless_in_a_run(call: Callable[..., None]) -> Callable[..., None]:
    def call_outside(*args: Any, **options: Any) -> None:
        if background_run() is None:
            call(*args, **options)

    return call_outside


def _showing(show: Callable[..., None]) -> Callable[..., None]:
    def show_where_it_belongs(
        message: Any,
        category: Any,
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        run = background_run()
        if run is None or file is not None:
            show(message, category, filename, lineno, file, line)
        else:
            run.log(f"{category.__name__}: {message}", "warning")

    return show_where_it_belongs


def _starting(start: Callable[..., None]) -> Callable[..., None]:
    @wraps(start)
    def start_as_part_of_the_run(thread: threading.Thread) -> None:
        hand_down(thread)
        start(thread)

    return start_as_part_of_the_run


def _spawning(init: Callable[..., None]) -> Callable[..., None]:
    @wraps(init)
    def init_as_part_of_the_run(process: Any, *args: Any, **options: Any) -> None:
        init(process, *args, **options)
        run = background_run()
        if run is not None:
            run.children.add(process)

    return init_as_part_of_the_run


routing = Routing()
"""The stand-ins of this process."""
