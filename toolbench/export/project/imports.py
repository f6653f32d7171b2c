"""Write the import lines of a package, and list the distributions that they require."""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import (
    PackageNotFoundError,
    distribution,
    packages_distributions,
    version,
)
from importlib.util import find_spec

from toolbench._version import __version__
from toolbench.errors import ExportError
from toolbench.export.code.statements import Statement
from toolbench.export.tool_code.tool_parts import PACKAGE

_OURS = "jupyter-toolbench"
_SDK_NAME = "openhands-sdk"
_SDK_TOOLS = "openhands-tools"
_PYTHON = {
    "Annotated": "typing",
    "Any": "typing",
    "ClassVar": "typing",
    "ConfigDict": "pydantic",
    "Field": "pydantic",
    "Optional": "typing",
    "Path": "pathlib",
    "SecretStr": "pydantic",
    "Self": "typing",
    "Sequence": "collections.abc",
    "display": "IPython.display",
    "environ": "os",
}
_TOOLBENCH = dict.fromkeys(
    (
        *("Action", "ConversationState", "Observation", "ToolAnnotations"),
        *("Secret", "ToolDefinition", "ToolExecutor"),
    ),
    "toolbench",
)
_OF_SDK = (
    *("Action", "ImageContent", "Observation", "TextContent", "Tool", "ToolDefinition"),
    *("list_registered_tools", "register_tool", "resolve_tool"),
)
_OF_SDK_TOOL = (
    *("DeclaredResources", "ExecutableTool", "FinishTool", "ThinkTool"),
    *("ToolAnnotations", "ToolExecutor"),
)
_SDK = {
    **dict.fromkeys(_OF_SDK, "openhands.sdk"),
    **dict.fromkeys(_OF_SDK_TOOL, "openhands.sdk.tool"),
    "Schema": "openhands.sdk.tool.schema",
    # The SDK has none: a file of the package defines them
    **dict.fromkeys(("Secret", "secret"), f"{PACKAGE}.secrets"),
}


def written_homes(*, openhands: bool) -> Mapping[str, str]:
    """Return the module of each name that the code we write may import."""
    return {**_PYTHON, **(_SDK if openhands else _TOOLBENCH)}


def import_lines(
    name: str, statements: Sequence[Statement], homes: Mapping[str, str], *, openhands: bool
) -> set[str]:
    """Return the lines that import *name*. The result is empty if its module is not known.

    Args:
        name: The name to import.
        statements: The import statements of the notebook. The last one that imports *name* is used.
        homes: The module of each name that generated code uses. If no statement imports *name*, it
            is imported from the module in *homes*.
        openhands: Whether to import toolbench's names from the OpenHands SDK instead.

    Raises:
        ExportError: If the SDK does not have the name.
    """
    lines = set[str]()
    for statement in statements:
        for new in _lines_for(name, statement, openhands=openhands):
            # Both `import a.b` and `import a.c` are needed
            is_more = new.startswith("import ") and " as " not in new
            if not is_more or any(" as " in line or line.startswith("from ") for line in lines):
                lines = set()
            lines.add(new)
    if not lines and name in homes:
        lines.add(f"from {homes[name]} import {name}")
    return lines


def _lines_for(name: str, statement: Statement, *, openhands: bool) -> Iterator[str]:
    node = statement.node
    if isinstance(node, ast.Import):
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            if bound == name:
                _refuse_toolbench(alias.name, openhands=openhands)
                yield f"import {_alias(alias)}"
    elif isinstance(node, ast.ImportFrom) and name in statement.names.gives:
        for alias in node.names:
            if alias.name == "*":
                alias = ast.alias(name)
            if (alias.asname or alias.name) == name:
                module = _home(node.module or "", alias.name, openhands=openhands)
                yield f"from {module} import {_alias(alias)}"


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _home(module: str, name: str, *, openhands: bool) -> str:
    """Return the module from which the package imports a *name* of the user's *module*.

    For the OpenHands SDK, this is a module of the SDK instead of one of toolbench.

    Raises:
        ExportError: If the SDK does not have *name*.
    """
    if not openhands or module.partition(".")[0] != "toolbench":
        return module
    if name in _SDK:
        return _SDK[name]
    advice = _ADVICE.get(name, _ADVICE[""])
    msg = f"The OpenHands SDK has no `{name}`, which is imported from {module}: {advice}"
    raise ExportError(msg)


_ADVICE = {
    "current_run": (
        "there a tool cannot ask a person, report progress or see that it is cancelled. Make each "
        "question an argument of the tool and leave out the rest, or export for toolbench, "
        "without --openhands (openhands=True)."
    ),
    "openhands": (
        "write `with openhands():` at the top of a cell, with nothing in it but imports of the "
        "SDK. They are then kept in the package as they are."
    ),
    "": (
        "write the tool without it, or export for toolbench, without --openhands (openhands=True)."
    ),
}
"""What to do about a name that the SDK does not have."""


def _refuse_toolbench(module: str, *, openhands: bool) -> None:
    if openhands and module.partition(".")[0] == "toolbench":
        msg = f"`import {module}` cannot be changed for the SDK: write from toolbench import ..."
        raise ExportError(msg)


