"""The statements of a notebook's cells, or of a file, in the order in which they ran."""

import ast
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import getsource
from types import ModuleType
from typing import Any, Literal

from toolbench.export.code.changes import effect_now
from toolbench.export.code.symbol_names import Names, names_of
from toolbench.runs.kernel import cell_ids, running_shell

MAGIC = "get_ipython"
"""The function that IPython calls in place of a magic; a file does not have this function."""
_MAIN = "__name__ == '__main__'"
_WHOLE_CELLS = frozenset({"capture", "time"})
"""The cell magics whose body runs unchanged."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PLACE = r"(?:\bCell In ?\[{number}\], line |<ipython-input-{number}-\w+>:)(\d+)"
"""How IPython names a line of a cell; the first form is that of Jupyter."""
_NEXT_ERROR = re.compile("another exception occurred:|of the following exception:")
_ASKING = frozenset({"input", "getpass"})
End = Literal["done", "failed", "not begun"]


@dataclass(frozen=True)
class Statement:
    """One statement of a cell or a file, outside of any function or class."""

    code: str
    node: ast.stmt = field(repr=False)
    names: Names = field(repr=False)
    obstacle: str = ""
    """The reason why the statement cannot be in a file, as part of a sentence; empty if it can."""
    is_tool: bool = False
    """Whether the statement is a function with a decorator that makes a tool of the function."""
    cell: int = 0
    """The number of the statement's cell; 0 in a file."""
    is_shown: bool = False
    """Whether the statement ends a cell, so that the notebook shows its value."""
    end: End = "done"
    """How the statement ended when its cell ran."""
    replaced_by: int = 0
    """The number of the last later run of the same cell in which all was done; 0 if there is none."""

    @property
    def is_import(self) -> bool:
        """Whether this is an import statement."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_definition(self) -> bool:
        """Whether this statement defines a function or a class."""
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def statements_of(module: ModuleType) -> list[Statement]:
    """Return the statements of *module*; the notebook's own module has the statements of the cells.

    Raises:
        OSError: If *module* has no source.
    """
    shell = running_shell()
    if shell is not None and module is shell.user_module:
        history = getattr(shell, "history_manager", None)
        cells = getattr(history, "input_hist_parsed", ())
        if not any(cells):
            cells = ["", *_compiled_cells(shell)]
        statements = [
            replace(statement, cell=number, end=_end_of(statement.node, line))
            for number, cell in enumerate(cells)
            for line in [_failed_line(history, number)]
            for statement in _of_cell(cell, is_main=True)
        ]
        return list(_with_later_runs(statements, cell_ids(shell)))
    return list(_of_cell(getsource(module), is_main=False))


def _compiled_cells(shell: Any) -> Iterator[str]:
    """Yield the cells that *shell* compiled: nbval runs all of them without a history."""
    is_cell = shell.compile.format_code_name
    # Python keeps them for tracebacks
    names = list(linecache.cache)
    yield from ("".join(linecache.getlines(name)) for name in names if is_cell(name))


def _with_later_runs(
    statements: Sequence[Statement], ids: Mapping[int, str]
) -> Iterator[Statement]:
    """Yield *statements* of cells with the later runs of these cells; *ids* has the ids by numbers."""
    incomplete = {s.cell for s in statements if s.end != "done"}
    last = {ids.get(s.cell): s.cell for s in statements if s.cell not in incomplete}
    for statement in statements:
        cell_id = ids.get(statement.cell)
        later = last.get(cell_id, 0) if cell_id else 0
        yield replace(statement, replaced_by=later if later > statement.cell else 0)


def _failed_line(history: Any, number: int) -> int | None:
    """Return the line at which cell *number* failed; None if it did not fail, or IPython does not tell."""
    error = getattr(history, "exceptions", {}).get(number, {})
    text = _COLOUR.sub("", "\n".join(error.get("traceback", ())))
    # Of errors in a chain, the last one ended the cell
    text = _NEXT_ERROR.split(text)[-1]
    line = re.search(_PLACE.format(number=number), text)
    return int(line[1]) if line else None


def _end_of(node: ast.stmt, failed_line: int | None) -> End:
    if failed_line is None or (node.end_lineno or node.lineno) < failed_line:
        return "done"
    return "failed" if node.lineno <= failed_line else "not begun"


def _of_cell(cell: str, *, is_main: bool) -> Iterator[Statement]:
    """Yield the statements of *cell*; none if *cell* is not Python.

    *is_main* tells whether `__name__ == "__main__"` is true there, as in a notebook.
    """
    try:
        tree = ast.parse(cell)
    except (SyntaxError, ValueError):
        # It never ran
        return
    lines = cell.splitlines()
    for node in tree.body:
        body = _body_of_magic(node)
        if body is not None:
            yield from _of_cell(body, is_main=is_main)
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == _MAIN:
            body = ast.unparse(ast.Module(node.body if is_main else node.orelse, []))
            yield from _of_cell(body, is_main=is_main)
            continue
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(part.lineno for part in decorators)])
        statement = statement_of(node, "\n".join(lines[first - 1 : node.end_lineno]))
        ends_cell = node is tree.body[-1] and isinstance(node, ast.Expr)
        is_shown = is_main and ends_cell and not cell.rstrip().endswith(";")
        yield replace(statement, is_shown=is_shown)


def statement_of(node: ast.stmt, code: str) -> Statement:
    """Return the statement *node*, whose source is *code*."""
    # A line with several statements, or a top-level `await`
    if not _stands_alone(code, node):
        code = ast.unparse(node)
        if not _stands_alone(code, node):
            gives = frozenset(_stored(node))
            names = Names(gives, surely=gives, effect=effect_now(node))
            return Statement(code, node, names, "it comes from a cell that awaits")
    names = names_of(node, code)
    return Statement(code, node, names, _obstacle(node, names), _is_tool(node))


def _is_tool(node: ast.stmt) -> bool:
    decorators = (ast.unparse(part) for part in getattr(node, "decorator_list", ()))
    names = (text.partition("(")[0].rpartition(".")[2] for text in decorators)
    return not isinstance(node, ast.ClassDef) and "tool" in names


def _stands_alone(code: str, node: ast.stmt) -> bool:
    """Tell whether *code* is the statement *node* and nothing else, and compiles as a file."""
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
        return "a person is asked for it"
    return ""


def _stored(node: ast.stmt) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


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
