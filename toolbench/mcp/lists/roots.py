"""The folders (roots) that a server may ask for; they can change during a connection.

Source: MCP specification, roots.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from toolbench.core.background_loop import portal
from toolbench.mcp.client_features import ClientFeatures, root_url
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.lists.remote_list import ItemList

if TYPE_CHECKING:
    from toolbench.mcp.connection.connection import Connection


class RootList(ItemList[str]):
    """The roots of one session, as file URLs; `change(*folders)` replaces them."""

    def __init__(self, connection: ReconnectingConnection, features: ClientFeatures) -> None:
        """Create the list of the roots in *features*, which are offered over *connection*."""
        self._connection = connection
        self._features = features

    def items(self) -> list[str]:
        """Return the roots as file URLs."""
        return list(self._features.roots)

    @property
    def known_items(self) -> list[str]:
        """The roots as file URLs."""
        return self.items()

    @property
    def is_declared(self) -> bool:
        """Whether the client declared the roots capability when it connected.

        If not, the server will not ask for roots; `session.reconnect()` declares the capability.
        """
        connection = self._connection
        return connection.status == "connected" and connection.current.declares_roots

    def change(self, *folders: str | Path) -> None:
        """Replace the roots by *folders*, which are paths or file URLs, and notify the server.

        Only servers of the older protocol (MCP 2025-11-25 and before) are notified. In the newer
        protocol, a server asks for the roots whenever a call needs them.

        Raises:
            ToolbenchError: If one of *folders* is not a folder. The roots then stay unchanged.
        """
        portal.call(self._change, [root_url(folder) for folder in folders])

    async def _change(self, urls: list[str]) -> None:
        if urls == self._features.roots:
            return
        self._features.roots[:] = urls
        if self.is_declared and not self._connection.current.is_modern:
            await self._connection.use(_announce)


async def _announce(connection: "Connection") -> None:
    from mcp_types import RootsListChangedNotification  # noqa: PLC0415 - the SDK, loaded by now

    await connection.session.send_notification(RootsListChangedNotification())
