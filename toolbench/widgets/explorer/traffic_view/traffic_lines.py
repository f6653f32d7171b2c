"""The lines of the traffic. A request and its answer share one line."""

from toolbench.display.escape import Html
from toolbench.mcp.monitoring.traffic import Exchange
from toolbench.widgets.explorer.panes.logs import clock
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.lines.message_lines import MessageLines, columns


def traffic_lines(parts: Parts) -> MessageLines[Exchange]:
    """Return an empty list of lines for exchanges. *parts* makes the widgets."""
    return MessageLines(parts, line_html, noun="exchange", nothing="No message matches.")


def line_html(exchange: Exchange) -> Html:
    """Return the line of *exchange*: number, time, direction, subject, outcome, duration."""
    message = exchange.message
    texts = (
        f"#{message.id}",
        clock(message.time)[:8],
        "→" if message.direction == "sent" else "←",
        exchange.subject,
        exchange.outcome,
        exchange.took,
    )
    return columns(texts, at=message.time, is_failed=exchange.is_failed)
