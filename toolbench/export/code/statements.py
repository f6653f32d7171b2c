"""The statements of a notebook's cells, or of a file, in the order in which they ran."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from inspect import getsource
from types import ModuleType

from toolbench.export.code.symbol_names import Names, names_of
from toolbench.runs.shell import running_shell

MAGIC = "get_ipython"
"""What IPython makes of magics; a file has none."""
_NONE = frozenset[str]()
_WHOLE_CELLS = frozenset({"capture", "time"})
"""The cell magics whose body runs as it is."""
_ASKING = frozenset({"input", "getpass"})


@dataclass(frozen=True)
class Statement:
    """One statement, outside of any function or class."""

    code: str
    node: ast.stmt = field(repr=False)
    names: Names = field(repr=False)
    obstacle: str = ""
    """Why it cannot stand in a file, if it cannot; a part of a sentence."""

    @property
    def is_import(self) -> bool:
        """Whether it imports, and nothing else."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_definition(self) -> bool:
        """Whether it is a function or a class."""
        return isinstance(
            self.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        )


def statements_of(module: ModuleType) -> list[Statement]:
    """Return the statements of *module*: of the cells, if it is that of the notebook.

    Raises:
        OSError: If there is no source.
    """
    shell = running_shell()
    if shell is not None and module is shell.user_module:
        history = getattr(shell, "history_manager", None)
        return statements_in(getattr(history, "input_hist_parsed", ()))
    return statements_in([getsource(module)])


def statements_in(cells: Iterable[str]) -> list[Statement]:
    """Return the statements of *cells*; of those that are no Python, none."""
    return [statement for cell in cells for statement in _of_cell(cell)]


def _of_cell(cell: str) -> Iterator[Statement]:
    try:
        tree = ast.parse(cell)
    except (SyntaxError, ValueError):  # it never ran
        return
    lines = cell.splitlines()
    for node in tree.body:
        body = _body_of_magic(node)
        if body is not None:
            yield from _of_cell(body)
            continue
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(part.lineno for part in decorators)])
        yield _statement(node, "\n".join(lines[first - 1 : node.end_lineno]))


def _statement(node: ast.stmt, code: str) -> Statement:
    if not _stands_alone(code, node):  # it shares a line with others, or it awaits
        code = ast.unparse(node)
        if not _stands_alone(code, node):
            names = Names(frozenset(_stored(node)), _NONE, _NONE, _NONE, _NONE)
            return Statement(code, node, names, "it comes from a cell that awaits")
    names = names_of(node, code)
    return Statement(code, node, names, _obstacle(node, names))


def _stands_alone(code: str, node: ast.stmt) -> bool:
    """Tell whether *code* is *node* and no more, and can stand in a file."""
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
    """Return the body of a cell magic that runs it as it is, if *node* is one."""
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(attr="run_cell_magic"),
                args=[ast.Constant(value=name), _, ast.Constant(value=str(body))],
            )
        ) if name in _WHOLE_CELLS:
            return body
    return None
