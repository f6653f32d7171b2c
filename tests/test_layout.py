"""The laws of the folders: a reader guesses the file from the behaviour."""

import ast
import tomllib
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import toolbench

ROOT = Path(toolbench.__file__).parent
DOZEN = 12
# The parts of a runtime tool, as in OpenHands: every tool has them.
PARTS = {"__init__", "definition", "impl"}

# Names that stand for more than one module: the thing and its view, or the same thing on
# another floor.
SHARED = {
    "executor": "of any tool; of a server's tool",
    "logs": "of a server; and their view",
    "output": "of a run; and its view",
    "resources": "of a server; and their view",
    "tools": "the runtime tools; the view of a server's; an agent's own",
    "traffic": "of a server; and its view",
    "transcript": "of a conversation, as text; and its view",
}

# They say what happened, not what the thing is.
NO_NOUNS = {
    *(
        "active",
        "asked",
        "asking",
        "breaking",
        "concealing",
        "found",
        "given",
        "handed",
    ),
    *("said", "shown", "spoken", "stopping", "telling", "told", "waiting", "wanted"),
}
# They only look like participles
NOUNS = {"feed"}
# Files too small to be worth a place of their own, unless named here.
SMALL = 19
TINY = {
    "_version": "the build reads it",
}


def modules():
    """Return the path of every module of the package without its suffix."""
    return sorted(
        path.relative_to(ROOT).with_suffix("")
        for path in ROOT.rglob("*.py")
        if "template" not in path.parts
    )


def folders():
    """Return the names of the modules of every folder, and of the packages among them."""
    inside = defaultdict(set)
    for module in modules():
        if module.name != "__init__":
            inside[module.parent.as_posix()].add(module.name)
    return inside


def homes():
    """Return where each module name stands; a package and its main module are one."""
    places = defaultdict(set)
    for module in modules():
        home = module.parent if module.name == "__init__" else module
        if home.name == home.parent.name:
            # form/form.py
            home = home.parent
        if home.name not in PARTS | {""}:
            places[home.name].add(home.as_posix())
    return places


def test_at_most_a_dozen_files_side_by_side():
    """A folder with more needs folders of its own."""
    large = {folder for folder, names in folders().items() if len(names) > DOZEN}
    assert not large


def test_no_name_for_two_things():
    """A module name is enough to find the module, but for a short list."""
    twice = {name for name, places in homes().items() if len(places) > 1}
    assert twice == set(SHARED)
    assert len(SHARED) <= 8


def test_modules_are_named_by_nouns():
    """No verb and no participle that says when a thing came instead of what it is."""
    names = {module.as_posix() for module in modules() if module.name in NO_NOUNS}
    names |= {
        module.as_posix()
        for module in modules()
        if module.name.endswith("ed") and module.name not in NOUNS
    }
    assert not names


def test_a_file_is_worth_opening():
    """A few lines are a part of the file that uses them."""
    tiny = {
        module.as_posix()
        for module in modules()
        if module.name not in PARTS
        and len((ROOT / module).with_suffix(".py").read_text("utf-8").splitlines()) <= SMALL
    }
    assert tiny == set(TINY)


# Modules that load another one in a function, and are needed by it.
LATE = {
    (
        "mcp/definition",
        "mcp/worker_tool",
    ): "a worker connects a client, made of definitions",
    (
        "tools/terminal/definition",
        "tools/terminal/observe",
    ): "half of its implementation",
}


def layers():
    """Return the layer of every module at the top of the package, counted from above."""
    text = (ROOT.parent / "pyproject.toml").read_text("utf-8")
    [contract] = [
        each
        for each in tomllib.loads(text)["tool"]["importlinter"]["contracts"]
        if each["type"] == "layers"
    ]
    return {
        name.strip(" ()"): place
        for place, line in enumerate(contract["layers"])
        for name in line.split("|")
    }


def imports(module):
    """Return what *module* imports of the package anywhere, each by its name at the top."""
    tree = ast.parse((ROOT / module).with_suffix(".py").read_text("utf-8"))
    names = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    names += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    return {name.split(".")[1] for name in names if name and name.startswith("toolbench.")}


def test_not_even_a_type_comes_from_above():
    """Imports for type checkers alone, which lint-imports leaves out, point down too."""
    place = layers()
    up = {
        f"{module.as_posix()} imports {name}"
        for module in modules()
        if module.parts[0] in place
        for name in imports(module)
        if place[name] < place[module.parts[0]]
    }
    assert up == set()


def home_of(name):
    """Return the module called *name*, as `toolbench.core.tool`; None if it is none of ours."""
    path = ROOT.parent.joinpath(*name.split("."))
    if path.with_suffix(".py").is_file():
        return path.relative_to(ROOT).as_posix()
    is_package = ROOT in path.parents and (path / "__init__.py").is_file()
    return (path / "__init__").relative_to(ROOT).as_posix() if is_package else None


def is_for_checkers(node):
    """Tell whether *node* is code that only a type checker reads."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def running(node):
    """Yield *node* and the nodes in it that run, functions' too."""
    yield node
    for inner in ast.iter_child_nodes(node):
        if not is_for_checkers(inner):
            yield from running(inner)


def needs(module):
    """Return the modules of the package that *module* loads, at the top or in a function."""
    tree = ast.parse((ROOT / module).with_suffix(".py").read_text("utf-8"))
    names = set()
    for node in running(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                part = home_of(f"{node.module}.{alias.name}")
                names.add(part or home_of(node.module))
        elif isinstance(node, ast.Import):
            names |= {home_of(alias.name) for alias in node.names}
    return names - {None, module.as_posix()}


def may_be_late(module, other):
    """Tell whether *module* may load *other* in a function, though *other* needs it."""
    of_a_tool = module.startswith("tools/") and other == f"{module[:-10]}impl"
    return (of_a_tool and module.endswith("definition")) or (module, other) in LATE


def circle_in(graph):
    """Return the modules of a circle in *graph*, the first of them also last; empty without one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_circle_when_functions_run():
    """No two modules need each other, at the top or in a function, but for those named here."""
    graph = {
        module.as_posix(): {
            other for other in needs(module) if not may_be_late(module.as_posix(), other)
        }
        for module in modules()
    }
    assert sum(map(len, graph.values())) > 1000
    assert circle_in(graph) == []
