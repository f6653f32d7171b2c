"""The view of MCP servers without widgets: their state and their tools."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.html.css import REMARK, TEXT_COLOR, TEXT_FONT
from toolbench.display.html.markdown import markdown_html
from toolbench.display.page import Tone, badge, notice
from toolbench.display.render import to_text
from toolbench.display.tables import table_html, table_text
from toolbench.wording import counted

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


class Server(Protocol):
    """The attributes of a server's session that views read; no attribute waits for the server."""

    name: str
    tools: Any

    @property
    def status(self) -> str:
        """The state of the connection to the server, in a word."""

    @property
    def error(self) -> str | None:
        """The reason why the server cannot be reached or lists no tools; None if there is none."""

    @property
    def protocol_version(self) -> str | None:
        """The version of MCP that the connection uses; None if it is not known yet."""

    @property
    def instructions(self) -> str:
        """The server's own instructions for its use; empty if there are none."""


def status_words(status: str) -> str:
    """Return the words for *status*, the state of the connection to a server."""
    return _WORDS.get(status, status)


def status_badge(status: str) -> Html:
    """Return a badge that shows *status* in words, in the colour for this status."""
    return badge(status_words(status), _TONES.get(status, "neutral"))


def server_bundle(server: Server, **options: Any) -> dict[str, str]:
    """Return the mime bundle of *server*: text, and HTML that needs no kernel."""
    table = _Tools(server.tools)
    lines = [_line(server), *([server.error] if server.error else [])]
    text = to_text("\n".join(lines))
    if server.tools:
        text += f"\n{table_text(table)}"
    return {"text/plain": text, "text/html": _framed(_server_html(server))}


def client_bundle(client: Any, **options: Any) -> dict[str, str]:
    """Return the mime bundle of all servers of *client*: text, and HTML that needs no kernel."""
    # It may change in another thread
    servers: Mapping[str, Server] = dict(client.servers)
    if not servers:
        return {"text/plain": "No servers."}
    parts = [server_bundle(server)["text/plain"] for server in servers.values()]
    html = "".join(map(_server_html, servers.values()))
    return {"text/plain": "\n\n".join(parts), "text/html": _framed(html)}


def _line(server: Server) -> str:
    protocol = f", MCP {server.protocol_version}" if server.protocol_version else ""
    tools = counted(len(server.tools), "tool")
    return f"{server.name}: {status_words(server.status)}{protocol}, {tools}"


def _server_html(server: Server) -> str:
    version = server.protocol_version
    marks = [status_badge(server.status)]
    marks += [badge(f"protocol {version}")] if version else []
    error = notice(server.error, "danger") if server.error else ""
    instructions = server.instructions.strip()
    about = markdown_html(instructions, limit=_INSTRUCTIONS) if instructions else ""
    count = f'<span style="{REMARK}">{counted(len(server.tools), "tool")}</span>'
    table = table_html(_Tools(server.tools)) if server.tools else ""
    return (
        f'<div style="margin:0 0 10px"><div style="margin-bottom:4px"><strong>'
        f"{escape(server.name)}</strong> {''.join(marks)}{count}</div>{error}{about}{table}</div>"
    )


def _framed(html: str) -> Html:
    return Html(f'<div {NO_MATHS} style="{TEXT_FONT};{TEXT_COLOR}">{html}</div>')


class _Tools:
    """The tools of a server as a table: a row for each tool, labelled with the name of the tool."""

    columns: Sequence[str] = ("what it does",)

    def __init__(self, tools: Sequence[Any]) -> None:
        self._tools = tools

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._tools), 1

    def itertuples(
        self,
        index: bool = True,  # noqa: FBT001, FBT002 - pandas' signature
        name: None = None,
    ) -> Iterable[Any]:
        for tool in self._tools:
            yield tool.name, tool.description.strip().partition("\n")[0]
