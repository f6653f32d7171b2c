"""A timeline on the page: its spans as `frontend/src/timeline.ts` draws them, and the one that is opened.

The spans are sent in pieces of columns, in which a string is the number of a word. Only changed pieces
are sent again. The texts of spans are sent when the user begins to filter or opens a span.
"""

from collections.abc import Callable, Sequence
from functools import partial
from threading import RLock
from time import monotonic, perf_counter
from typing import Any

import ipywidgets as w
from traitlets import Dict, Float, List, Unicode

from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import shorten
from toolbench.display.css import PRE, REMARK
from toolbench.display.escape import NO_MATHS, Html, escape, on_one_line
from toolbench.display.page import badge, short
from toolbench.display.timeline import Span, Timeline
from toolbench.errors import ToolbenchError
from toolbench.mcp.monitoring.traffic import paired
from toolbench.mcp.servers import connected
from toolbench.runs.history import history
from toolbench.runs.record import RunRecord
from toolbench.widgets.explorer.tabs import Lock
from toolbench.widgets.explorer.traffic import OpenMessage
from toolbench.widgets.kit.parts import PANEL, Parts, put
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.panel.panel import ToolPanel
from toolbench.widgets.panel.run_list import record_html

ShowSpan = Callable[[Span], Html]
"""A function that returns the HTML of a span that is opened; empty if it does not know the span."""

# Spans of one piece
_PIECE = 500
# Seconds from one look at the present timeline to the next, and how many times longer than a look
_PERIOD, _SPARE = 1.0, 20
# Characters of a name or a text
_LONGEST = 500
# Seconds that a question may outlast its run by the clock
_LATE = 1.0
_WORDS = ("lane", "kind", "name", "state", "tool", "server", "method")
_NUMBERS = ("start", "waited", "tokens", "cost")
_TONES: dict[str, Any] = {"ok": "success", "failed": "danger", "waiting": "warning", "open": "info"}


class SpanPiece(w.Widget):
    """Some spans that follow each other, as the page has them. It is not shown itself."""

    columns: Any = Dict().tag(sync=True)
    """The spans, by columns; see `_columns`."""
    texts: Any = List().tag(sync=True)
    """The text of each span; empty until somebody looks for texts."""


class DrawnTimeline(w.VBox):
    """What the page draws of a timeline.

    The page sends the span that is opened (`open`, its place, with its `start` and `name`), whether the
    timeline is in sight (`shown`), and that texts are needed (`texts`).
    """

    lanes: Any = List().tag(sync=True)
    """The names of the lanes, from top to bottom."""
    pieces: Any = List().tag(sync=True, **w.widget_serialization)
    """The spans, each piece a `SpanPiece`, in the order in which the spans began."""
    filter = Unicode().tag(sync=True)
    """The filter that chose the spans; empty if none did."""
    now = Float().tag(sync=True)
    """The time until which the open spans go on, in seconds since the epoch."""


def _span_html(span: Span) -> Html:
    """Return what is known of a span that nothing else shows: a head, and its text."""
    head = f"<strong>{short(span.name)}</strong> {badge(span.state, _TONES[span.state])}"
    where = " · ".join(filter(None, (span.time, span.lane, span.kind)))
    html = f'<div {NO_MATHS}>{head} <span style="{REMARK}">{escape(where)}</span></div>'
    if span.text:
        html += f'<pre {NO_MATHS} style="{PRE};white-space:pre-wrap">{escape(span.text)}</pre>'
    return Html(html)


