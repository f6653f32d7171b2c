"""Run the code of one cell in a shell's namespace, without its history or prompt numbers."""

import ast
import inspect
import linecache
import traceback
from collections.abc import Callable, Coroutine, Iterable, Iterator
from types import CodeType
from typing import Any

from IPython.core.error import UsageError

from toolbench.runs import control
from toolbench.tools.ipython import breaker

_OF_BREAKER = {control.__file__, breaker.__file__}

Await = Callable[[Coroutine[Any, Any, Any]], Any]


def new_name(numbers: Iterator[int]) -> str:
    """Return a name for a new cell, with the first of *numbers* that no other cell uses."""
    for number in numbers:
        name = f"<cell {number}>"
        entry = _lines(name, "")
        if linecache.cache.setdefault(name, entry) is entry:
            break
    return name


def forget(names: Iterable[str]) -> None:
    """Remove the source lines of the cells *names*, for which no traceback is needed any more."""
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
        BaseException: Any error of the code.
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


def explain(error: BaseException, name: str) -> str:
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
