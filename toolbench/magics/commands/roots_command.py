"""%mcp roots: the folders that a server may ask for, listed and replaced."""

from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from toolbench.magics.parsers import UsageError
from toolbench.magics.table import Listing

if TYPE_CHECKING:
    from toolbench.mcp.session import MCPServerSession


def add_parsers(commands: Any) -> None:
    """Add the sub-command `roots` to %mcp."""
    roots = commands.add_parser(
        "roots", help="the folders it may ask for; DIR... or --none replaces them"
    )
    roots.add_argument("name")
    roots.add_argument("folders", nargs="*", metavar="DIR")
    roots.add_argument("--none", action="store_true", help="remove all of them")


def _roots(options: Namespace, server: "Callable[[str], MCPServerSession]") -> Listing:
    if options.none and options.folders:
        msg = "Give folders or --none, not both."
        raise UsageError(msg)
    session = server(options.name)
    if options.none or options.folders:
        session.roots.change(*options.folders)
    needs_reconnect = session.roots and not session.roots.is_declared
    note = (
        f"{session.name} was connected without roots and does not ask for them: "
        f"%mcp reconnect {session.name} declares them."
    )
    return Listing(
        (f"root of {session.name}",),
        [(url,) for url in session.roots],
        f"{session.name} gets no roots. %mcp roots {session.name} DIR gives it one.",
        notes=[note] if needs_reconnect and session.is_connected else [],
    )


COMMANDS = {"roots": _roots}
"""The function of the sub-command."""
