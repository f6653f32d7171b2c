"""The statements of a notebook's cells, or of a file, in the order in which they ran."""

import ast
import linecache
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from inspect import getsource
from types import ModuleType
from typing import Any

from toolbench.core.functions import tool
from toolbench.export.code.symbol_names import Names, names_of, names_of_await
from toolbench.runs.kernel import running_shell

MAGIC = "get_ipython"
"""The function that IPython calls for a magic. In a file, this function does not exist."""
_MAIN = "__name__ == '__main__'"
# The cell magics whose body runs unchanged
_WHOLE_CELLS = frozenset({"capture", "time"})
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# How IPython names a line of a cell; the first form is that of Jupyter
_PLACE = r"(?:\bCell In ?\[{number}\], line |<ipython-input-{number}-\w+>:)(\d+)"
_NEXT_ERROR = re.compile("another exception occurred:|of the following exception:")
_ASKING = frozenset({"input", "getpass"})


@dataclass(frozen=True)
class Statement:
    """One statement of a cell or a file, outside of any function or class.

    Attributes:
        code: The source code of the statement.
        node: The syntax tree of the statement.
        names: The names that the statement defines, and the names that it uses.
        obstacle: The reason why the statement cannot be written into a file, as part of a sentence.
            It is empty if there is no such reason.
        is_tool: Whether the statement is a function with a decorator that makes it a tool.
        cell: The number of the statement's cell. In a file, it is 0.
    """

    code: str
    node: ast.stmt = field(repr=False)
    names: Names = field(repr=False)
    obstacle: str = ""
    is_tool: bool = False
    cell: int = 0

    @property
    def is_import(self) -> bool:
        """Whether this is an import statement."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_definition(self) -> bool:
        """Whether this statement defines a function or a class."""
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)

    @property
    def may_leave(self) -> bool:
        """Whether some names may keep their earlier values, as with an assignment in an `if`."""
        kinds = ast.If | ast.For | ast.AsyncFor | ast.While | ast.Try | ast.TryStar | ast.Match
        return isinstance(self.node, kinds)


def statements_of(module: ModuleType) -> list[Statement]:
    """Return the statements of *module*.

    For the module of the notebook, return the statements of all cells that ran.

    Raises:
        OSError: If *module* has no source.
    """
    shell = running_shell()
    if shell is None or module is not shell.user_module:
        return _with_places(_of_cell(getsource(module), is_main=False), module, 0)
    history = getattr(shell, "history_manager", None)
    cells = list(getattr(history, "input_hist_parsed", ()))
    if not any(cells):
        cells = ["", *_compiled_cells(shell)]
    statements = list[Statement]()
    for number, cell in enumerate(cells):
        failed_line = _failed_line(history, number)
        done = list[Statement]()
        for statement in _of_cell(cell, is_main=True):
            if failed_line is not None and (statement.node.end_lineno or 0) >= failed_line:
                # It failed, and what comes after it did not run
                break
            done.append(statement)
        statements += _with_places(done, module, number)
    return statements


def _with_places(statements: Iterable[Statement], module: ModuleType, cell: int) -> list[Statement]:
    placed = list[Statement]()
    for statement in statements:
        is_tool = bool(tool_decorators(statement.node, module))
        placed.append(replace(statement, cell=cell, is_tool=is_tool))
    return placed


def tool_decorators(node: ast.stmt, module: ModuleType) -> list[ast.expr]:
    """Return the decorators of *node* that make a function a tool, such as `@tool`.

    The decorators may have other names, for example after `from toolbench import tool as t`.
    Therefore, their names are looked up in *module*, which contains *node*.
    """
    found = list[ast.expr]()
    for decorator in getattr(node, "decorator_list", ()):
        first, *rest = ast.unparse(getattr(decorator, "func", decorator)).split(".")
        value: Any = vars(module).get(first)
        for name in rest:
            value = getattr(value, name, None)
        if value is tool:
            found.append(decorator)
    return found


def _compiled_cells(shell: Any) -> Iterator[str]:
    """Yield the code of the cells that *shell* compiled.

    This is needed because nbval runs cells without adding them to the history.
    """
    is_cell = shell.compile.format_code_name
    # Python keeps them for tracebacks
    for name in list(linecache.cache):
        if is_cell(name):
            yield "".join(linecache.getlines(name))


def _failed_line(history: Any, number: int) -> int | None:
    """Return the line at which cell *number* failed; None if it did not fail.

    The result is also None if the line is not known.
    """
    error = getattr(history, "exceptions", {}).get(number, {})
    text = _COLOUR.sub("", "\n".join(error.get("traceback", ())))
    # Of errors in a chain, the last one ended the cell
    text = _NEXT_ERROR.split(text)[-1]
    line = re.search(_PLACE.format(number=number), text)
    if line is None:
        return None
    return int(line[1])


def _of_cell(cell: str, *, is_main: bool) -> Iterator[Statement]:
    """Yield the statements of *cell*; none if *cell* is not valid Python.

    *is_main* tells whether `__name__ == "__main__"` is true in the code, as it is in a notebook.
    """
    try:
        tree = ast.parse(cell)
    except (SyntaxError, ValueError):
        # It never ran
        return
    lines = cell.splitlines()
    for node in tree.body:
        body = _body_of_magic(node)
        if isinstance(node, ast.If) and ast.unparse(node.test) == _MAIN:
            chosen = node.orelse
            if is_main:
                chosen = node.body
            body = ast.unparse(ast.Module(chosen, []))
        if body is not None:
            yield from _of_cell(body, is_main=is_main)
            continue
        first = node.lineno
        for decorator in getattr(node, "decorator_list", ()):
            first = min(first, decorator.lineno)
        yield statement_of(node, "\n".join(lines[first - 1 : node.end_lineno]))


def statement_of(node: ast.stmt, code: str) -> Statement:
    """Make a `Statement` of the syntax tree *node*, whose source is *code*."""
    # A line with several statements, or a top-level `await`
    if not _stands_alone(code, node):
        code = ast.unparse(node)
        if not _stands_alone(code, node):
            return Statement(code, node, names_of_await(node), "it comes from a cell that awaits")
    names = names_of(node, code)
    return Statement(code, node, names, _obstacle(node, names))


def _stands_alone(code: str, node: ast.stmt) -> bool:
    """Tell whether *code* has only the statement *node*, and can be written into a file."""
    try:
        compile(code, "cell", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    body = ast.parse(code).body
    return len(body) == 1 and type(body[0]) is type(node)


def _obstacle(node: ast.stmt, names: Names) -> str:
    if MAGIC in names.now:
        return "it comes from a magic"
    if names.now & _ASKING and not isinstance(node, ast.Import | ast.ImportFrom):
        return "the user is asked for it"
    return ""


def _body_of_magic(node: ast.stmt) -> str | None:
    """Return the body of the cell magic *node*, if the magic runs its body unchanged; else None."""
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(attr="run_cell_magic"),
                args=[ast.Constant(value=name), _, ast.Constant(value=str(body))],
            )
        ) if name in _WHOLE_CELLS:
            return body
    return None
