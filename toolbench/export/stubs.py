"""`export_stubs`: a module with a function for each tool of a server."""

import builtins
import re
from collections.abc import Iterable, Iterator, Mapping
from keyword import kwlist
from pathlib import Path
from string import Template
from typing import Any, Protocol

from pydantic import BaseModel

from toolbench.core.foreign import safe_attribute
from toolbench.core.tool import ToolDefinition
from toolbench.errors import SchemaError
from toolbench.files import write_named
from toolbench.jsonschema.node import Node, read
from toolbench.jsonschema.types import type_of
from toolbench.redaction.known import remembered
from toolbench.wording import words_of

_SIMPLE = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
}
# A field must not have such a name: below the field, the name would no longer mean the type.
_TYPES = frozenset({*_SIMPLE.values(), "Any", "Field", "Literal", "dict", "list"})
# A schema can refer to itself in very many ways, so two limits end the writing of classes.
# Levels; below, the type is `Any`
_DEEPEST = 8
# Of one schema; further objects are dicts
_MOST_CLASSES = 60
_MOST_CHOICES = 200
_IMPORTED = {
    "Any",
    "BaseModel",
    "ConfigDict",
    "Field",
    "Literal",
    "MCPToolObservation",
}
_ANYTHING: Mapping[str, Any] = {"type": "object"}


class ToolServer(Protocol):
    """A protocol: a connected server, such as `client.servers["name"]`."""

    @property
    def name(self) -> str:
        """The name of the server in this client."""

    @property
    def tools(self) -> Iterable[ToolDefinition[Any, Any]]:
        """The tools of the server."""


def export_stubs(session: ToolServer, file: str | Path, *, overwrite: bool = False) -> Path:
    """Write a Python module with a typed function for each tool of a server.

    Each function calls the tool of the same name on the connected server. Its only parameter is a
    pydantic model of the tool's arguments, so that editors and type checkers can check them. Rules
    that types cannot express, such as patterns, are checked against the server's schema in each
    call.

    Args:
        session: A connected server: `client.servers["name"]`.
        file: The path of the module to write.
        overwrite: Whether to replace a file that has other content.

    Returns:
        The path of the module.

    Raises:
        FileError: If the file exists with other content, or cannot be written.

    Examples:
        >>> from toolbench.export import export_stubs
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("shop")
        >>> schema = {"type": "object", "properties": {"sku": {"type": "integer"}}}
        >>> server.answer("price", {"eur": 3}, schema=schema)
        >>> with create_mcp_tools(server) as client:
        ...     file = export_stubs(client.servers["shop"], "shop_tools.py")
        >>> [line for line in file.read_text().splitlines() if line.startswith("def price")]
        ['def price(arguments: PriceArguments) -> MCPToolObservation:']
    """
    text = remembered.redactor.text(stubs_for(session.name, session.tools))
    return write_named(file, text, overwrite=overwrite, is_private=True)


def stubs_for(server: str, tools: Iterable[ToolDefinition[Any, Any]]) -> str:
    """Return the text of the module for *tools* of the server called *server*."""
    names_in_use = {
        *_IMPORTED,
        *kwlist,
        "SERVER",
        "connected",
        "annotations",
        *dir(builtins),
    }
    classes, functions = ModelClasses(names_in_use), list[str]()
    for tool in tools:
        name = str(getattr(tool, "remote_name", tool.name))
        function = function_name(name, names_in_use)
        about = f"The arguments of {name!r}."
        arguments = _added(classes, f"{class_name(name)}Arguments", tool.input_schema, about)
        result = getattr(tool, "output_schema", None)
        if isinstance(result, Mapping):
            about = f"The result of {name!r} in `structured`."
            _added(classes, f"{class_name(name)}Result", result, about)
        functions.append(
            f"def {function}(arguments: {arguments}) -> MCPToolObservation:\n"
            f"    {docstring(tool.description)}\n"
            f"    return _call({name!r}, arguments)\n"
        )
    about = docstring(f"The tools of the MCP server {server!r}, written by toolbench.")
    head = _HEAD.substitute(about=about, server=repr(server))
    return "\n\n".join(filter(None, [head, classes.text, *functions]))


