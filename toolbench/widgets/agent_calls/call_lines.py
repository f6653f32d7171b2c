"""A list of the calls that agents made of served tools, with one line for each call."""

from weakref import WeakKeyDictionary

from toolbench.display.escape import Html
from toolbench.serving.call import ServedCall
from toolbench.serving.served_view import outcome, subject, written_once
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.lines.message_lines import MessageLines, columns

# Of 100 lines each, so 1,000 calls: the server keeps no more
_PIECES = 10
_NOTHING = "No call has arrived yet."


def call_lines(parts: Parts) -> MessageLines[ServedCall]:
    """Return an empty list of lines for calls. *parts* makes the widgets."""
    return MessageLines(parts, line_html, noun="call", nothing=_NOTHING, pieces=_PIECES)


_lines: WeakKeyDictionary[ServedCall, Html] = WeakKeyDictionary()


def line_html(call: ServedCall) -> Html:
    """Return the line of *call* as HTML. The line of an ended call is made only once."""
    return written_once(_lines, call, _line_html)


def _line_html(call: ServedCall) -> Html:
    """Write the line of *call*: number, time, direction, call, outcome, duration."""
    texts = (
        f"#{call.id}",
        f"{call.started.astimezone():%H:%M:%S}",
        "←",
        subject(call),
        outcome(call),
        f"{call.seconds * 1000:,.0f} ms" if call.is_over else "",
    )
    is_failed = call.state == "error" and not call.by_hand
    return columns(texts, at=call.started.timestamp(), is_failed=is_failed)
