"""Find the statements of a notebook that a name needs, to copy them into a file."""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolbench.runs.shell import running_shell

_ADDING = frozenset(
    {"add_tool", "append", "extend", "mount", "prompt", "resource", "tool", "update"}
)
_MAGIC = "get_ipython"  # in the code of magics, which do not work in a file


class Statement(NamedTuple):
    """One statement of a cell, outside of any function or class.

    Attributes:
        code: Its source.
        gives: The names it defines.
        needs: The names it uses, now or when its function is called.
        changes: The names of objects it adds to, as `@server.tool` does.
    """

    code: str
    gives: frozenset[str]
    needs: frozenset[str]
    changes: frozenset[str] = frozenset()


def code_of(name: str) -> str:
    """Return the code that defines *name* in this notebook; empty if a part of it is missing."""
    shell = running_shell()
    history = getattr(shell, "history_manager", None)
    cells = list(getattr(history, "input_hist_parsed", ()))
    return definition_in(cells, name)


def definition_in(cells: Sequence[str], name: str) -> str:
    """Return the statements of *cells* that define *name*, and all that they need.

    If a name was defined several times, the last definition before its use counts. Empty if
    no cell defines *name*, or if it needs a magic.
    """
    statements = [part for cell in cells for part in _statements(cell)]
    first = _giving(statements, name, len(statements))
    if first is None:
        return ""
    chosen, todo = {first}, [first]
    while todo:
        index = todo.pop()
        places = {_giving(statements, name, index) for name in statements[index].needs}
        places |= _changing(statements, index)
        new = {place for place in places if place is not None} - chosen
        chosen |= new
        todo += new
    parts = [statements[index].code for index in sorted(chosen)]
    if any(_MAGIC in part for part in parts):
        return ""
    future = [s.code for s in statements if s.code.startswith("from __future__ ")]
    return "\n".join(dict.fromkeys([*future, *_spaced(parts)]))


def _giving(statements: list[Statement], name: str, before: int) -> int | None:
    """The last statement before index *before* that defines *name*; else the last one."""
    places = [i for i, statement in enumerate(statements) if name in statement.gives]
    return max((i for i in places if i < before), default=max(places, default=None))


def _changing(statements: list[Statement], index: int) -> set[int | None]:
    """The later statements that add something to the names defined at *index*."""
    names = statements[index].gives
    later = range(index + 1, len(statements))
    return {i for i in later if not names.isdisjoint(statements[i].changes)}


def _spaced(parts: list[str]) -> Iterator[str]:
    """Yield *parts*, with two empty lines around each part of several lines."""
    for part in parts:
        yield f"\n\n{part}\n\n" if "\n" in part else part


def _statements(cell: str) -> Iterator[Statement]:
    try:
        tree = ast.parse(cell)
    except (SyntaxError, ValueError):  # it never ran
        return
    lines = cell.splitlines()
    for node in tree.body:
        decorators = getattr(node, "decorator_list", [])
        begin = min([node.lineno, *(part.lineno for part in decorators)])
        code = "\n".join(lines[begin - 1 : node.end_lineno])
        names = (_names_given_by(node), _used_by(node), _changed_by(node))
        yield Statement(code, *map(frozenset, names))


def _names_given_by(node: ast.stmt) -> Iterator[str]:
    """Yield the names that *node* defines in the module, not inside a function."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    for part in ast.walk(node):
        if isinstance(part, ast.alias):
            yield (part.asname or part.name).partition(".")[0]
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def _used_by(node: ast.stmt) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Constant) and str(part.value).isidentifier():
            yield str(part.value)  # an annotation in quotes, perhaps


def _changed_by(node: ast.stmt) -> Iterator[str]:
    """Yield the names of objects that a decorator of *node*, or a method call in it, adds to."""
    calls = list(getattr(node, "decorator_list", []))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        is_adding = isinstance(function, ast.Attribute) and function.attr in _ADDING
        calls += [function] if is_adding else []
    for call in calls:
        part = call.func if isinstance(call, ast.Call) else call
        while isinstance(part, ast.Attribute | ast.Call):
            part = part.value if isinstance(part, ast.Attribute) else part.func
            if isinstance(part, ast.Name):
                yield part.id
