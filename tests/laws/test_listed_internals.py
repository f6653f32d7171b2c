"""What we use of other packages' insides is listed in tests/test_internals.py, and bounded."""

import ast
from importlib.metadata import requires

from packaging.requirements import Requirement
from test_internals import (
    ATTRIBUTES,
    ELSEWHERE,
    OF_OBJECTS,
    OF_SERVERS,
    OF_SESSIONS,
    PUBLIC,
)

BOUNDED = ["anyio", "anywidget", "fastmcp-slim", "httpx2", "ipykernel", "ipython", "ipywidgets",
           "mcp", "mcp-types", "traitlets"]  # fmt: skip


def test_no_private_name_is_missing(trees):
    """Whoever uses another private name of a package lists it, so that an upgrade finds it."""
    attributes = {name for names in ATTRIBUTES.values() for name in names}
    used = private_names(trees)
    assert {"_getframe", "_bind", "_allow_stdin"} <= used, "the search finds what there is"
    assert used - attributes - OF_OBJECTS - OF_SERVERS - OF_SESSIONS - ELSEWHERE - PUBLIC == set()
    assert (OF_OBJECTS | ELSEWHERE | PUBLIC) - used == set()


def test_no_module_of_the_sdk_is_missing(trees):
    """Modules below `mcp` and `mcp_types` change between versions: each name is listed."""
    names = {(place, name) for place in ATTRIBUTES for name in ATTRIBUTES[place]}
    names |= {tuple(place.split(":")) for place in ATTRIBUTES if ":" in place}
    below = ("mcp.", "mcp_types.", "ipykernel.", "fastmcp.client.transports.base")
    used = {
        (node.module, alias.name)
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(below)
        for alias in node.names
    }
    assert used - names == set()


def test_have_an_upper_bound():
    """The next version of what we reach into comes when somebody has looked at it."""
    needed = [Requirement(text) for text in requires("jupyter-toolbench") or []]
    bounded = [
        one.name
        for one in needed
        if "extra" not in str(one.marker)
        if any(bound.operator == "<" for bound in one.specifier)
    ]
    assert [name for name in BOUNDED if bounded.count(name) != 1] == []


def private_names(trees) -> set[str]:
    """The private names that are used in the package and defined nowhere in it."""
    # Which an assignment makes look like our own
    own, used = set(), {"_dom_classes"}
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                own.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                own.add(name)
            case ast.Attribute(attr=name) if is_private(name):
                used.add(name)
            case ast.Call(
                func=ast.Name("getattr" | "hasattr" | "setattr"),
                args=[_, ast.Constant(str(name)), *_],
            ) if is_private(name):
                used.add(name)
            case ast.ImportFrom(module, names) if not str(module).startswith("toolbench"):
                used |= {alias.name for alias in names if is_private(alias.name)}
    return (used - own) | {"_dom_classes"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")
