"""Remove the tokens of a server, and ask its authorization server to revoke them."""

import os
from typing import TYPE_CHECKING

from toolbench.core.background_loop import portal
from toolbench.errors import ServerError
from toolbench.mcp.authorization.revocation import revoke
from toolbench.mcp.authorization.token_vault import vault

if TYPE_CHECKING:
    from toolbench.mcp.session import MCPServerSession


def log_out(session: "MCPServerSession") -> str:
    """Disconnect a server and remove its tokens from this machine.

    The authorization server is asked to revoke the tokens, if it can.

    Returns:
        The result, in sentences; empty if there were no tokens.

    Raises:
        ServerError: If the server has no URL.
    """
    entry = session.entry
    if entry.transport not in ("http", "sse"):
        msg = f"Server {session.name!r} is not reached by a URL: it has no tokens here."
        raise ServerError(msg)
    session.close()
    url = entry.expanded(os.environ).url
    items = vault.items(url)
    if not vault.remove(url):
        return ""
    outcome = "are still here: the keyring or the file refused to delete them"
    if not vault.items(url):
        outcome = "are gone from this machine"
    return f"Its tokens {outcome}. {portal.call(revoke, items, url)}".strip()