def check_inner_imports(statements: Iterable[Statement], *, openhands: bool) -> None:
    """Check the imports that the export cannot adapt to the package.

    Raises:
        ExportError: If an import is relative. Also, if *openhands* is true and an import inside a
            function or a class imports from toolbench.
    """
    for statement in statements:
        for node in ast.walk(statement.node):
            if not isinstance(node, ast.ImportFrom):
                continue
            if node.level:
                msg = f"`{ast.unparse(node)}` belongs to a package: import by the whole name."
                raise ExportError(msg)
            is_inside = openhands and not statement.is_import
            if is_inside and (node.module or "").partition(".")[0] == "toolbench":
                for alias in node.names:
                    _home(node.module or "", alias.name, openhands=True)
                msg = (
                    f"`{ast.unparse(node)}` is inside other code. There it cannot be changed for "
                    "the SDK: import at the top of a cell."
                )
                raise ExportError(msg)


def modules_in(text: str) -> frozenset[str]:
    """Return the modules that the Python code *text* imports.

    A module that is imported inside `try` and `except ImportError` is included only if it is
    installed.
    """
    tree = ast.parse(text)
    optional = {id(n) for part in ast.walk(tree) for n in _optional_imports(part)}
    modules = set[str]()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        modules |= {n for n in names if id(node) not in optional or _is_here(n)}
    return frozenset(modules)


def _optional_imports(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes in the body of *node*, if this is a `try` with `except ImportError`."""
    if isinstance(node, ast.Try) and any(_catches_import(h) for h in node.handlers):
        for part in node.body:
            yield from ast.walk(part)


def _catches_import(handler: ast.ExceptHandler) -> bool:
    names = "" if handler.type is None else ast.unparse(handler.type)
    return handler.type is None or "ImportError" in names or "ModuleNotFound" in names


def _is_here(module: str) -> bool:
    return find_spec(module.partition(".")[0]) is not None


def grouped(lines: Iterable[str], package: str) -> str:
    """Return import *lines* in the usual groups: Python, other packages, the package itself."""
    groups: dict[int, list[str]] = {0: [], 1: [], 2: []}
    for line in lines:
        top = line.split()[1].partition(".")[0]
        if top == package:
            groups[2].append(line)
        elif top in sys.stdlib_module_names:
            groups[0].append(line)
        else:
            groups[1].append(line)
    return "\n\n".join("\n".join(_joined(group)) for group in groups.values() if group)


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Yield *lines* in order; `from` imports of the same module are joined into one line."""
    names: dict[str, list[str]] = {}
    for line in sorted(set(lines)):
        if line.startswith("from "):
            head, _, name = line.partition(" import ")
            names.setdefault(head, []).append(name)
        else:
            yield line
    for head, imported in names.items():
        yield f"{head} import {', '.join(imported)}"


def requirements(modules: Iterable[str], *, package: str, extras: Mapping[str, str]) -> list[str]:
    """Return the requirements for *modules*, each with the installed version as the minimum.

    Args:
        modules: The full names of the imported modules.
        package: The name of the exported package, whose own modules need no requirement.
        extras: The extras to require, by the name of the distribution, as in
            `{"fastmcp-slim": "[server]"}`.

    Raises:
        ExportError: If a module belongs to no distribution, so it cannot be installed elsewhere.
    """
    needed = set[str]()
    # It reads the files of all installed packages, which takes half a second
    installed = cache(packages_distributions)
    for module in modules:
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names or top == package:
            continue
        name = _distribution_of(module, installed)
        extra = extras.get(name, "")
        needed.add(f"{name}{extra}{_lower_bound(name)}")
    return sorted(needed, key=str.lower)


def _distribution_of(module: str, installed: Callable[[], Mapping[str, list[str]]]) -> str:
    """Return the name of the distribution that contains *module*.

    *installed* is a function that returns the distributions of each installed package.
    """
    top = module.partition(".")[0]
    if top == "toolbench":
        return _OURS
    if f"{module}.".startswith("openhands.tools."):
        return _SDK_TOOLS
    if top == "openhands":
        return _SDK_NAME
    names = installed().get(top)
    if not names:
        spec = find_spec(top)
        place = ""
        if spec is not None and spec.origin:
            place = f" but the file {spec.origin}"
        msg = f"`{top}` is of no installed package{place}: install it, or put its code into a cell."
        raise ExportError(msg)
    for name in names:
        # Several distributions can share a namespace package
        if _holds(name, module.replace(".", "/")):
            return name
    return names[0]


def _holds(name: str, path: str) -> bool:
    """Tell whether the distribution *name* has the module at *path*."""
    files = distribution(name).files or []
    return any(str(file).startswith((f"{path}/", f"{path}.")) for file in files)


def _lower_bound(name: str) -> str:
    """Return the installed version of *name* as a lower bound; empty if it is not installed."""
    if name == _OURS:
        return f">={__version__}"
    try:
        return f">={version(name).partition('+')[0]}"
    except PackageNotFoundError:
        # The SDK, which does not share an environment with us
        return ""
