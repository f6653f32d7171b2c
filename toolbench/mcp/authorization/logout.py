"""Forget the tokens of a server."""

import os
from typing import TYPE_CHECKING

from toolbench.errors import ServerError
from toolbench.mcp.authorization.token_vault import vault

if TYPE_CHECKING:
    from toolbench.mcp.session import MCPServerSession


def log_out(session: "MCPServerSession") -> bool:
    """Forget the kept tokens of a server, and disconnect it, as the connection holds them too.

    The server itself is not asked to revoke them.

    Returns:
        Whether there were any tokens.

    Raises:
        ServerError: If the server has no URL.
    """
    entry = session.entry
    if entry.transport not in ("http", "sse"):
        msg = f"Server {session.name!r} is not reached by a URL: it has no tokens here."
        raise ServerError(msg)
    session.close()
    return vault.remove(entry.expanded(os.environ).url)
