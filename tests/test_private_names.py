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
MOST = 44
"""How many private attributes all tests may read. It may only become smaller."""


def private_reads(tree: ast.AST) -> Iterator[str]:
    """Return the private attributes that *tree* reads of other objects than `self`."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name("self" | "cls")):
                continue
            case ast.Attribute(attr=name, ctx=ast.Load()) if is_private(name):
                yield name


def is_private(name: str) -> bool:
    """Tell whether an attribute of this name belongs to its object alone."""
    return name.startswith("_") and not name.startswith(("__", *PUBLIC))


def test_few_private_attributes_are_read():
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
