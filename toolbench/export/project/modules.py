"""The Python modules of a package: `definition.py`, `impl.py`, `__init__.py`, and `results.py`."""

import ast
from collections.abc import Iterable, Sequence

from toolbench.export.code.statements import Statement
from toolbench.export.project.division import RESULTS, Division
from toolbench.export.project.imports import grouped, import_lines, written_homes
from toolbench.export.tool_code.tool_parts import PACKAGE, ToolParts


def modules_for(
    parts: Sequence[ToolParts], division: Division, package: str, *, openhands: bool
) -> dict[str, str]:
    """Return the text of each module of a package, by its file name.

    Args:
        parts: The tools of the package.
        division: The code of these tools, divided into modules.
        package: The name of the package.
        openhands: Whether the package is for the OpenHands SDK.

    Raises:
        ExportError: If an import would not work in a package.
    """
    first, second = division.definition, division.implementation
    imports = _Imports(division, package, openhands=openhands)
    tools = _listed(part.tool.name for part in parts)
    written = first.written.replace(f"from {PACKAGE}.impl ", f"from {package}.impl ")
    names = (first.uses | division.lazy) - first.gives - second.gives
    classes = list[str]()
    for statement in first.statements:
        classes.append(_with_import(statement, parts, second.gives, package))
    files = {
        "definition.py": _text(
            f"The name, the input and the output of {tools}.",
            division.future,
            grouped(imports.of(names), package),
            classes,
            written,
        ),
        "impl.py": _text(
            f"The code that does the work of {tools}.",
            division.future,
            grouped(imports.of(second.uses - second.gives), package),
            [statement.code for statement in second.statements],
            second.written,
        ),
        "__init__.py": _init(
            parts, division.create, imports.of(division.making), package, openhands=openhands
        ),
    }
    if openhands and any(f"from {package}.results " in text for text in files.values()):
        files["results.py"] = _RESULTS.replace("TextObservation", _result_class(package))
    if openhands and any(f"from {package}.secrets " in text for text in files.values()):
        files["secrets.py"] = _SECRETS
    return files


class _Imports:
    """Writes the import lines of the modules of the package."""

    def __init__(self, division: Division, package: str, *, openhands: bool) -> None:
        self._package, self._openhands = package, openhands
        self._imports, self._ours = division.imports, division.ours
        self._definition = division.definition.gives
        self._implementation = division.implementation.gives
        self._homes = dict(written_homes(openhands=openhands))
        if openhands:
            self._homes |= dict.fromkeys(RESULTS, f"{package}.results")
        self._makes_observations = openhands and _makes_observations(division)

    def of(self, names: Iterable[str]) -> list[str]:
        """Return the lines that import *names*.

        A name that the package defines is imported from the package. Other names are imported from
        the same module as in the user's code. If the user's code does not import a name, the name
        is from toolbench, the OpenHands SDK or Python's standard library.
        """
        lines = set[str]()
        for name in names:
            if name in self._definition:
                lines.add(f"from {self._package}.definition import {name}")
            elif name in self._implementation:
                lines.add(f"from {self._package}.impl import {name}")
            else:
                of_cells: Sequence[Statement] = self._imports
                if name in self._ours:
                    of_cells = ()
                lines |= import_lines(name, of_cells, self._homes, openhands=self._openhands)
        theirs = "from openhands.sdk import Observation"
        if self._makes_observations and theirs in lines:
            lines.remove(theirs)
            lines.add(
                f"from {self._package}.results import {_result_class(self._package)} as Observation"
            )
        return sorted(line.replace(PACKAGE, self._package) for line in lines)


def _makes_observations(division: Division) -> bool:
    """Tell whether the user's code calls `Observation` itself.

    The SDK allows only objects of its subclasses.
    """
    for statement in (*division.definition.statements, *division.implementation.statements):
        for part in ast.walk(statement.node):
            function = getattr(part, "func", None)
            if function and ast.unparse(function) in ("Observation", "Observation.from_text"):
                return True
    return False


def _init(
    parts: Sequence[ToolParts],
    create: Sequence[str],
    imports: Sequence[str],
    package: str,
    *,
    openhands: bool,
) -> str:
    classes = sorted({part.tool_class for part in parts})
    making, head = list[str](), {"from typing import Any"}
    for line in imports:
        if line.startswith(f"from {package}.definition "):
            head.add(line)
        else:
            making.append(f"    {line}\n")
    body, registered = "".join(making), ""
    if making:
        body += "\n"
    for name in classes:
        head.add(f"from {package}.definition import {name}")
        registered += f"register_tool({name}.name, {name})\n"
    if openhands:
        head.add("from openhands.sdk import register_tool")
        registered = f"\n\n{registered}"
    else:
        registered = ""
    expressions = ", ".join(dict.fromkeys(f"*{expression}" for expression in create))
    noun = "tool" if len(parts) == 1 else "tools"
    names = ", ".join(f'"{name}"' for name in sorted([*classes, "create_tools"]))
    return (
        f'"""The {noun} {_listed(part.tool.name for part in parts)}."""\n\n'
        f"{grouped(head, package)}\n\n"
        f"__all__ = [{names}]\n\n\n"
        "def create_tools() -> list[Any]:\n"
        '    """Return the tools, ready to be called."""\n'
        f"{body}    return [{expressions}]\n{registered}"
    )


