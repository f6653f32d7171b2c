"""Report the new tools of a connected server to the listener of its client."""

import logging
from collections.abc import Callable, Iterable, Sequence
from threading import Thread
from typing import Protocol
from weakref import ref

from toolbench.mcp.tool import MCPToolDefinition

ToolsChanged = Callable[[Sequence[MCPToolDefinition]], object]
"""A function that takes the new tools of a server."""

_log = logging.getLogger(__name__)


class Client(Protocol):
    """The protocol of clients that have a listener for new tools."""

    on_tools_changed: ToolsChanged | None

    @property
    def tools(self) -> Iterable[MCPToolDefinition]:
        """The tools of all servers."""


def report_new_tools(client: "ref[Client]", server: str, names: tuple[str, ...]) -> None:
    """Call the listener of *client* with the tools *names* of *server*.

    This is done in a new thread, because the listener may call the tools. Nothing is done if the
    client is gone.
    """
    known = client()
    if known is not None and known.on_tools_changed is not None:
        Thread(target=_report, args=(known, server, names), daemon=True).start()


def _report(client: Client, server: str, names: tuple[str, ...]) -> None:
    added = [t for t in client.tools if t.server == server and t.remote_name in names]
    if client.on_tools_changed is None or not added:
        return
    try:
        client.on_tools_changed(added)
    except Exception:  # noqa: BLE001 - the person's own function: the tools work anyway
        _log.exception("on_tools_changed failed for %d new tools", len(added))
