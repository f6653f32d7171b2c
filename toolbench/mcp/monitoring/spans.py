"""The messages and lines of a server as spans of a timeline: two lanes, one for each direction."""

from collections.abc import Iterator, Sequence
from time import time
from typing import TYPE_CHECKING, Any

from toolbench.display.escape import STYLE
from toolbench.display.timeline import Kind, Span, State
from toolbench.mcp.monitoring.traffic import Exchange, paired, params_of
from toolbench.values import clip

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

_KINDS: dict[str, Kind] = {
    "initialize": "connection",
    "server/discover": "connection",
    "notifications/progress": "progress",
    "notifications/message": "log",
}
# Characters of a text
_LONGEST = 500


def spans_of_session(session: "MCPServerSession") -> Iterator[Span]:
    """Yield the spans of what *session* sent and received, and of the lines on the server's stderr."""
    exchanges = paired(session.traffic)
    ends = _cancelled(exchanges)
    for exchange in exchanges:
        message = exchange.message
        end = ends.get((message.direction, str(message.request_id)))
        yield _span(session, exchange, end)
    lane = f"{session.name} received"
    for began, line in session.stderr.timed():
        text = STYLE.sub("", line)
        yield Span(lane, "stderr", "stderr", began, began, "ok", text=text, server=session.name)


def _cancelled(exchanges: Sequence[Exchange]) -> dict[tuple[str, str], float]:
    """Return when requests were cancelled, by their directions and ids: they get no answer."""
    ends = dict[tuple[str, str], float]()
    for exchange in exchanges:
        message = exchange.message
        if message.method == "notifications/cancelled":
            key = message.direction, str(params_of(message).get("requestId"))
            ends[key] = message.time
    return ends


def _span(session: "MCPServerSession", exchange: Exchange, cancelled: float | None) -> Span:
    message, params = exchange.message, dict[str, Any]()
    if message.method == "tools/call" or message.kind == "notification" or _asks(exchange):
        params = params_of(message)
    tool, text = "", exchange.outcome or _said(params)
    name = exchange.subject
    if message.method == "tools/call":
        name = tool = str(params.get("name", ""))
    kind: Kind = "request"
    if message.kind in ("notification", "noise"):
        kind = message.kind
    end, state = _end(session, exchange, cancelled)
    return Span(
        f"{session.name} {message.direction}",
        _KINDS.get(message.method, kind),
        name,
        message.time,
        end,
        state,
        text=text,
        key=f"message:{session.name}:{message.id}",
        tool=tool,
        server=session.name,
        method=message.method,
    )


def _asks(exchange: Exchange) -> bool:
    """Tell whether the server asks a person."""
    return exchange.message.method == "elicitation/create"


def _end(
    session: "MCPServerSession", exchange: Exchange, cancelled: float | None
) -> tuple[float, State]:
    """Return when *exchange* ended, and how."""
    message, answer = exchange.message, exchange.answer
    if exchange.is_failed:
        return (answer or message).time, "failed"
    if answer is not None or message.kind != "request":
        state: State = "ok"
        if _asks(exchange):
            state = "waiting"
        return (answer or message).time, state
    if cancelled is not None:
        return cancelled, "failed"
    if not session.is_connected:
        return message.time, "failed"
    if _asks(exchange):
        return time(), "waiting"
    return time(), "open"


def _said(params: dict[str, Any]) -> str:
    """Return what *params* say in words, if they do so as log messages, progress and questions do."""
    words = params.get("message") or params.get("data") or params
    if isinstance(words, str):
        return words[:_LONGEST]
    if not words:
        return ""
    return clip(words, _LONGEST)
