"""The Python modules of a package: `definition.py`, `impl.py`, `__init__.py`, and `results.py`."""

import ast
from collections.abc import Iterable, Sequence
from textwrap import indent

from toolbench.export.code.statements import Statement
from toolbench.export.project.division import RESULTS, Division
from toolbench.export.project.imports import grouped, import_lines, written_homes
from toolbench.export.tool_code.tool_parts import PACKAGE, ToolParts


def modules_for(
    parts: Sequence[ToolParts], division: Division, package: str, *, openhands: bool
) -> dict[str, str]:
    """Return the text of each module of *package* with the tools of *parts*, by its file name.

    *division* has the code of *parts*.

    Raises:
        ExportError: If an import would not work in a package.
    """
    imports = _Imports(division, package, openhands=openhands)
    first, second = division.definition, division.implementation
    tools = _listed(part.tool.name for part in parts)
    files = {
        "definition.py": _text(
            f"The name, the input and the output of {tools}.",
            division.future,
            imports.of_definition(),
            [_with_import(s, parts, second.gives, package) for s in first.statements],
            first.written.replace(f"from {PACKAGE}.impl ", f"from {package}.impl "),
        ),
        "impl.py": _text(
            f"The code that does the work of {tools}.",
            division.future,
            imports.of_implementation(),
            [s.code for s in second.statements],
            second.written,
        ),
        "__init__.py": _init(
            parts, division.create, imports.of_making(), package, openhands=openhands
        ),
    }
    if openhands and any(f"from {package}.results " in text for text in files.values()):
        files["results.py"] = _RESULTS.replace("TextObservation", _result_class(package))
    return files


class _Imports:
    """Writes the import lines of each module of the package."""

    def __init__(self, division: Division, package: str, *, openhands: bool) -> None:
        self._division, self._package, self._openhands = division, package, openhands
        self._homes = written_homes(openhands=openhands)

    def of_definition(self) -> str:
        """Return the import lines of `definition.py`, also for names that the person's `create` uses."""
        division = self._division
        names = (division.definition.uses | division.lazy) - division.definition.gives
        return self._grouped(self._lines(names - division.implementation.gives))

    def of_implementation(self) -> str:
        """Return the import lines of `impl.py`."""
        half, defined = self._division.implementation, self._division.definition.gives
        names = half.uses - half.gives
        package = self._package
        lines = [f"from {package}.definition import {name}" for name in names & defined]
        if self._openhands:
            lines += [
                f"from {package}.results import {self._imported(name)}"
                for name in names
                if self._division.aliases.get(name, name) in RESULTS
            ]
        return self._grouped([*lines, *self._lines(names - defined)])

    def of_making(self) -> list[str]:
        """Return the import lines for `create_tools()`, without the classes of the tools."""
        defined, implemented = (
            self._division.definition.gives,
            self._division.implementation.gives,
        )
        names, package = self._division.making, self._package
        return [
            *(f"from {package}.definition import {name}" for name in sorted(names & defined)),
            *(f"from {package}.impl import {name}" for name in sorted(names & implemented)),
            *self._lines(names - defined - implemented),
        ]

    def _lines(self, names: Iterable[str]) -> list[str]:
        imports = self._division.imports
        lines = import_lines(names, imports, self._homes, openhands=self._openhands)
        aliases = self._division.aliases
        lines += [
            f"from {self._homes[aliases[name]]} import {self._imported(name)}"
            for name in names
            if aliases.get(name) in self._homes
        ]
        if not (self._openhands and self._makes_observations()):
            return lines
        own = f"from {self._package}.results import {_result_class(self._package)} as Observation"
        return [own if line == "from openhands.sdk import Observation" else line for line in lines]

    def _imported(self, name: str) -> str:
        own = self._division.aliases.get(name, name)
        return own if own == name else f"{own} as {name}"

    def _makes_observations(self) -> bool:
        """Tell whether a person's code makes objects of `Observation`, which the SDK refuses."""
        halves = self._division.definition, self._division.implementation
        statements = [s for half in halves for s in half.statements]
        return any(
            isinstance(part, ast.Call)
            and ast.unparse(part.func) in ("Observation", "Observation.from_text")
            for statement in statements
            for part in ast.walk(statement.node)
        )

    def _grouped(self, lines: Iterable[str]) -> str:
        return grouped(lines, self._package)


def _init(
    parts: Sequence[ToolParts],
    create: Sequence[str],
    imports: Sequence[str],
    package: str,
    *,
    openhands: bool,
) -> str:
    classes = sorted({part.tool_class for part in parts})
    making = sorted(line for line in imports if f"from {package}.definition " not in line)
    body = indent("\n".join(making), "    ") + "\n\n" if making else ""
    expressions = ", ".join(dict.fromkeys(f"*{expression}" for expression in create))
    registered = "".join(f"register_tool({name}.name, {name})\n" for name in classes)
    definition = sorted(
        {line for line in imports if line not in making}
        | {f"from {package}.definition import {name}" for name in classes}
    )
    lines = ["from typing import Any", *definition]
    if openhands:
        lines.append("from openhands.sdk import register_tool")
    noun = "tool" if len(parts) == 1 else "tools"
    names = ", ".join(f'"{name}"' for name in sorted([*classes, "create_tools"]))
    return (
        f'"""The {noun} {_listed(part.tool.name for part in parts)}."""\n\n'
        f"{grouped(lines, package)}\n\n"
        f"__all__ = [{names}]\n\n\n"
        "def create_tools() -> list[Any]:\n"
        '    """Return the tools, ready to be called."""\n'
        f"{body}    return [{expressions}]\n" + (f"\n\n{registered}" if openhands else "")
    )


def _with_import(
    statement: Statement,
    parts: Sequence[ToolParts],
    implemented: frozenset[str],
    package: str,
) -> str:
    """Return the code of *statement*. In a tool's class, `create` also imports the names it needs.

    These are the names that only `create` uses and that `impl.py` defines:
    *implemented*.
    """
    node = statement.node
    for part in parts:
        names = sorted(part.lazy & implemented)
        if names and isinstance(node, ast.ClassDef) and node.name == part.tool_class:
            return _inserted(statement, f"from {package}.impl import {', '.join(names)}")
    return statement.code


def _inserted(statement: Statement, line: str) -> str:
    """Return the code of *statement*, a class, with *line* added at the start of its `create`."""
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

    It contains the name of the package: the SDK accepts each class name only once in a process.
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
