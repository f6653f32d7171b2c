"""Show servers without widgets: the state of each connection, and the tools."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolbench.display.caps import left_out, text_line
from toolbench.display.css import REMARK, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.markdown import markdown_html
from toolbench.display.page import Tone, badge, notice
from toolbench.display.render import to_text
from toolbench.display.tables import ROWS, listing_html

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

_WORDS: dict[str, str] = {
    "new": "not connected yet",
    "connecting": "connecting…",
    "incomplete": "connected, but without its tools",
    "lost": "connection lost",
    "failed": "did not connect",
    "closed": "disconnected",
}
_TONES: dict[str, Tone] = {
    "connected": "success",
    "incomplete": "warning",
    "failed": "danger",
    "lost": "danger",
    "connecting": "info",
}
# Characters
_INSTRUCTIONS = 2_000


def status_words(status: str) -> str:
    """Return *status*, the state of a server's connection, in words."""
    return _WORDS.get(status, status)


def status_badge(status: str) -> Html:
    """Return a badge with *status* in words and a matching colour."""
    return badge(status_words(status), _TONES.get(status, "neutral"))


def server_bundle(server: "MCPServerSession") -> dict[str, str]:
    """Return the mime bundle of *server*: text, and HTML that needs no kernel."""
    return {"text/plain": _server_text(server), "text/html": _framed(_server_html(server))}


def client_bundle(client: Any) -> dict[str, str]:
    """Return the mime bundle that shows all servers of *client*, as text and as static HTML.

    Args:
        client: Any object with `servers`, a mapping of sessions by name.
    """
    # A copy, because another thread may change it
    servers: Mapping[str, MCPServerSession] = dict(client.servers)
    if not servers:
        return {"text/plain": "No servers."}
    text = "\n\n".join(map(_server_text, servers.values()))
    html = "".join(map(_server_html, servers.values()))
    return {"text/plain": text, "text/html": _framed(html)}


def _server_text(server: "MCPServerSession") -> str:
    protocol = ""
    if server.protocol_version:
        protocol = f", MCP {server.protocol_version}"
    lines = [f"{server.name}: {status_words(server.status)}{protocol}, {server.tools.count_words}"]
    if server.error:
        lines.append(server.error)
    rows, notes = _tools_of(server)
    lines += [f"  {text_line(name)}: {text_line(purpose)}" for name, purpose in rows]
    return to_text("\n".join(lines + notes))


def _server_html(server: "MCPServerSession") -> str:
    parts = [f"<strong>{escape(server.name)}</strong> {status_badge(server.status)}"]
    if server.protocol_version:
        parts.append(badge(f"protocol {server.protocol_version}"))
    html = f'<div style="margin-bottom:4px">{"".join(parts)}</div>'
    if server.error:
        html += notice(server.error, "danger")
    if server.instructions.strip():
        html += markdown_html(server.instructions.strip(), limit=_INSTRUCTIONS)
    rows, notes = _tools_of(server)
    if rows:
        html += listing_html((server.tools.count_words, "what it does"), rows, notes)
    else:
        html += f'<span style="{REMARK}">{server.tools.count_words}</span>'
    return f'<div style="margin:0 0 10px">{html}</div>'


def _tools_of(server: "MCPServerSession") -> tuple[list[tuple[str, str]], list[str]]:
    """Return the names and purposes of the first tools, and notes about the others."""
    tools = server.tools
    rows = [(tool.name, tool.description.strip().partition("\n")[0]) for tool in tools[:ROWS]]
    if len(tools) > ROWS:
        return rows, [left_out(len(tools) - ROWS, "tool")]
    return rows, []


def _framed(html: str) -> Html:
    return Html(f'<div {NO_MATHS} style="{TEXT_FONT};{TEXT_COLOR}">{html}</div>')
