"""The messages and stderr of a server as spans of a timeline, with a lane for each direction."""

from collections.abc import Iterator
from time import time
from typing import TYPE_CHECKING, Any

from toolbench.display.escape import STYLE
from toolbench.display.timeline import Kind, Span, State
from toolbench.mcp.monitoring.traffic import STREAM, Exchange, paired, params_of
from toolbench.values import clip
from toolbench.wording import ANSWER

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

_QUESTION = "elicitation/create"
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("initialize", "server/discover", STREAM), "connection"),
    "notifications/progress": "progress",
    "notifications/message": "log",
}
_STATES: dict[str, State] = {"error": "failed", "cancelled": "failed", "waiting": "open"}
"""The state of a span for each state of its exchange; for other states it is `ok`."""
# The most characters of a span's text
_LONGEST = 500


def spans_of_session(session: "MCPServerSession") -> Iterator[Span]:
    """Yield the spans of messages that *session* sent and received, and of lines on stderr."""
    for exchange in paired(session.traffic):
        yield _span(session.name, exchange)
    lane = f"{session.name} received"
    for began, line in session.stderr.timed():
        text = STYLE.sub("", line)
        yield Span(lane, "stderr", "stderr", began, began, "ok", text=text, server=session.name)


def _span(server: str, exchange: Exchange) -> Span:
    message, params = exchange.message, dict[str, Any]()
    if message.kind == "notification" or message.method == _QUESTION:
        params = params_of(message)
    tool = exchange.tool
    kind: Kind = "request"
    if message.kind in ("notification", "noise"):
        kind = message.kind
    end, state = _end(exchange)
    return Span(
        f"{server} {message.direction}",
        _KINDS.get(message.method, kind),
        tool or exchange.subject,
        message.time,
        end,
        state,
        text=exchange.outcome or _said(params),
        key=f"message:{server}:{message.id}",
        tool=tool,
        server=server,
        method=message.method,
    )


def _end(exchange: Exchange) -> tuple[float, State]:
    """Return when *exchange* ended, and how."""
    message = exchange.message
    state = _STATES.get(exchange.state, "ok")
    if message.method == STREAM and state != "failed":
        # The time for which the stream was open means nothing
        return message.time, "ok"
    end = exchange.ended or time()
    # A question that a preset answered immediately did not wait
    if message.method == _QUESTION and (
        state == "open" or (state == "ok" and end - message.time >= ANSWER)
    ):
        state = "waiting"
    return end, state


def _said(params: dict[str, Any]) -> str:
    """Return the text in *params* of a log message, progress or question; else all of *params*."""
    words = params.get("message") or params.get("data") or params
    if isinstance(words, str):
        return words[:_LONGEST]
    if not words:
        return ""
    return clip(words, _LONGEST)
