"""Redirect the printed and displayed output of a piece of work to a sink.

During such work, our functions replace those that print, display, warn, log, and start threads and
processes. Each of our functions looks for the sink of the calling thread, and calls the original
function if there is none. Front ends lose output that threads send to them (measured in JupyterLab
4.6), so the output of a background run must go to a sink.
"""

import logging
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial, wraps
from traceback import format_exception
from typing import Any
from weakref import ReferenceType, ref

from toolbench.redaction.known import remembered
from toolbench.redaction.logs import hide_in_record, secrets_of_servers
from toolbench.runs.current_run import active_run, run_of_code
from toolbench.runs.exception_text import line_of_interrupt
from toolbench.runs.kernel import running_shell
from toolbench.runs.output import Redirection, RunOutput, Sink, redirection_of_code, sink_here
from toolbench.runs.run import Run
from toolbench.runs.screen import (
    Patches,
    clearing,
    flush_descriptors,
    is_of_kernel,
    publishing,
    terminal,
    writing,
    writing_payload,
    writing_result,
    writing_to_kernel,
)


@contextmanager
def redirect_to(sink: Sink, shell: Any = None) -> Iterator[None]:
    """Within the `with` block, send the output of this thread to *sink*.

    The output of threads that this thread starts in the block is sent there too.

    Args:
        sink: The object that gets the output.
        shell: A second IPython shell. Its displays are redirected too.
    """
    with _installed.needed(shell):
        redirection = Redirection(sink, redirection_of_code.get(), active_run())
        leave = redirection_of_code.enter(redirection)
        try:
            yield
        finally:
            redirection.end()
            leave()


def hide_secrets(undo: ExitStack) -> None:
    """Mask the secrets of runs in printed and displayed output until *undo* is closed.

    If a run collects its output, the run itself masks the secrets. In the streams and displays of
    the process, secrets stay masked even after *undo* is closed, because threads and processes of a
    run may continue to print.
    """
    undo.enter_context(_installed.needed(None))
    _installed.lasts = True


def forget_secrets() -> None:
    """Stop masking the secrets of earlier runs in later output."""
    flush_descriptors()
    remembered.forget()
    secrets_of_servers.forget()
    _installed.end()


class _Installed:
    """Installs our functions for the first piece of work, and removes them after the last one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._patches = Patches()
        self._known = _KnownOutputs()
        self.lasts = False
        """Whether our functions stay in the process's streams and displays after the last work."""

    @contextmanager
    def needed(self, shell: Any) -> Iterator[None]:
        """Keep our functions in place within the `with` block; *shell* is as in `redirect_to`."""
        with self._lock:
            self._users += 1
            self._put(shell)
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._patches.take_away(self._stays)

    def end(self) -> None:
        """Remove all our functions, now or when the work that still needs them ends."""
        with self._lock:
            self.lasts = False
            if self._users == 0:
                self._patches.take_away()

    def _stays(self, owner: Any) -> bool:
        of_process = threading.Thread, logging.Logger, sys.__stdout__, sys.__stderr__
        is_of_process = any(owner is one for one in of_process) or is_of_kernel(owner)
        return self.lasts and is_of_process

    def _put(self, shell: Any) -> None:
        replace = self._patches.put
        self._known.look(shell)
        for name, output in self._known:
            if name == "display":
                replace(output, "publish", publishing)
                replace(output, "clear_output", clearing)
                continue
            if is_of_kernel(output):
                replace(type(output), "write", writing_to_kernel)
            else:
                replace(output, "write", partial(writing, name=name))
            replace(output, "isatty", terminal)
        payloads = getattr(running_shell(), "payload_manager", None)
        if payloads is not None:
            replace(payloads, "write_payload", writing_payload)
        hook = getattr(running_shell(), "displayhook", None)
        if hook is not None:
            replace(hook, "write_format_data", writing_result)
        replace(warnings, "showwarning", _showing)
        replace(logging.Logger, "callHandlers", _logging)
        replace(threading.Thread, "start", _starting)
        replace(subprocess.Popen, "__init__", _spawning)


class _KnownOutputs:
    """The streams and display publishers that the process has used so far.

    Work that begins under `redirect_stdout` or `%%capture` may still print after the end of that
    redirection, so earlier streams count too. Only weak references are kept.
    """

    def __init__(self) -> None:
        self._known: list[tuple[str, ReferenceType[Any]]] = []
        self.look(None)

    def look(self, shell: Any) -> None:
        """Add the streams and display publishers in use now, including the publisher of *shell*."""
        self._add("stdout", sys.stdout)
        self._add("stderr", sys.stderr)
        # `display` uses the running shell
        for one in (shell, running_shell()):
            self._add("display", getattr(one, "display_pub", None))

    def _add(self, name: str, output: Any) -> None:
        is_new = all(known is not output for _, known in self)
        if is_new and output is not None:
            # An object without weak references cannot be patched either
            with suppress(TypeError):
                self._known.append((name, ref(output)))

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Yield the outputs in use, each with `display` or the stream's first name."""
        for entry in list(self._known):
            name, output = entry[0], entry[1]()
            if _is_over(output):
                self._known.remove(entry)
            else:
                yield name, output


def _is_over(output: Any) -> bool:
    """Tell whether *output* is closed or deleted, so that nothing can be written to it."""
    try:
        return output is None or getattr(output, "closed", False) is True
    except ValueError:
        # Its buffer was detached
        return True


# --- warnings, logs, threads and processes of a run -------------------------------------


