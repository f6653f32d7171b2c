"""What %mcp lists of servers: tables, and below them what could not be listed."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from toolbench.magics.listing import Listing

if TYPE_CHECKING:
    from toolbench.mcp.discover import DiscoveredServer
    from toolbench.mcp.session import MCPServerSession

_NO_SERVERS = (
    "No server yet. %mcp connect NAME -- COMMAND starts one, "
    "%mcp connect NAME URL reaches one, %mcp discover finds some."
)


def servers(sessions: "Iterable[MCPServerSession]") -> Listing:
    """List servers: the state of each, and why it is in it."""
    return Listing(
        ("server", "status", "protocol", "tools", "note"),
        [
            (s.name, s.status, s.protocol_version or "", len(s.tools), s.error or "")
            for s in sessions
        ],
        _NO_SERVERS,
    )


def tools(session: "MCPServerSession") -> Listing:
    """List the tools of a server, then those that cannot be called, each with its reason."""
    disabled = [
        f"Cannot be called: {tool.name!r}: {tool.reason}"
        for tool in session.disabled_tools
    ]
    return Listing(
        (f"tool of {session.name}", "what it does"),
        [(t.name, _first_line(t.description)) for t in session.tools],
        _nothing(session, "tools"),
        notes=[*disabled, *session.problems],
    )


def resources(session: "MCPServerSession") -> Listing:
    """List the resources of a server, then its templates."""
    if session.status != "connected":
        return _not_there(session)
    return Listing(
        ("resource", "name", "type"),
        [
            *((r.uri, r.title or r.name, r.mime_type) for r in session.resources),
            *(
                (t.uri_template, t.title or t.name, t.mime_type or "template")
                for t in session.templates
            ),
        ],
        _nothing(session, "resources"),
    )


def prompts(session: "MCPServerSession") -> Listing:
    """List the prompts of a server, and what each is told."""
    if session.status != "connected":
        return _not_there(session)
    return Listing(
        ("prompt", "arguments", "what it does"),
        [
            (
                prompt.name,
                ", ".join(
                    a.name if a.required else f"[{a.name}]" for a in prompt.arguments
                ),
                _first_line(prompt.description),
            )
            for prompt in session.prompts
        ],
        _nothing(session, "prompts"),
    )


def found(discovered: "Iterable[DiscoveredServer]") -> Listing:
    """List the servers other programs are configured with, and how each is connected here."""
    return Listing(
        ("server", "from", "how", "in"),
        [(s.name, s.source, s.summary, s.path) for s in discovered],
        "No program on this machine is configured with MCP servers.",
        notes=["%mcp connect --config FILE --only NAME connects one."],
    )


def _lines(what: str) -> "Callable[[MCPServerSession], Listing]":
    def show(session: "MCPServerSession") -> Listing:
        rows = [(line,) for line in getattr(session, what)]
        return Listing((f"{what} of {session.name}",), rows, "Nothing so far.")

    return show


LOOKS: "dict[str, tuple[str, Callable[[MCPServerSession], Listing]]]" = {
    "tools": ("its tools", tools),
    "resources": ("its resources, and templates of some", resources),
    "prompts": ("its prompts", prompts),
    "log": ("what it logged", _lines("log")),
    "stderr": ("what it wrote to stderr", _lines("stderr")),
    "traffic": ("the messages that went back and forth", _lines("traffic")),
}
"""The sub-commands that look at one server: what each shows, in words, and how."""


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _nothing(session: "MCPServerSession", what: str) -> str:
    if session.status != "connected":
        return _why(session)
    return f"{session.name} has no {what}."


def _not_there(session: "MCPServerSession") -> Listing:
    return Listing((), (), _why(session))


def _why(session: "MCPServerSession") -> str:
    reason = session.error or "it is not connected"
    again = f"%mcp reconnect {session.name} tries again."
    return f"{session.name} ({session.status}): {reason}\n{again}"
