"""Imports point down the layers, and go round in no circle."""

import ast
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import toolbench

PACKAGE = Path(toolbench.__file__).parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Modules that load another one in a function, and are needed by it.
LATE = {
    (
        "toolbench.core.schema",
        "toolbench.display.objects",
    ): "an action draws itself in a notebook, even if no extension is loaded",
    (
        "toolbench.core.schema",
        "toolbench.display.live_results",
    ): "so does an observation",
    (
        "toolbench.core.tool",
        "toolbench.display.objects",
    ): "so does a tool",
    (
        "toolbench.agent.delegate",
        "toolbench.agent.conversation",
    ): "a tool that starts a conversation, and whose result a conversation shows",
    (
        "toolbench.runs.record",
        "toolbench.runs.perform",
    ): "runs the call of a record again, and records each run",
    (
        "toolbench.runs.record",
        "toolbench.runs.history",
    ): "holds records, and knows the place of one",
}


@pytest.fixture(scope="session")
def contract():
    """What pyproject.toml says of the layers."""
    text = PACKAGE.with_name("pyproject.toml").read_text("utf-8")
    [contract] = [
        each
        for each in tomllib.loads(text)["tool"]["importlinter"]["contracts"]
        if each["type"] == "layers"
    ]
    return contract


@pytest.fixture(scope="session")
def layers(contract):
    """The layers of the package from above, each with its names."""
    return [[name.strip(" ()") for name in line.split("|")] for line in contract["layers"]]


@pytest.fixture(scope="session")
def modules(trees):
    """The syntax tree of each module, by its full name."""
    return {
        f"toolbench.{path[:-3].replace('/', '.')}".removesuffix(".__init__"): tree
        for path, tree in trees.items()
    }


def imports(nodes, modules):
    """The modules of the package that *nodes* import, themselves or a name of them."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_not_even_a_type_comes_from_above(modules, layers, contract):
    """Imports for type checkers alone, which lint-imports leaves out, point down too."""
    named = {line.replace(" -> ", " imports ") for line in contract["ignore_imports"]}
    place = {name: height for height, names in enumerate(layers) for name in names}
    up = {
        f"{module} imports {name}"
        for module, tree in modules.items()
        if module != "toolbench"
        for name in imports(ast.walk(tree), modules)
        if name in modules and name != "toolbench"
        if place[name.split(".")[1]] < place[module.split(".")[1]]
    }
    assert up == named


def is_for_checkers(node):
    """Tell whether *node* is a block that only type checkers read."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def running(node):
    """Yield *node* and the nodes in it that run, functions' too, but not what is for checkers."""
    yield node
    for inner in ast.iter_child_nodes(node):
        if not is_for_checkers(inner):
            yield from running(inner)


def loading(node):
    """Yield *node* and the nodes in it that run while its module is imported: no function's."""
    yield node
    for inner in ast.iter_child_nodes(node):
        if not (is_for_checkers(inner) or isinstance(inner, FUNCTIONS)):
            yield from loading(inner)


def packages_of(module):
    """*module* and the packages around it, but for the outermost: they are imported with it."""
    words = module.split(".")
    return {".".join(words[:end]) for end in range(2, len(words) + 1)}


def lazy_names(modules):
    """The module of each name that a package imports when it is first used, by the full name."""
    return {
        f"{module}.{alias.asname or alias.name}": node.module
        for module, tree in modules.items()
        for block in filter(is_for_checkers, tree.body)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def may_be_late(module, other):
    """Tell whether *module* may load *other* in a function, though *other* needs it."""
    is_of_a_tool = module.startswith("toolbench.tools.") and module.endswith(".definition")
    implementation = f"{module.removesuffix('definition')}impl"
    return (is_of_a_tool and other == implementation) or (module, other) in LATE


def circle_in(graph):
    """Return the modules of a circle in *graph*, the first of them also last; empty without one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_circle_when_functions_run(modules):
    """No two modules need each other, at the top or in a function, but for those named here."""
    graph = {
        module: {
            other
            for other in imports(running(tree), modules)
            if other in modules and other != module and not may_be_late(module, other)
        }
        for module, tree in modules.items()
    }
    assert sum(map(len, graph.values())) > 1000
    assert circle_in(graph) == []


def test_no_circle_while_modules_are_imported(modules):
    """No module needs one that waits for it, with the packages around what it imports.

    Otherwise it depends on the order whether they can be imported: what a function imports may be
    the first, when a person has clicked.
    """
    homes = lazy_names(modules)
    graph = {
        module: {
            each
            for other in imports(loading(tree), {**modules, **homes})
            for each in packages_of(homes.get(other, other)) - packages_of(module)
            if each in modules
        }
        for module, tree in modules.items()
    }
    assert sum(map(len, graph.values())) > 1000
    assert circle_in(graph) == []