def _run_here() -> Run | None:
    """Return the run that gets the output of the calling code; None if its sink is not a run's."""
    sink = sink_here()
    if isinstance(sink, RunOutput):
        return sink.run
    return None


def _showing(show: Callable[..., None]) -> Callable[..., None]:
    def show_where_it_belongs(
        message: Any,
        category: Any,
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        run = _run_here()
        if run is None or file is not None:
            show(message, category, filename, lineno, file, line)
        else:
            run.log(f"{category.__name__}: {message}", "warning")

    return show_where_it_belongs


class _RunLog(logging.Handler):
    """A log handler that adds each record to the run that gets the calling code's output."""

    def emit(self, record: logging.LogRecord) -> None:
        run = _run_here()
        try:
            if run is not None:
                run.log(self.format(record), record.levelname.lower())
        except Exception:  # noqa: BLE001 - a bad log call must not fail the work
            self.handleError(record)


_run_log = _RunLog()
_run_log.setFormatter(logging.Formatter("%(name)s: %(message)s"))


# Patches of classes are made once and kept: the interpreter caches attributes of a class.


@cache
def _logging(call_handlers: Callable[..., None]) -> Callable[..., None]:
    @wraps(call_handlers)
    def call_handlers_of_the_run(logger: logging.Logger, record: logging.LogRecord) -> None:
        run = active_run()
        own = run.secrets.redactor if isinstance(run, Run) else remembered.redactor
        hide_in_record(record, own)
        path = list(_path_to_root(logger))
        if _run_here() is None or path[-1].parent is not None:
            call_handlers(logger, record)
            return
        for handler in [handler for one in path for handler in one.handlers]:
            # Not to the screen, because the run's log already has the record
            if record.levelno >= handler.level and not _writes_to_screen(handler):
                handler.handle(record)
        _run_log.handle(record)

    return call_handlers_of_the_run


def _path_to_root(logger: logging.Logger) -> Iterator[logging.Logger]:
    one: logging.Logger | None = logger
    while one is not None:
        yield one
        one = one.parent if one.propagate else None


def _writes_to_screen(handler: logging.Handler) -> bool:
    stream = getattr(handler, "stream", None)
    return stream is not None and (stream is sys.stdout or stream is sys.stderr)


@cache
def _starting(start: Callable[..., None]) -> Callable[..., None]:
    @wraps(start)
    def start_as_part_of_the_work(thread: threading.Thread) -> None:
        run_of_code.hand_down(thread)
        redirection_of_code.hand_down(thread)
        start(thread)

    return start_as_part_of_the_work


@cache
def _spawning(init: Callable[..., None]) -> Callable[..., None]:
    @wraps(init)
    def init_as_part_of_the_run(process: Any, *args: Any, **options: Any) -> None:
        init(process, *args, **options)
        run = _background_run()
        if run is not None:
            run.control.add_process(process)

    return init_as_part_of_the_run


def _background_run() -> Run | None:
    """Return the background run that the calling thread belongs to; None if there is none.

    If that run starts another tool, the other tool's output belongs to the run too.
    """
    run = active_run()
    while isinstance(run, Run) and run.source != "button":
        run = run.parent
    return run if isinstance(run, Run) else None


_installed = _Installed()


# --- the errors that IPython shows for a cell -------------------------------------
#
# Secrets of runs are masked in tracebacks, in which IPython adds colours. An interrupt of
# toolbench's work is shown as one line.


class CellErrors:
    """A filter for the errors that one shell shows.

    Tracebacks quote lines of source, and `%xmode Verbose` also adds the values of variables.
    """

    def __init__(self, shell: Any) -> None:
        """Prepare the filter for the IPython shell *shell*; `begin` changes the shell."""
        self._shell = shell
        self._patches = Patches()

    def begin(self) -> None:
        """Filter every error that the shell shows from now on."""
        # The method that IPython provides for subclasses that show the traceback elsewhere
        self._patches.put(self._shell, "_showtraceback", _showing_errors)
        # IPython prints an exception group without calling that method
        self._patches.put(self._shell, "showtraceback", _showing_groups)

    def end(self) -> None:
        """Let the shell show errors without the filter again."""
        self._patches.take_away()


def _showing_errors(show: Callable[..., None]) -> Callable[..., None]:
    def show_without_secrets(kind: Any, error: Any, parts: list[str]) -> None:
        line = line_of_interrupt(error)
        if line is not None:
            parts = [line]
        redactor = remembered.redactor_of_cell
        if redactor:
            parts = [redactor.error_text(part) for part in parts]
            message = redactor.error_text(str(error))
            if message != str(error):
                # The kernel sends the message along with the traceback, and the notebook keeps both
                error = Exception(message)
        show(kind, error, parts)

    return show_without_secrets


def _showing_groups(show: Callable[..., None]) -> Callable[..., None]:
    def show_groups_without_secrets(exc_tuple: Any = None, *args: Any, **options: Any) -> None:
        error = (exc_tuple or sys.exc_info())[1]
        redactor = remembered.redactor_of_cell
        if redactor and _is_group(error):
            text = "".join(format_exception(error))
            hidden = redactor.error_text(text)
            if hidden != text:
                sys.stderr.write(hidden)
                return
        show(exc_tuple, *args, **options)

    return show_groups_without_secrets


def _is_group(error: BaseException | None) -> bool:
    """Tell whether *error*, or an error that led to it, is an exception group."""
    while error is not None and not isinstance(error, BaseExceptionGroup):
        error = error.__context__
    return error is not None
