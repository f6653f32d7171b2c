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

_OPENING = ("initialize", "server/discover")
# It stays open as long as the connection; how long that is says nothing
_STREAM = "subscriptions/listen"
_KINDS: dict[str, Kind] = {
    **dict.fromkeys((*_OPENING, _STREAM), "connection"),
    "notifications/progress": "progress",
    "notifications/message": "log",
}
# Characters of a text
_LONGEST = 500


def spans_of_session(session: "MCPServerSession") -> Iterator[Span]:
    """Yield the spans of what *session* sent and received, and of the lines on the server's stderr."""
    exchanges = paired(session.traffic)
    ends = _ends(exchanges, is_connected=session.is_connected)
    for exchange in exchanges:
        yield _span(session.name, exchange, ends.get(exchange.id))
    lane = f"{session.name} received"
    for began, line in session.stderr.timed():
        text = STYLE.sub("", line)
        yield Span(lane, "stderr", "stderr", began, began, "ok", text=text, server=session.name)


def _ends(exchanges: Sequence[Exchange], *, is_connected: bool) -> dict[int, float]:
    """Return when the requests ended that will get no answer: cancelled, or of a connection that is lost."""
    ends, waiting = dict[int, float](), dict[tuple[str, str], Exchange]()
    for exchange in exchanges:
        message = exchange.message
        if message.method in _OPENING:
            ends |= {each.id: message.time for each in waiting.values()}
            waiting.clear()
        if exchange.before is not None:
            continue
        if message.kind == "request" and exchange.answer is None:
            waiting[message.direction, str(message.request_id)] = exchange
        elif message.method == "notifications/cancelled":
            key = message.direction, str(params_of(message).get("requestId"))
            if key in waiting:
                ends[waiting.pop(key).id] = message.time
    if not is_connected:
        ends |= {each.id: exchanges[-1].message.time for each in waiting.values()}
    return ends


def _span(server: str, exchange: Exchange, cut: float | None) -> Span:
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
    end, state = _end(exchange, cut)
    return Span(
        f"{server} {message.direction}",
        _KINDS.get(message.method, kind),
        name,
        message.time,
        end,
        state,
        text=text,
        key=f"message:{server}:{message.id}",
        tool=tool,
        server=server,
        method=message.method,
    )


def _asks(exchange: Exchange) -> bool:
    """Tell whether the server asks the user."""
    return exchange.message.method == "elicitation/create"


def _end(exchange: Exchange, cut: float | None) -> tuple[float, State]:
    """Return when *exchange* ended, and how; it was *cut* off then."""
    last = exchange.answer or exchange.message
    if exchange.before is not None:
        return last.time, "ok"
    if last.kind in ("error", "noise"):
        return last.time, "failed"
    if cut is not None and exchange.message.method != _STREAM:
        return cut, "failed"
    state: State = "open"
    if _asks(exchange):
        state = "waiting"
    if last.kind == "request" and exchange.message.method != _STREAM:
        return time(), state
    if state == "open":
        state = "ok"
    return last.time, state


def _said(params: dict[str, Any]) -> str:
    """Return what *params* say in words, if they do so as log messages, progress and questions do."""
    words = params.get("message") or params.get("data") or params
    if isinstance(words, str):
        return words[:_LONGEST]
    if not words:
        return ""
    return clip(words, _LONGEST)
