"""Make a snapshot of what a connected server offers."""

from typing import TYPE_CHECKING

from toolbench.mcp.snapshots.snapshot import Snapshot

if TYPE_CHECKING:
    from toolbench.mcp.session import MCPServerSession


def snapshot_of(session: "MCPServerSession") -> Snapshot:
    """Return a snapshot of what the server of *session* offers, without secrets."""
    templates = session.resources.templates
    offered = {
        "server": session.server_info,
        "protocolVersion": session.protocol_version,
        "capabilities": session.capabilities,
        "instructions": session.instructions,
        "tools": session.tools.raw,
        "disabled": {tool.name: tool.reason for tool in session.tools.disabled},
        "resources": {item.uri: dict(item.raw) for item in session.resources},
        "templates": {item.uri_template: dict(item.raw) for item in templates},
        "prompts": {prompt.name: dict(prompt.raw) for prompt in session.prompts},
    }
    return Snapshot.of(session.keep_secret(()).value(offered))
