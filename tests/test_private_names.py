"""Tests look at things by label, by role and by public names, so that they survive a redesign."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
# Public in all but looks: what a display calls, and how ipywidgets names its CSS classes.
PUBLIC = ("_repr_", "_dom_classes")
# It lists private names of other packages: it is there to read them.
LISTS_THEM = "test_internals.py"
MOST = 43
"""How many private names all tests may use. It may only become smaller.

`python -m pytest tests/test_private_names.py` counts them, and lists those that are used most.
"""
BY_NAME = {"getattr", "hasattr", "setattr", "delattr", "patch", "object"}
"""Functions that take the name of an attribute as text: Python's, `monkeypatch`'s, `mock`'s."""


def private_reads(tree: ast.AST) -> Iterator[str]:
    """Return the private names that *tree* uses of modules and of other objects than `self`."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name("self" | "cls")):
                continue
            case ast.Attribute(attr=name, ctx=ast.Load()) if is_private(name):
                yield name
            case ast.ImportFrom(module=str(module), names=names):
                if module.partition(".")[0] == "toolbench":
                    yield from (n.name for n in names if is_private(n.name))
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
                if name in BY_NAME:
                    yield from texts_that_name(node.args)


def texts_that_name(arguments: list[ast.expr]) -> Iterator[str]:
    """Return the private attributes that are written as texts in *arguments*."""
    for argument in arguments:
        match argument:
            case ast.Constant(value=str(text)):
                name = text.rpartition(".")[2]
                if name.isidentifier() and is_private(name):
                    yield name


def is_private(name: str) -> bool:
    """Tell whether an attribute of this name belongs to its object alone."""
    return name.startswith("_") and not name.startswith(("__", *PUBLIC))


def test_few_private_names_are_used():
    """A test that reads one breaks when the object is built in another way."""
    reads = Counter(
        (path.relative_to(TESTS).as_posix(), name)
        for path in TESTS.rglob("*.py")
        if path.name != LISTS_THEM
        for name in private_reads(ast.parse(path.read_text(encoding="utf-8")))
    )
    assert reads.total() <= MOST, reads.most_common(10)


def test_what_is_a_private_read():
    """Another object's attribute, if it is read: not our own, and not what displays call."""
    code = "a._x; self._y; b._repr_html_(); c._dom_classes; d.__dict__; e._z = f._w"
    assert sorted(private_reads(ast.parse(code))) == ["_w", "_x"]
    by_name = "getattr(a, '_x'); m.setattr('b.c._y', 1); m.setattr(d, '_z', '_ w'); f('_u')"
    assert sorted(private_reads(ast.parse(by_name))) == ["_x", "_y", "_z"]
    imports = "from toolbench.a import _x, y; from json import _z; from toolbench import *"
    assert list(private_reads(ast.parse(imports))) == ["_x"]