class ModelClasses:
    """Writes pydantic classes for JSON Schemas, with different names in one module."""

    def __init__(self, names_in_use: set[str]) -> None:
        """Begin without classes. No class will get one of *names_in_use*."""
        self._names_in_use = names_in_use
        self._texts: list[str] = []
        self._classes: dict[tuple[int, str], str] = {}
        self._left = 0

    @property
    def text(self) -> str:
        """The text of all classes."""
        return "\n\n\n".join(self._texts)

    def add(self, name: str, schema: Mapping[str, Any], about: str) -> str:
        """Add a class for the objects that *schema* accepts; return its name.

        Args:
            name: The preferred name of the class.
            schema: The JSON Schema of an object.
            about: The docstring of the class.
        """
        node = read(schema)
        self._left = _MOST_CLASSES
        return self._class_of(node, name, about, depth=0)

    def _class_of(self, node: Node, name: str, about: str, *, depth: int) -> str:
        self._left -= 1
        name = unique(class_name(name), self._names_in_use)
        key = (id(node.view), node.definition)
        if node.definition:
            self._classes[key] = name
        lines = list(self._fields(node, name, depth))
        extra = "forbid" if node.is_closed else "allow"
        config = f'    model_config = ConfigDict(extra="{extra}")\n'
        text = f"class {name}(BaseModel):\n    {docstring(about)}\n"
        self._texts.append(f"{text}\n{config}{''.join(lines)}".rstrip())
        return name

    def _fields(self, node: Node, owner: str, depth: int) -> Iterator[str]:
        classes = {name for name in self._names_in_use if name[:1].isupper()}
        names = {*dir(BaseModel), *_TYPES, *classes, "model_config"}
        for key, part in node.properties.items():
            attribute = safe_attribute(key, names)
            names.add(attribute)
            hint = self._hint(part, f"{owner} {key}", depth + 1)
            options = list[str]()
            if key not in node.required:
                options.append("default=None")
                if hint != "Any" and "None" not in hint.split(" | "):
                    hint = f"{hint} | None"
            if attribute != key:
                options.append(f"alias={key!r}")
            if part.description:
                options.append(f"description={part.description!r}")
            line = f"    {attribute}: {hint}"
            if options == ["default=None"]:
                line += " = None"
            elif options:
                line += f" = Field({', '.join(options)})"
            yield f"{line}\n"

    def _hint(self, node: Node, place: str, depth: int) -> str:
        if depth > _DEEPEST:
            return "Any"
        hints = list[str]()
        for one in node.alternatives or (node,):
            hints.append(self._own_hint(one, place, depth))
        if node.takes_null:
            hints.append("None")
        if "Any" in hints:
            return "Any"
        return " | ".join(dict.fromkeys(hints))

    def _own_hint(self, node: Node, place: str, depth: int) -> str:
        if node.values and len(node.values) <= _MOST_CHOICES:
            return _literal(node.values)
        if node.type == "object":
            return self._object_hint(node, place, depth)
        if node.type == "array":
            return f"list[{self._inner_hint(node.items, f'{place} item', depth)}]"
        return _SIMPLE.get(node.type or "", "Any")

    def _inner_hint(self, node: Node | None, place: str, depth: int) -> str:
        if node is None:
            return "Any"
        return self._hint(node, place, depth + 1)

    def _object_hint(self, node: Node, place: str, depth: int) -> str:
        key = (id(node.view), node.definition)
        if node.definition and key in self._classes:
            return self._classes[key]
        if not node.properties:
            return f"dict[str, {self._inner_hint(node.additional, f'{place} value', depth)}]"
        if self._left <= 0:
            return "dict[str, Any]"
        return self._class_of(node, node.definition or place, node.description, depth=depth)


def _literal(values: list[Any]) -> str:
    """Return the type annotation for a value that is one of *values*.

    This is `Literal[...]` or, if a value is not allowed in a `Literal`, the types of the values.
    """
    if all(isinstance(value, str | bool | int) or value is None for value in values):
        return f"Literal[{', '.join(map(repr, values))}]"
    kinds = {_SIMPLE.get(type_of(value) or "", "Any") for value in values}
    if "Any" in kinds:
        return "Any"
    return " | ".join(sorted(kinds))


def class_name(words: str) -> str:
    """Return the name of a class, made from *words*."""
    name = ""
    for word in re.findall("[A-Za-z0-9]+", words):
        name += word[:1].upper() + word[1:]
    if not name[:1].isalpha():
        name = f"Model{name}"
    return name


def function_name(name: str, names_in_use: set[str]) -> str:
    """Return a function name for the tool called *name*; it is not in *names_in_use*."""
    plain = "_".join(words_of(name)) or "tool"
    return unique(safe_attribute(plain, names_in_use), names_in_use)


def unique(name: str, names_in_use: set[str]) -> str:
    """Return *name*, with a number if it is in *names_in_use*, and add it to *names_in_use*."""
    free, number = name, 2
    while free in names_in_use:
        free, number = f"{name}{number}", number + 1
    names_in_use.add(free)
    return free


def docstring(text: str) -> str:
    """Return *text* as a docstring. *text* is not trusted, and nothing in it ends the docstring."""
    return repr(text.strip() or "No description.")


def _added(classes: ModelClasses, name: str, schema: Mapping[str, Any], about: str) -> str:
    try:
        return classes.add(name, schema, about)
    except SchemaError:
        # A call of the tool explains the error of its schema
        return classes.add(name, _ANYTHING, about)


_HEAD = Template('''\
$about

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from toolbench.mcp import MCPToolObservation
from toolbench.mcp.servers import connected

SERVER = $server


def _call(name: str, arguments: BaseModel) -> MCPToolObservation:
    """Call the tool *name* of the connected server with the fields of *arguments* that were set."""
    sent = arguments.model_dump(mode="json", by_alias=True, exclude_unset=True)
    result: MCPToolObservation = connected.tool(SERVER, name)(sent)
    return result

''')
