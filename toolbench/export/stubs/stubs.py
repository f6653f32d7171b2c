"""`export_stubs`: a module with a function for each tool of a server."""

import builtins
from collections.abc import Iterable, Mapping
from keyword import kwlist
from pathlib import Path
from string import Template
from typing import Any, Protocol

from toolbench.core.tool import ToolDefinition
from toolbench.errors import SchemaError
from toolbench.export.stubs.model_classes import (
    ModelClasses,
    class_name,
    docstring,
    function_name,
)
from toolbench.files import write_named
from toolbench.redaction.known import remembered

_IMPORTED = {
    "Annotated",
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
    """Write a typed module for the tools of a server: pydantic models, and a function for each.

    Each function takes a model with the arguments, and calls the tool of the same name on the
    connected server. The types are for editors and type checkers. Rules that types cannot express
    (patterns, formats, conditions) are checked against the server's schema when the tool is called.

    Args:
        session: A connected server: `client.servers["name"]`.
        file: The module to write.
        overwrite: Replace a file that has other content.

    Returns:
        The file.

    Raises:
        FileError: If the file exists with other content, or cannot be written.
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


def _added(classes: ModelClasses, name: str, schema: Mapping[str, Any], about: str) -> str:
    try:
        return classes.add(name, schema, about)
    except SchemaError:
        # A call of the tool explains the error of its schema
        return classes.add(name, _ANYTHING, about)


_HEAD = Template('''\
$about

from __future__ import annotations

from typing import Annotated, Any, Literal

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