def _with_import(
    statement: Statement,
    parts: Sequence[ToolParts],
    implemented: frozenset[str],
    package: str,
) -> str:
    """Return the code of *statement*. If it is a tool's class, add an import to its `create`.

    The import is for the names that only the method `create` uses and that `impl.py` defines.
    *implemented* are the names that `impl.py` defines.
    """
    node = statement.node
    for part in parts:
        names = sorted(part.lazy & implemented)
        if names and isinstance(node, ast.ClassDef) and node.name == part.tool_class:
            return _inserted(statement, f"from {package}.impl import {', '.join(names)}")
    return statement.code


def _inserted(statement: Statement, line: str) -> str:
    """Return the code of a class with *line* added at the start of its method `create`."""
    [tree] = ast.parse(statement.code).body
    lines = statement.code.splitlines()
    for node in getattr(tree, "body", ()):
        if isinstance(node, ast.FunctionDef) and node.name == "create":
            body = node.body
            begin = body[1] if ast.get_docstring(node) and len(body) > 1 else body[0]
            if begin.lineno in (node.lineno, body[0].lineno) and begin is not body[0]:
                begin = body[0]
            before = lines[begin.lineno - 1].encode()[: begin.col_offset].decode()
            # `def create(cls): return ...`
            if before.strip():
                rest = lines[begin.lineno - 1][len(before) :]
                space = " " * (node.col_offset + 4)
                lines[begin.lineno - 1] = f"{before}\n{space}{line}\n{space}{rest}"
            else:
                lines.insert(begin.lineno - 1, f"{before}{line}\n")
    return "\n".join(lines)


def _text(about: str, future: str, imports: str, code: Iterable[str], written: str) -> str:
    head = "\n\n".join(filter(None, (f'"""{about}"""', future, imports)))
    parts = [*code, *([written.rstrip()] if written else [])]
    text, gap = head, "\n\n"
    for part in parts:
        around = "\n\n\n" if "\n" in part else "\n"
        text += f"{max(gap, around)}{part}"
        gap = around
    return text + "\n"


def _result_class(package: str) -> str:
    """Return the name of the class for results of functions.

    It contains the name of the package, because the SDK accepts each class name only once in a
    process.
    """
    return "".join(word.capitalize() for word in package.split("_")) + "Result"


def _listed(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


_RESULTS = '''\
"""Turn the result of a function into an observation."""

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from openhands.sdk import Observation
from pydantic_core import to_json


class TextObservation(Observation):
    """The result of a function, as text."""


def observation_of(result: Any) -> Observation:
    """Return *result* as an observation: text as it is, anything else as JSON."""
    if inspect.isasyncgen(result):
        result = _collected(result)
    if inspect.isawaitable(result):  # in a thread of its own: there may be a loop in this one
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(asyncio.run, _awaited(result)).result()
    if inspect.isgenerator(result):
        result = list(result)
    if isinstance(result, Observation):
        return result
    return TextObservation.from_text(_text_of(result))


async def _awaited(result: Any) -> Any:
    return await result


async def _collected(result: Any) -> list[Any]:
    return [item async for item in result]


def _text_of(result: Any) -> str:
    if result is None:
        return "Done. Nothing was returned."
    if isinstance(result, str):
        return result
    try:
        return to_json(result, indent=2, fallback=str).decode()
    except ValueError:  # it contains itself, or bytes that are not text
        return str(result)
'''
_SECRETS = '''\
"""The secrets of these tools: in the keyring, as `keyring set toolbench NAME` stores them, or the environment."""

import os
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Secret:
    """A secret, known by its name."""

    name: str

    def value(self) -> str:
        """Return the value."""
        value = _in_keyring(self.name) or os.environ.get(self.name)
        if not value:
            raise OSError(f"Set {self.name} in the environment: this tool needs it.")
        return value


def secret(name: str) -> Any:
    """Return the secret *name*, the default of a parameter that is filled in."""
    return Secret(name)


def _in_keyring(name: str) -> str | None:
    try:
        return import_module("keyring").get_password("toolbench", name)
    except Exception:  # not installed, locked, or there is none: the environment is next
        return None
'''
