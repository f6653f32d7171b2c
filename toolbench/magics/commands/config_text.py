"""The text that %mcp save writes: the configuration of the connected servers."""

from collections.abc import Iterable
from json import dumps
from typing import TYPE_CHECKING

from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.mcp.session import MCPServerSession


def config_text(sessions: "Iterable[MCPServerSession]") -> tuple[str, list[str]]:
    """Return the configuration of *sessions* as a text, and sentences about the configuration."""
    from toolbench.mcp.config.writer import write_config  # noqa: PLC0415 - with the first server

    sessions = list(sessions)
    others = [session.name for session in sessions if not session.protocol_version]
    written = write_config(s for s in sessions if s.protocol_version)
    servers = counted(len(written.config["mcpServers"]), "server")
    notes = [f"It has {servers}. %mcp connect --config FILE connects them again."]
    if written.variables:
        names = ", ".join(written.variables)
        notes.append(
            f"Secrets are not in the file. Set these variables before you use it: {names}."
        )
    if written.left_out:
        names = ", ".join(written.left_out)
        notes.append(f"Left out, because they exist in this session only: {names}.")
    if others:
        names = ", ".join(others)
        notes.append(f"Left out, because they did not connect: {names}.")
    if names := ", ".join(written.without_objects):
        notes.append(f"The objects in 'auth' are not in the file: add them to {names}.")
    return f"{dumps(written.config, indent=2, ensure_ascii=False)}\n", notes
