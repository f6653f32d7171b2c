"""The executor of Python cells: run the code, collect its output, report its result."""

import ast
import atexit
import inspect
import linecache
import sys
import traceback
from asyncio import CancelledError
from base64 import b64encode
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from itertools import count
from threading import Lock, RLock, current_thread, main_thread
from types import CodeType
from typing import Any, Literal

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from toolbench.core.background_loop import Portal
from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.core.executor import ToolExecutor
from toolbench.runs import control
from toolbench.runs.control import RunCancelled
from toolbench.runs.kernel import running_shell
from toolbench.runs.redirect import redirect_to
from toolbench.tools.ipython import breaker
from toolbench.tools.ipython.breaker import Breaker
from toolbench.tools.ipython.definition import IPythonAction, IPythonObservation
from toolbench.tools.terminal.buffer import HeadAndTail
from toolbench.tools.terminal.screen_text import shown

Await = Callable[[Coroutine[Any, Any, Any]], Any]
Part = HeadAndTail | Mapping[str, Any]

# A running shell changes `builtins`, which all shells share
_one_at_a_time = RLock()
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_RICHER = ("text/markdown", "text/latex", "text/html", "application/json")
_OF_BREAKER = {control.__file__, breaker.__file__}


class FreshShell:
    """An IPython shell with its own namespace and no history."""

    def __init__(self) -> None:
        """Make the shell, and register it as the process's IPython shell if there is none yet."""
        config = Config(HistoryManager={"enabled": False}, colors="nocolor")
        self._is_the_one = not InteractiveShell.initialized()
        make = InteractiveShell.instance if self._is_the_one else InteractiveShell
        main = sys.modules["__main__"]
        try:
            self.shell: Any = make(config=config, user_ns={})
        finally:
            # The new shell has replaced it
            sys.modules["__main__"] = main
        atexit.unregister(self.shell.atexit_operations)

    def close(self) -> None:
        """Delete the namespace, and end the shell."""
        self.shell.user_ns.clear()
        self.shell.atexit_operations()
        if self._is_the_one:
            InteractiveShell.clear_instance()