class TimelineView(LiveView):
    """A timeline: lanes to look at, the span that is opened, and tables. Saved, it is a picture with a table.

    A timeline that goes on is looked at again once a second, while it is in sight on a page.
    """

    def __init__(
        self, timeline: Timeline, lock: Lock | None = None, show: ShowSpan = lambda span: Html("")
    ) -> None:
        """Show *timeline*, and what happens later if it has a source.

        Args:
            timeline: The timeline.
            lock: The lock of what the timeline is a part of, which is reentrant; None: one of its own.
            show: Returns the HTML of an answer of a model; empty if it does not know the span.
        """
        self.timeline = timeline
        """The timeline as it was looked at last."""
        self._show, parts = show, Parts()
        self._is_shown = self._has_texts = False
        self._due = 0.0
        self.opened: OpenedSpan | None = None
        """The span that is open; None if none is."""
        self._plain = parts.html()
        self._drawn = parts.drawn(DrawnTimeline, "timeline", self._plain)
        self._place = parts.column(kind="toolbench-span-opened")
        # It has no spans of its own: the page has them already
        tables = parts.drawn(w.VBox, "spanTables")
        for part in (self._drawn, tables):
            part.on_msg(lambda _, content, buffers: self._hear(content))
        children = [parts.html(PANEL), self._drawn, self._place, tables]
        super().__init__(parts, lock or RLock(), children, "toolbench-timeline-box")
        self._send()

    def refresh(self) -> None:
        """Show what has happened since; only what changed is sent to the page."""
        begin = perf_counter()
        timeline = self.timeline.latest()
        with self._lock:
            if self.comm is None or timeline is self.timeline:
                return
            self.timeline = timeline
            self._send()
        self._due = monotonic() + max(_PERIOD, _SPARE * (perf_counter() - begin))

    def _send(self) -> None:
        timeline = self.timeline
        spans, pieces = timeline.spans, list(self._drawn.pieces)
        for number, place in enumerate(range(0, len(spans), _PIECE)):
            if number == len(pieces):
                pieces.append(SpanPiece())
                self._parts.adopt(pieces[-1])
            some, texts = spans[place : place + _PIECE], []
            if self._has_texts:
                texts = [_line(span.text) for span in some]
            # One message: a span and its text belong together
            with pieces[number].hold_sync():
                pieces[number].columns, pieces[number].texts = _columns(some), texts
        wanted = -(-len(spans) // _PIECE)
        with self._drawn.hold_sync():
            self._drawn.pieces = pieces[:wanted]
            self._drawn.lanes = [_line(lane) for lane in timeline.lanes()]
            self._drawn.filter = _line(timeline.filter)
            self._drawn.now = max((span.end for span in spans if span.state == "open"), default=0.0)
        self._parts.drop(pieces[wanted:])
        text = "\n".join((timeline.summary, *(span.description for span in timeline.longest())))
        put(self._plain, Html(f'<pre {NO_MATHS} style="{PRE}">{escape(text)}</pre>'))

    # --- what the page says -------------------------------------------------------------

    def _hear(self, content: Any) -> None:
        match content:
            case {"shown": bool(is_shown)}:
                self._is_shown = is_shown
                if is_shown:
                    ticker.watch(self._tick)
            case {"texts": True} if not self._has_texts:
                with self._lock:
                    self._has_texts = True
                    self._send()
            case {"open": int(place), "start": int() | float() as start, "name": str(name)}:
                spans = self.timeline.spans
                # Others may have come before it since the page was told its place
                for span in (*spans[place : place + 1], *spans):
                    if (span.start, _line(span.name)) == (start, name):
                        self.show_span(span)
                        return

    def _tick(self) -> bool:
        """Look at the timeline if it is time. Return whether it is still in sight."""
        if self._is_shown and self.comm is not None and monotonic() >= self._due:
            self.refresh()
        return self._is_shown and self.comm is not None

    def show_span(self, span: Span) -> None:
        """Show *span* below the lanes in place of the one before, unless a run goes on there."""
        if self.opened is not None and self.opened.is_busy:
            self.opened.say("A tool is running here: wait, or cancel it.")
        else:
            self._put(OpenedSpan(span, self._lock, lambda: self._put(None), self._show))

    def _put(self, opened: "OpenedSpan | None") -> None:
        with self._lock:
            old, self.opened = self.opened, opened
            self._place.children = [view.widget for view in self._views()]
        if old is not None:
            old.close()

    def _views(self) -> "list[OpenedSpan]":
        if self.opened is None:
            return []
        return [self.opened]

    def _static(self) -> dict[str, Any]:
        return dict(self.timeline._repr_mimebundle_())

    def __repr__(self) -> str:
        # ipywidgets would write out every child
        return f"<TimelineView of {self.timeline.summary}>"


def _columns(spans: Sequence[Span]) -> dict[str, list[Any]]:
    """Return *spans* by columns for the page: what is open has no end."""
    words: dict[str, int] = {}
    columns: dict[str, list[Any]] = {}
    for name in _WORDS:
        strings = [_line(getattr(span, name)) for span in spans]
        columns[name] = [words.setdefault(each, len(words)) for each in strings]
    for name in _NUMBERS:
        columns[name] = [getattr(span, name) for span in spans]
    columns["end"] = [_end(span) for span in spans]
    return {**columns, "words": list(words)}


def _end(span: Span) -> float | None:
    if span.state == "open":
        return None
    return span.end


def _line(text: str) -> str:
    """Return *text*, which may be a server's, as the page gets it: no line breaks, no hidden characters."""
    return on_one_line(shorten(text, _LONGEST))


# --- the open span ------------------------------------------------------------------------


class OpenedSpan:
    """One span: the run as the history shows it, the message as the explorer does, or its text."""

    def __init__(self, span: Span, lock: Lock, close: Callable[[], object], show: ShowSpan) -> None:
        """Open *span*; the button *Close* calls *close*. *show* returns the HTML of an answer."""
        self._lock, self._close, self._server = lock, close, span.server
        self._parts = parts = Parts()
        self._panel: ToolPanel | None = None
        self._message: OpenMessage | None = None
        self._said = parts.html()
        kind = span.key.partition(":")[0]
        if kind == "message":
            self._message = self._message_of(span)
        if self._message is not None:
            children = [self._message.widget, self._said]
        else:
            html, buttons = None, [parts.button("Close", close), self._said]
            record = _record_of(span)
            if record is not None:
                html = record_html(record)
                tip = "Put its arguments into the form of its tool"
                load = parts.button("Load", partial(self._load, record), tip=tip)
                buttons.insert(0, load)
            elif kind == "event":
                html = show(span)
            children = [parts.html(html or _span_html(span)), parts.row(*buttons)]
        self.widget = parts.column(*children)
        """The widget that contains all."""

    def _message_of(self, span: Span) -> OpenMessage | None:
        """Return the view of the message of *span*; None if it is not kept any more."""
        session = connected.session(span.server)
        if session is not None:
            for exchange in paired(session.traffic):
                is_it = span.key == f"message:{span.server}:{exchange.id}"
                # A server that was connected anew counts its messages anew
                if is_it and span.start == exchange.message.time:
                    message = OpenMessage(session, self._lock, self._use_tool, self._close)
                    message.show(exchange)
                    return message
        return None

    def _load(self, record: RunRecord) -> None:
        try:
            self._open_panel(record.find_tool()).put_back_run(record)
        except ToolbenchError as error:
            self.say(str(error))

    def _use_tool(self, name: str, arguments: dict[str, Any], *, is_run: bool) -> bool:
        session = connected.session(self._server)
        if session is None or name not in session.tools.raw:
            return False
        panel = self._open_panel(session.tools[name])
        panel.edit(arguments)
        if is_run:
            panel.run()
        return True

    def _open_panel(self, tool: ToolDefinition[Any, Any]) -> ToolPanel:
        with self._lock:
            if self._panel is None:
                self._panel = ToolPanel(tool)
                self.widget.children = (*self.widget.children, self._panel)
            return self._panel

    def say(self, words: str) -> None:
        """Say beside the buttons why nothing was done."""
        put(self._said, Html(f'<span class="toolbench-wrong">{escape(words)}</span>'))

    @property
    def is_busy(self) -> bool:
        """Whether a tool runs in the panel."""
        return self._panel is not None and self._panel.is_busy

    def close(self) -> None:
        """Close all widgets; what runs is cancelled."""
        for view in (self._panel, self._message):
            if view is not None:
                view.close()
        self._parts.close()


def _record_of(span: Span) -> RunRecord | None:
    """Return the record of the run that *span* belongs to; None if it goes on, or is not kept any more."""
    for record in reversed(history()[:]):
        start = record.started.timestamp()
        # Runs of another session may have the same numbers
        is_then = start <= span.start <= start + record.seconds + record.waited + _LATE
        if span.key == f"run:{record.id}" and is_then and span.state != "open":
            return record
    return None
