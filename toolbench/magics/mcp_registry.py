"""%mcp registry, and %mcp connect --registry: find servers in an MCP registry, and connect them."""

from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from toolbench.display.caps import shorten
from toolbench.display.escape import on_one_line
from toolbench.errors import ConsentError, ServerError
from toolbench.magics.commands import Argument, Command
from toolbench.magics.line import count
from toolbench.magics.table import Listing
from toolbench.runs.dialogue import answer_here
from toolbench.runs.input_prompt import require_yes
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
    found = search(magics.settings.registry, options.words, limit=limit)
    rows = []
    for server in found.servers:
        state = server.status
        if server.status_message:
            state = f"{state}: {server.status_message}"
        about = server.text("description") or server.text("title")
        cells = (server.name, server.text("version"), ", ".join(server.runs_by), state, about)
        rows.append(tuple(shorten(on_one_line(cell), _LONGEST) for cell in cells))
    notes = []
    if rows:
        notes.append("%mcp connect NAME --registry ID connects one: a form, then your yes.")
    if found.has_more:
        notes.append(f"There are more: --limit {2 * limit}, or more words.")
    columns = ("registry ID", "version", "how it runs", "status", "what it is for")
    return Listing(columns, rows, _nothing(options.words), notes=notes)


def _nothing(words: list[str]) -> str:
    if not words:
        return "The registry has no servers."
    what = on_one_line(" ".join(words))
    return f"The registry has no server for {what!r}: it looks for the first word in their names."


def connect(
    magics: "MCPMagics", options: Namespace, open_entry: "Callable[[str, ServerEntry], Listing]"
) -> Any:
    """Return the form to connect the server that `--registry` names; a terminal asks for each value.

    Args:
        magics: The magics of the notebook.
        options: The parsed line.
        open_entry: Connects an entry under a name, and returns its tools.

    Raises:
        ConsentError: If a person at a terminal says no, or none is there.
        ServerError: If the registry has no such server, or it cannot be used.
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


def _asked_for(name: str, server: "RegisteredServer", found: "Sequence[Way]") -> "ServerEntry":
    """Return the entry of *server* with what a person at the terminal types, after a yes."""
    from toolbench.mcp.trust.configurations import (  # noqa: PLC0415 - brings toolbench.mcp
        connection_question,
    )

    way = found[0]
    if len(found) > 1:
        labels = {each.label: each for each in found}
        how = {"type": "object", "properties": {"how": {"enum": list(labels)}}, "required": ["how"]}
        way = labels[_filled(server, how)["how"]]
    values = {}
    if way.asks:
        values = _filled(server, way.schema)
    entry, shown = way.entry(values), way.entry(values, with_marks=True)
    question = connection_question(name, shown, f"{name}: {server.source}")
    require_yes(
        question,
        refused=f"{name} was not connected: you said no.",
        unasked=f"{name} was not connected: no person can be asked.\n{question.message}",
    )
    return entry


def _filled(server: "RegisteredServer", schema: dict[str, Any]) -> dict[str, Any]:
    # Not recorded: a script in a pipe is not asked, and waits for nobody
    question = Question(f"{server.source} asks for:", schema, is_recorded=False)
    answer = answer_here(question)
    if not answer:
        msg = f"{server.source} was not connected: its questions have no answer."
        raise ConsentError(msg)
    return dict(answer.content or {})


COMMANDS = {
    "registry": Command(
        "find servers in an MCP registry",
        _registry,
        (
            Argument("words", nargs="*", default=[], metavar="WORD", help="a part of the name"),
            Argument("--limit", type=count, metavar="N", help="show at most so many"),
        ),
    ),
}
"""The command of `%mcp` that asks a registry."""
