"""The servers that were disconnected, and advice on how to connect them again."""

from collections.abc import Mapping
from typing import Any, Protocol


class _Tools(Protocol):
    @property
    def raw(self) -> Mapping[str, Any]: ...


class _Session(Protocol):
    @property
    def tools(self) -> _Tools: ...


def way_back(server: str) -> str:
    """Return a sentence that says how to connect *server* again, which was disconnected."""
    return (
        f"%mcp reconnect {server}, or reconnect({server!r}) of its client, connects it "
        "again."
    )


def way_to_tool(sessions: Mapping[str, _Session], tool: str) -> str:
    """Return advice if *tool* is a tool of a disconnected server; if not, an empty text.

    Args:
        sessions: The sessions of the disconnected servers, by name.
        tool: The name of a tool, or its full name: server, `_`, tool.
    """
    for server, session in sessions.items():
        if {tool, tool.removeprefix(f"{server}_")} & session.tools.raw.keys():
            return (
                f" It is a tool of server {server!r}, which is disconnected. "
                f"{way_back(server)}"
            )
    return ""