class Captured:
    """Collects the output of a cell in order: printed text and displayed MIME bundles."""

    def __init__(self) -> None:
        """Make an empty output."""
        self.parts: list[Part] = []
        self._lock = Lock()

    def write(self, stream: str, text: str) -> None:
        """Add *text*, which the cell printed; stdout and stderr are not kept apart."""
        data = text.encode("utf-8", "replace")
        with self._lock:
            if not self.parts or not isinstance(self.parts[-1], HeadAndTail):
                self.parts.append(HeadAndTail())
            last = self.parts[-1]
            if isinstance(last, HeadAndTail):
                last.write(data)

    def display(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Add the MIME bundle *data*. It never replaces an earlier bundle of the same *name*."""
        with self._lock:
            self.parts.append(data)


Namespace = Literal["kernel", "fresh"]


class IPythonExecutor(ToolExecutor[IPythonAction, IPythonObservation]):
    """The executor of Python cells; it runs one cell at a time."""

    def __init__(self, *, namespace: Namespace | None = None) -> None:
        """Choose the namespace in which cells run.

        Args:
            namespace: `kernel` is the namespace of the notebook; `fresh` is a new, empty namespace.
                The default is `kernel` in a notebook, else `fresh`.
        """
        self.namespace: Namespace = namespace or (
            "kernel" if running_shell() is not None else "fresh"
        )
        self._fresh: FreshShell | None = None
        self._numbers = count(1)
        self._names: list[str] = []
        self._busy = RLock()
        self._breaker = Breaker()
        # The event loop of all cells: tasks go on after a cell
        self._loop = Portal()

    def __call__(self, action: IPythonAction, conversation: Any = None) -> IPythonObservation:
        """Run the code of *action* as a cell."""
        with self._busy:
            if self._closed:
                msg = "This Python session is closed. Create the tool again."
                return IPythonObservation.from_text(msg, is_error=True)
            shell = self._shell()
            name = _new_name(self._numbers)
            self._names.append(name)
            output = Captured()
            # Also what the threads that it starts print and display
            with _one_at_a_time, redirect_to(output, shell):
                error, text = self._run(shell, action, name, output)
            blocks = _contents(output.parts)
        if error is None:
            return IPythonObservation(
                content=blocks or [TextContent(text="Done. Nothing to show.")]
            )
        return IPythonObservation(
            content=[*blocks, TextContent(text=("\n" if blocks else "") + text)],
            is_error=True,
            error=type(error).__name__,
            timeout=self._breaker.reason == "timeout",
        )

    def _run(
        self, shell: Any, action: IPythonAction, name: str, output: Any
    ) -> tuple[BaseException | None, str]:
        """Run the cell; return its error and a message about it, or None and an empty string."""
        try:
            with self._breaker.breakable(action.timeout):
                value = run_cell(shell, action.code, name, self._wait)
                if value is not None:
                    bundle, _ = shell.display_formatter.format(value)
                    if bundle:
                        output.display(bundle)
        except RunCancelled:
            raise
        except KeyboardInterrupt as error:
            if self._breaker.reason:
                return error, self._interrupted(error, action.timeout, name)
            # Kernel > Interrupt comes there, and is for the whole cell
            if current_thread() is main_thread():
                raise
            return error, _explain(error, name)
        except BaseException as error:  # noqa: BLE001 - a cell may raise anything: the model gets it
            return error, _explain(error, name)
        return None, ""

    def _interrupted(self, error: KeyboardInterrupt, timeout: float | None, name: str) -> str:
        if self._breaker.reason == "timeout":
            why = f"The cell was interrupted after {timeout:g} s: raise the timeout, or do less."
        else:
            why = "The cell was interrupted."
        return f"{_explain(error, name)}\n{why} What it assigned so far is kept."

    def _wait(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        async def awaited() -> tuple[Any, BaseException | None]:
            try:
                return await coroutine, None
            except (Exception, CancelledError):
                raise
            except BaseException as error:  # noqa: BLE001 - it would end the loop of all cells
                return None, error

        value, error = self._breaker.await_(self._loop.start(awaited))
        if error is not None:
            raise error
        return value

    def _shell(self) -> Any:
        if self.namespace == "kernel" and (shell := running_shell()) is not None:
            return shell
        if self._fresh is None:
            self._fresh = FreshShell()
        return self._fresh.shell

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the running cell."""
        self._breaker.break_off()

    def close(self) -> None:
        """Delete the fresh namespace, if there is one; leave the notebook's namespace alone."""
        self._breaker.break_off()
        with self._busy:
            self._loop.close()
            fresh, self._fresh = self._fresh, None
            if fresh is not None:
                fresh.close()
                _forget(self._names)


def _new_name(numbers: Iterator[int]) -> str:
    """Return a name for a new cell, such as `<cell 3>`, that no other cell uses.

    Its number is taken from *numbers*.
    """
    for number in numbers:
        name = f"<cell {number}>"
        entry = _lines(name, "")
        if linecache.cache.setdefault(name, entry) is entry:
            break
    return name


def _forget(names: Iterable[str]) -> None:
    """Remove the source lines of the cells *names*; no traceback needs them any more."""
    for name in names:
        linecache.cache.pop(name, None)


def _lines(name: str, source: str) -> tuple[int, None, list[str], str]:
    return len(source), None, source.splitlines(keepends=True), name


def run_cell(shell: Any, code: str, name: str, wait: Await) -> Any:
    """Run *code* in *shell*, and return the value of the expression at its end.

    Return None if *code* does not end with an expression, or ends with a semicolon.

    Args:
        shell: The IPython shell.
        code: The code, which may contain magics.
        name: The name of the cell in tracebacks.
        wait: A function that runs a coroutine and returns its result. It is used for cells with an
            `await` outside of a function.

    Raises:
        BaseException: Any exception that the code raises.
    """
    source = shell.transform_cell(code)
    linecache.cache[name] = _lines(name, source)
    tree = shell.transform_ast(shell.compile.ast_parse(source, filename=name))
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    with shell.compile.extra_flags(ast.PyCF_ALLOW_TOP_LEVEL_AWAIT):
        codes = [shell.compile(tree, name, "exec")]
        if last is not None:
            codes.append(shell.compile(last, name, "eval"))
    with shell.builtin_trap:
        shell.events.trigger("pre_execute")
        try:
            if any(compiled.co_flags & inspect.CO_COROUTINE for compiled in codes):
                coroutine = _evaluate_async(shell, codes)
                try:
                    value = wait(coroutine)
                finally:
                    if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
                        # An interrupt came before it began
                        coroutine.close()
            else:
                value = [_evaluate(shell, compiled) for compiled in codes][-1]
        finally:
            # Plots are displayed here
            shell.events.trigger("post_execute")
    if code.rstrip().endswith(";"):
        return None
    return value


def _evaluate(shell: Any, compiled: CodeType) -> Any:
    return eval(compiled, shell.user_global_ns, shell.user_ns)  # noqa: S307 - its purpose is to run code


async def _evaluate_async(shell: Any, codes: list[CodeType]) -> Any:
    value = None
    for compiled in codes:
        value = _evaluate(shell, compiled)
        if compiled.co_flags & inspect.CO_COROUTINE:
            value = await value
    return value


def _explain(error: BaseException, name: str) -> str:
    """Return the traceback of *error*, beginning with its first line in the cell *name*.

    If no line of the traceback is in the cell, or a magic was used wrongly, return only the type
    and message of the error.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != name:
        trace = trace.tb_next
    if trace is None or isinstance(error, UsageError):
        return "".join(traceback.format_exception_only(error)).rstrip()
    report = traceback.TracebackException(type(error), error, trace)
    report.stack[:] = [at for at in report.stack if at.filename not in _OF_BREAKER]
    return "".join(report.format()).rstrip()


def _contents(parts: Iterable[Part]) -> list[Content]:
    """Return *parts* as content: one block for adjacent strings, and one for each image."""
    blocks: list[Content] = []
    for part in parts:
        image = None if isinstance(part, HeadAndTail) else _image(part)
        if image is not None:
            blocks.append(image)
            continue
        text = _printed(part) if isinstance(part, HeadAndTail) else _text(part)
        if blocks and isinstance(last := blocks[-1], TextContent):
            blocks[-1] = TextContent(text=f"{last.text}\n{text}")
        elif text:
            blocks.append(TextContent(text=text))
    return blocks


def _printed(printed: HeadAndTail) -> str:
    return shown(printed.take(), " Print less, or write it to a file.")


def _image(bundle: Mapping[str, Any]) -> ImageContent | None:
    for kind in _IMAGES:
        if kind in bundle:
            data = bundle[kind]
            if isinstance(data, bytes):
                data = b64encode(data).decode()
            url = f"data:{kind};base64,{''.join(data.split())}"
            return ImageContent(image_urls=[url])
    return None


def _text(bundle: Mapping[str, Any]) -> str:
    """Return the plain text of the MIME *bundle*.

    If there is no plain text, or only a repr such as `<... object>`, return another representation
    of the bundle, such as its HTML, if there is one.
    """
    plain = str(bundle.get("text/plain", ""))
    if plain and not (plain.startswith("<") and plain.endswith(" object>")):
        return _cut(plain)
    richer = (str(bundle[kind]) for kind in _RICHER if kind in bundle)
    return _cut(next(richer, plain))


def _cut(text: str) -> str:
    printed = HeadAndTail()
    if text:
        printed.write(text.encode("utf-8", "replace"))
    return _printed(printed)
