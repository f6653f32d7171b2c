"""%mcp logout: disconnect a server, revoke its tokens where possible, and delete the tokens."""

from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolbench.mcp.session import MCPServerSession


def add_parsers(commands: Any) -> None:
    """Add the sub-command `logout` to %mcp."""
    logout = commands.add_parser(
        "logout", help="revoke and forget the tokens of a server, and disconnect it"
    )
    logout.add_argument("name")


def _logout(options: Namespace, server: "Callable[[str], MCPServerSession]") -> None:
    from toolbench.mcp.authorization.logout import log_out  # noqa: PLC0415 - with the first server

    session = server(options.name)
    if outcome := log_out(session):
        sentence = f"Logged out of {session.name}. {outcome}"
    else:
        sentence = f"No tokens of {session.name} were kept."
    print(f"{sentence} %mcp reconnect {session.name} connects again.")  # noqa: T201 - in the cell that asked


COMMANDS = {"logout": _logout}
"""The function of the sub-command."""
