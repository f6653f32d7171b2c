"""%mcp registry: find servers in an MCP registry."""

from argparse import Namespace
from typing import TYPE_CHECKING

from toolbench.display.caps import shorten
from toolbench.display.escape import on_one_line
from toolbench.magics.commands import Argument, Command
from toolbench.magics.line import count
from toolbench.magics.table import Listing

if TYPE_CHECKING:
    from toolbench.magics.mcp_magics import MCPMagics

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
