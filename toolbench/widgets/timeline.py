"""A timeline on the page: its spans, which `frontend/src/timeline.ts` draws, and the opened span.

The spans are sent in pieces, each as one list per attribute, with numbers in place of repeated
strings. Only changed pieces are sent again. The texts of the spans are sent only when the user
starts to filter or opens a span.
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
"""A function that returns the HTML to show for an opened span; empty to show the span's text."""

# The number of spans in one piece
_PIECE = 500
# Least seconds between two updates, also as a multiple of the time that an update takes
_PERIOD, _SPARE = 1.0, 20
# Characters of a name or a text
_LONGEST = 500
# Seconds by which a question's time may exceed that of its run
_LATE = 1.0
_WORDS = ("lane", "kind", "name", "state", "tool", "server", "method")
_NUMBERS = ("start", "waited", "tokens", "cost")
_TONES: dict[str, Any] = {"ok": "success", "failed": "danger", "waiting": "warning", "open": "info"}


class SpanPiece(w.Widget):
    """Some consecutive spans, as they are sent to the page. The piece itself is not displayed."""

    columns: Any = Dict().tag(sync=True)
    """The spans, by columns; see `_columns`."""
    texts: Any = List().tag(sync=True)
    """The text of each span; empty until the page needs texts."""


class DrawnTimeline(w.VBox):
    """The widget that draws a timeline on the page.

    The page sends three kinds of messages. The message `open` contains the index of the span that
    the user has opened, and its `start` and `name`. The message `shown` says whether the timeline
    is visible. The message `texts` requests the texts of all spans.
    """

    lanes: Any = List().tag(sync=True)
    """The names of the lanes, from top to bottom."""
    pieces: Any = List().tag(sync=True, **w.widget_serialization)
    """The pieces with the spans, in the order in which the spans began."""
    filter = Unicode().tag(sync=True)
    """The filter that selected the spans; empty if there was none."""
    now = Float().tag(sync=True)
    """The time up to which open spans are drawn, in seconds since the epoch."""


def _span_html(span: Span) -> Html:
    """Return the heading and text of a span that has no other view."""
    head = f"<strong>{short(span.name)}</strong> {badge(span.state, _TONES[span.state])}"
    where = " · ".join(filter(None, (span.time, span.lane, span.kind)))
    html = f'<div {NO_MATHS}>{head} <span style="{REMARK}">{escape(where)}</span></div>'
    if span.text:
        html += f'<pre {NO_MATHS} style="{PRE};white-space:pre-wrap">{escape(span.text)}</pre>'
    return Html(html)


class TimelineView(LiveView):
    """A timeline as a widget: its spans in lanes, the open span, and tables.

    If the timeline has a source, it is updated once a second while it is visible on a page. A saved
    notebook contains a picture and a table of the timeline.
    """

    def __init__(
        self, timeline: Timeline, lock: Lock | None = None, show: ShowSpan = lambda span: Html("")
    ) -> None:
        """Show *timeline* and, if it has a source, the spans that are added later.

        Args:
            timeline: The timeline.
            lock: The reentrant lock of the view that contains this one; None for a new lock.
            show: A function that returns the HTML to show for the span of a model's answer. If it
                returns an empty string, the span's text is shown.
        """
        self.timeline = timeline
        """The timeline as of the last update."""
        self._show, parts = show, Parts()
        self._is_shown = self._has_texts = False
        self._due = 0.0
        self.opened: OpenedSpan | None = None
        """The open span; None if no span is open."""
        self._plain = parts.html()
        self._drawn = parts.drawn(DrawnTimeline, "timeline", self._plain)
        self._place = parts.column(kind="toolbench-span-opened")
        # It needs no spans, because the page already has them
        tables = parts.drawn(w.VBox, "spanTables")
        for part in (self._drawn, tables):
            part.on_msg(lambda _, content, buffers: self._hear(content))
        children = [parts.html(PANEL), self._drawn, self._place, tables]
        super().__init__(parts, lock or RLock(), children, "toolbench-timeline-box")
        self._send()

    def refresh(self) -> None:
        """Add what has happened since the last update. Only changes are sent to the page."""
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
            # One message, because a span and its text belong together
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
                # Its place may have changed since it was sent to the page
                for span in (*spans[place : place + 1], *spans):
                    if (span.start, _line(span.name)) == (start, name):
                        self.show_span(span)
                        return

    def _tick(self) -> bool:
        """Update the timeline if it is time. Return whether it is still visible."""
        if self._is_shown and self.comm is not None and monotonic() >= self._due:
            self.refresh()
        return self._is_shown and self.comm is not None

    def show_span(self, span: Span) -> None:
        """Open *span* below the lanes, and close the previous one, unless a tool runs there."""
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
    """Return *spans* in the form of `SpanPiece.columns`: one list for each attribute.

    In place of a string, a list has the index of the string in the list `words`. The end of a span
    that has not ended is None.
    """
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
    """Return *text*, which may come from a server, on one line without hidden characters."""
    return on_one_line(shorten(text, _LONGEST))


# --- the open span ------------------------------------------------------------------------


class OpenedSpan:
    """The details of one span: its run, its message with the answer, or only its text."""

    def __init__(self, span: Span, lock: Lock, close: Callable[[], object], show: ShowSpan) -> None:
        """Open *span*. The button *Close* calls *close*. For *show* see `TimelineView`."""
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
        """The widget that contains all others."""

    def _message_of(self, span: Span) -> OpenMessage | None:
        """Return the view of the message of *span*; None if the message is no longer kept."""
        session = connected.session(span.server)
        if session is not None:
            for exchange in paired(session.traffic):
                is_it = span.key == f"message:{span.server}:{exchange.id}"
                # A server that was reconnected numbers its messages from 1 again
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
        """Show *words* beside the buttons, to say why nothing was done."""
        put(self._said, Html(f'<span class="toolbench-wrong">{escape(words)}</span>'))

    @property
    def is_busy(self) -> bool:
        """Whether a tool is running in the panel."""
        return self._panel is not None and self._panel.is_busy

    def close(self) -> None:
        """Close all widgets, and cancel what is running."""
        for view in (self._panel, self._message):
            if view is not None:
                view.close()
        self._parts.close()


def _record_of(span: Span) -> RunRecord | None:
    """Return the record of the run of *span*; None if it is active, or no longer kept."""
    for record in reversed(history()[:]):
        start = record.started.timestamp()
        # Runs of another session may have the same numbers
        is_then = start <= span.start <= start + record.seconds + record.waited + _LATE
        if span.key == f"run:{record.id}" and is_then and span.state != "open":
            return record
    return None
