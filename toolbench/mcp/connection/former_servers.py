"""The servers that were disconnected, and advice on how to connect them again."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol
from weakref import ref

from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress
from toolbench.errors import did_you_mean
from toolbench.mcp.server_html import status_words

AnyTool = ToolDefinition[Any, Any]


class _Tools(Protocol):
    @property
    def raw(self) -> Mapping[str, Any]: ...


class _Session(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def tools(self) -> _Tools: ...


class _Client(Protocol):
    servers: Any
    former: Any


def take_back(client: "ref[_Client]", session: _Session) -> None:
    """Move *session*, which is connected again, from the former servers of *client* to its servers.

    A line, a button of the explorer or the method of the session may have connected it.
    """
    known = client()
    if known is not None and known.former.get(session.name) is session:
        known.servers[session.name] = session
        del known.former[session.name]


def no_server(name: str, sessions: Mapping[str, _Session], former: Mapping[str, _Session]) -> str:
    """Return a message: the server *name* is not among *sessions*, but perhaps it is in *former*."""
    if name in former:
        return f"Server {name!r} is disconnected. {way_back(name)}"
    states = [f"{s.name} ({status_words(s.status)})" for s in sessions.values()]
    known = f" There is: {', '.join(states)}." if states else ""
    return f"No server {name!r}.{did_you_mean(name, {**sessions, **former}) or known}"


def way_back(server: str) -> str:
    """Return a sentence that says how to connect *server* again, which was disconnected."""
    return f"%mcp reconnect {server}, or reconnect({server!r}) of its client, connects it again."


def way_to_tool(sessions: Mapping[str, _Session], tool: str, connected: Iterable[AnyTool]) -> str:
    """Return advice if servers have *tool* under other names, or its server is disconnected; else empty.

    Args:
        sessions: The sessions of the disconnected servers, by name.
        tool: The name or the address of a tool.
        connected: The tools of the connected servers.
    """
    addresses = dict.fromkeys(map(ToolAddress.of, connected))
    names = [repr(str(address)) for address in addresses if address.name == tool]
    verb = "are" if len(names) > 1 else "is"
    way = f" There {verb} {' and '.join(names)}." if names else ""
    for server, session in sessions.items():
        listed = (ToolAddress(server, name) for name in session.tools.raw)
        if any(tool in (one.name, str(one), one.full_name) for one in listed):
            subject = "Another one" if names else "It"
            return (
                f"{way} {subject} is a tool of server {server!r}, which is disconnected. "
                f"{way_back(server)}"
            )
    return way
