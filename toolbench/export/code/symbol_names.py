"""Find the names that a statement sets, uses and changes, with Python's own symbol table."""

import ast
import sys
from collections.abc import Iterator, Mapping
from symtable import SymbolTable, symtable
from types import MappingProxyType
from typing import NamedTuple

from toolbench.export.code.changes import (
    Effect,
    effect_now,
    effects_later,
    names_always_set,
)

_NONE = frozenset[str]()
_COMPREHENSIONS = frozenset({"listcomp", "setcomp", "dictcomp", "genexpr"})
_OF_MODULES = frozenset({"__name__", "__doc__", "__class__", "__debug__"})


class Names(NamedTuple):
    """The names in a statement, by their use.

    Attributes:
        gives: The names to which the statement gives a value.
        now: The names that the statement uses when it runs.
        later: The names that the functions in the statement use when they are called.
        quoted: The names in quoted annotations; they may be undefined.
        surely: The names to which the statement gives a value on every path through it.
        effect: The effects of the statement on objects of other statements.
        functions: The effects of a call of each function that the statement defines.
    """

    gives: frozenset[str]
    now: frozenset[str] = _NONE
    later: frozenset[str] = _NONE
    quoted: frozenset[str] = _NONE
    surely: frozenset[str] = _NONE
    effect: Effect = Effect()
    functions: Mapping[str, Effect] = MappingProxyType({})


def names_of(node: ast.stmt, code: str) -> Names:
    """Return the names in the statement *node*, whose source is *code*.

    Raises:
        SyntaxError: If *code* can only run in a notebook, for example with a top-level `await`.
    """
    table = symtable(code, "cell", "exec")
    now, later = set[str](), set[str]()
    _collect(table, now, later, is_called_later=False)
    gives = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    imported = {s.get_name() for s in table.get_symbols() if s.is_imported()}
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        gives = imported = set(_public_names(node.module or ""))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        # A function may call itself
        later -= gives
    if isinstance(node, ast.With | ast.AsyncWith):
        now -= _set_by_items(node)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        now.add(node.target.id)
    return Names(
        frozenset(gives),
        frozenset(now - imported - _OF_MODULES),
        frozenset(later - imported - _OF_MODULES),
        frozenset(_quoted(node)),
        names_always_set([node]),
        effect_now(node),
        effects_later(node),
    )


def _set_by_items(node: ast.With | ast.AsyncWith) -> frozenset[str]:
    """Return the names that *node* sets after `as`, and does not use before that."""
    used = {
        part.id
        for item in node.items
        for part in ast.walk(item.context_expr)
        if isinstance(part, ast.Name)
    }
    targets = (item.optional_vars for item in node.items)
    return frozenset(t.id for t in targets if isinstance(t, ast.Name)) - used


def _public_names(module: str) -> Iterator[str]:
    """Yield the names that `from module import *` imports, if the module is loaded."""
    names = vars(sys.modules[module]) if module in sys.modules else {}
    public = names.get("__all__")
    yield from (n for n in names if not n.startswith("_")) if public is None else public


def _collect(table: SymbolTable, now: set[str], later: set[str], *, is_called_later: bool) -> None:
    """Add to *now* and *later* the global names that *table* and the tables inside of it use."""
    is_top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if not symbol.is_referenced() and not symbol.is_declared_global():
            continue
        if is_top or symbol.is_global():
            (later if is_called_later else now).add(symbol.get_name())
    for child in table.get_children():
        is_function = str(child.get_type()) == "function"
        runs_later = is_function and child.get_name() not in _COMPREHENSIONS
        _collect(child, now, later, is_called_later=is_called_later or runs_later)


def _quoted(node: ast.stmt) -> Iterator[str]:
    """Yield the names in the quoted annotations of *node*."""
    for part in ast.walk(node):
        for annotation in (
            getattr(part, "annotation", None),
            getattr(part, "returns", None),
        ):
            for constant in ast.walk(annotation) if annotation is not None else ():
                if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                    yield from _names_in(constant.value)


def _names_in(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        # Any other text, not an annotation
        return
    yield from (part.id for part in ast.walk(tree) if isinstance(part, ast.Name))


def used_in(code: str) -> frozenset[str]:
    """Return the names that *code* uses, now or later."""
    return frozenset[str]().union(*(n.now | n.later for n in _all_names(code)))


def quoted_in(code: str) -> frozenset[str]:
    """Return the names in the quoted annotations of *code*."""
    return frozenset[str]().union(*(n.quoted for n in _all_names(code)))


def given_in(code: str) -> frozenset[str]:
    """Return the names to which *code* gives a value."""
    return frozenset[str]().union(*(n.gives for n in _all_names(code)))


def _all_names(code: str) -> list[Names]:
    return [names_of(node, ast.unparse(node)) for node in ast.parse(code).body]
