"""%mcp registry, and %mcp connect --registry: find servers in an MCP registry, and connect them."""

from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from toolbench.display.caps import shorten
from toolbench.display.escape import on_one_line
from toolbench.errors import ConsentError, ServerError
from toolbench.magics.commands import Argument, Command
from toolbench.magics.line import count
from toolbench.magics.table import Listing
from toolbench.runs.input_prompt import ask_in_cell, require_yes
from toolbench.runs.questions import Question

if TYPE_CHECKING:
    from toolbench.magics.mcp_magics import MCPMagics
    from toolbench.mcp.config.registry import RegisteredServer
    from toolbench.mcp.config.registry_file import Way
    from toolbench.mcp.config.server_entry import ServerEntry

# Servers that a line without --limit shows
_LIMIT = 20
# Characters of one text of a server
_LONGEST = 200


def _registry(magics: "MCPMagics", options: Namespace) -> Listing:
    from toolbench.mcp.config.registry import search  # noqa: PLC0415 - brings toolbench.mcp

    limit = options.limit or _LIMIT
    servers, has_more = search(magics.settings.registry, options.words, limit=limit)
    rows = []
    for server in servers:
        state = f"{server.status}: {server.status_message}".removesuffix(": ")
        version, about = server.text("version"), server.text("description")
        cells = (server.name, version, ", ".join(server.runs_by), state, about)
        rows.append(tuple(shorten(on_one_line(cell), _LONGEST) for cell in cells))
    notes = []
    if rows:
        notes.append(
            "%mcp connect NAME --registry ID connects one, after a form and your approval."
        )
    if has_more:
        notes.append(f"There are more: --limit {2 * limit}, or more words.")
    columns = ("registry ID", "version", "how it runs", "status", "what it is for")
    nothing = "The registry has no such server: it looks for the first word in their names."
    return Listing(columns, rows, nothing, notes=notes)


def connect(
    magics: "MCPMagics", options: Namespace, open_entry: "Callable[[str, ServerEntry], Listing]"
) -> Any:
    """Connect a server of the registry, with values that the user gives.

    In a notebook, return a form that connects the server when the user has filled it in. In a
    terminal, ask the user for each value, connect the server, and return a table of its tools.

    Args:
        magics: The magics of the notebook.
        options: The parsed line.
        open_entry: A function that connects a server, and returns a table of its tools. Its
            arguments are the server's name and configuration entry.

    Raises:
        ConsentError: If the user at a terminal declines, or cannot be asked.
        ServerError: If the registry does not have the server, or if the server cannot be used.
    """
    # They bring toolbench.mcp
    from toolbench.mcp.config.registry import get_server  # noqa: PLC0415
    from toolbench.mcp.config.registry_file import ways  # noqa: PLC0415

    server = get_server(magics.settings.registry, options.registry, options.version or "latest")
    if server.status == "deleted":
        msg = f"{server.name} was deleted there. {server.status_message}".strip()
        raise ServerError(on_one_line(msg))
    name = options.name or server.name.rpartition("/")[2]
    found = ways(server.document)
    # A terminal shows no widgets
    if hasattr(magics.shell, "kernel"):
        from toolbench.widgets.registry_form import RegistryForm  # noqa: PLC0415 - with its form

        return RegistryForm(name, server, found, lambda entry: open_entry(name, entry))
    return open_entry(name, _asked_for(name, server, found))


def _asked_for(name: str, server: "RegisteredServer", found: "Mapping[str, Way]") -> "ServerEntry":
    """Ask the user for the values that *server* needs, and return its configuration entry.

    The user also has to approve the result.
    """
    from toolbench.mcp.trust.configurations import (  # noqa: PLC0415 - brings toolbench.mcp
        connection_question,
    )

    label = next(iter(found))
    if len(found) > 1:
        how = {"type": "object", "properties": {"how": {"enum": [*found]}}, "required": ["how"]}
        label = _filled(server, how)["how"]
    way = found[label]
    values: Mapping[str, Any] = {}
    if way.asks:
        values = _filled(server, way.schema)
    question = connection_question(name, way.entry(values, with_marks=True), server.source)
    require_yes(
        question,
        refused=f"{name} was not connected: you declined.",
        unasked=f"{name} was not connected: nobody can be asked.\n{question.message}",
    )
    return way.entry(values)


def _filled(server: "RegisteredServer", schema: dict[str, Any]) -> Mapping[str, Any]:
    # Not recorded: a script in a pipe is not asked, and waits for nobody
    answer = ask_in_cell(Question(f"{server.source} asks for:", schema, is_recorded=False))
    if not answer:
        msg = f"{server.source} was not connected: its questions have no answer."
        raise ConsentError(msg)
    return answer.content or {}


COMMANDS = {
    "registry": Command(
        "find servers in an MCP registry",
        _registry,
        (
            Argument("words", nargs="*", default=[], metavar="WORD", help="a part of the name"),
            Argument("--limit", type=count, metavar="N", help="show at most this many"),
        ),
    ),
}
"""The command of `%mcp` that asks a registry."""
