"""The lines of the traffic. A request and its answer share one line."""

from toolbench.mcp.monitoring.traffic import Exchange
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.lines.message_lines import Line, MessageLines, one_line


def traffic_lines(parts: Parts) -> MessageLines[Exchange]:
    """Return an empty list of lines for exchanges. *parts* makes the widgets."""
    return MessageLines(
        parts,
        line_of,
        label="Messages",
        opens="Open message",
        noun="exchange",
        nothing="No message matches.",
    )


def line_of(exchange: Exchange) -> Line:
    """Return the line of *exchange*."""
    message = exchange.message
    return Line(
        number=message.id,
        at=int(message.time),
        is_sent=message.direction == "sent",
        subject=one_line(exchange.subject),
        outcome=one_line(exchange.outcome),
        duration=exchange.took,
        is_failed=exchange.is_failed,
    )
