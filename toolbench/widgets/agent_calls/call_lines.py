"""A list of the calls that agents made of served tools, with one line for each call."""

from weakref import WeakKeyDictionary

from toolbench.serving.call import ServedCall
from toolbench.serving.served_view import outcome, subject, written_once
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.lines.message_lines import Line, MessageLines, one_line

# Of 100 lines each, so 1,000 calls: the server keeps no more
_PIECES = 10
_NOTHING = "No call has arrived yet."


def call_lines(parts: Parts) -> MessageLines[ServedCall]:
    """Return an empty list of lines for calls. *parts* makes the widgets."""
    return MessageLines(
        parts,
        line_of,
        label="Calls",
        opens="Open call",
        noun="call",
        nothing=_NOTHING,
        pieces=_PIECES,
    )


_lines: WeakKeyDictionary[ServedCall, Line] = WeakKeyDictionary()


def line_of(call: ServedCall) -> Line:
    """Return the line of *call*. The line of an ended call is made only once."""
    return written_once(_lines, call, _line_of)


def _line_of(call: ServedCall) -> Line:
    duration = ""
    if call.is_over:
        duration = f"{call.seconds * 1000:,.0f} ms"
    return Line(
        number=call.id,
        at=int(call.started.timestamp()),
        is_sent=False,
        subject=one_line(subject(call)),
        outcome=one_line(outcome(call)),
        duration=duration,
        is_failed=call.state == "error" and not call.by_hand,
    )
