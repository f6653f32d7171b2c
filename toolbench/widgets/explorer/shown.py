"""Clients and servers as a cell's last expression: the explorer, and text where none can be."""

from typing import Any

from toolbench.display.servers import client_bundle, server_bundle
from toolbench.mcp.client import MCPClient
from toolbench.runs.shell import running_shell
from toolbench.widgets.explorer.explorer import Explorer


def client_view(client: MCPClient, **options: Any) -> Any:
    """Return the mime bundle of a client: its explorer, and what is read without a kernel."""
    if not _has_widgets():
        return client_bundle(client)
    return Explorer(client)._repr_mimebundle_(**options)


def server_view(session: Any, **options: Any) -> Any:
    """Return the mime bundle of one server: its explorer, and what is read without a kernel."""
    if not _has_widgets():
        return server_bundle(session)
    shown = Explorer({session.name: session})._repr_mimebundle_(**options)
    return {**shown, **server_bundle(session)}


def _has_widgets() -> bool:
    """Whether this is a kernel: a terminal shows no widgets."""
    return hasattr(running_shell(), "kernel")
