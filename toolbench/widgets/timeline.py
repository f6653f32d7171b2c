"""A timeline on the page: its spans as `frontend/src/timeline.ts` draws them, and the one that is opened.

The spans are sent in pieces of columns, in which a string is the number of a word. Only changed pieces
are sent again. The texts of spans are sent when the user begins to filter or opens a span.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import RLock
from time import monotonic, perf_counter
from typing import Any

import ipywidgets as w
from traitlets import Dict, Float, List

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
from toolbench.widgets.explorer.traffic import OpenMessage, UseTool
from toolbench.widgets.kit.parts import PANEL, Parts, put
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.panel.panel import ToolPanel
from toolbench.widgets.panel.run_list import record_html

ShowSpan = Callable[[Span], Html | None]
"""A function that returns a span as HTML when it is opened; None if it does not know this span."""

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
    now = Float().tag(sync=True)
    """The time until which the open spans go on, in seconds since the epoch."""


class TimelineBox:
    """The widgets of a timeline: lanes to look at, the span that is opened, and tables.

    A timeline that goes on is looked at again once a second, while it is in sight on a page.
    """

    def __init__(
        self,
        timeline: Timeline,
        lock: Lock,
        *,
        show: ShowSpan | None = None,
        use_tool: UseTool | None = None,
    ) -> None:
        """Show *timeline*, and what happens later if it has a source.

        Args:
            timeline: The timeline.
            lock: A reentrant lock: any thread may call the callbacks.
            show: Shows spans of its own; runs and messages are shown without it.
            use_tool: Opens the tool of a message, to repeat or to edit its call; without it the
                tool's panel opens below the message.
        """
        self.timeline = timeline
        """The timeline as it was looked at last."""
        self._lock, self._show_span, self._use_tool = lock, show, use_tool
        self._parts = parts = Parts()
        self._is_shown = self._has_texts = self._is_closed = False
        self._due = 0.0
        self.opened: OpenedSpan | None = None
        """The span that is open; None if none is."""
        self._plain = parts.html()
        self._drawn = parts.drawn(DrawnTimeline, "timeline", self._plain)
        self._place = parts.column(kind="toolbench-span-opened")
        # It has no spans of its own: the page has them already
        self._tables = parts.drawn(w.VBox, "spanTables")
        for part in (self._drawn, self._tables):
            part.on_msg(lambda _, content, buffers: self._hear(content))
        box = (self._drawn, self._place, self._tables)
        self.widget = parts.column(*box, kind="toolbench-timeline-box")
        """The widget that contains all."""
        self._send()

    def refresh(self) -> None:
        """Show what has happened since; only what changed is sent to the page."""
        begin = perf_counter()
        timeline = self.timeline.latest()
        with self._lock:
            if self._is_closed or timeline is self.timeline:
                return
            self.timeline = timeline
            self._send()
        self._due = monotonic() + max(_PERIOD, _SPARE * (perf_counter() - begin))

    def _send(self) -> None:
        timeline = self.timeline
        spans, pieces = timeline.spans, list(self._drawn.pieces)
        for place in range(0, len(spans), _PIECE):
            some, number = spans[place : place + _PIECE], place // _PIECE
            if number == len(pieces):
                pieces.append(SpanPiece())
                self._parts.adopt(pieces[-1])
            texts = []
            if self._has_texts:
                texts = [_line(span.text) for span in some]
            # One message: a span and its text belong together
            with pieces[number].hold_sync():
                pieces[number].columns, pieces[number].texts = _columns(some), texts
        wanted = -(-len(spans) // _PIECE)
        with self._drawn.hold_sync():
            self._drawn.pieces = pieces[:wanted]
            self._drawn.lanes = [_line(lane) for lane in timeline.lanes()]
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
                self._has_texts = True
                with self._lock:
                    self._send()
            case {"open": int(place), "start": int() | float() as start, "name": str(name)}:
                self._pick(place, start, name)

    def _tick(self) -> bool:
        """Look at the timeline if it is time. Return whether it is still in sight."""
        if self._is_closed or not self._is_shown:
            return False
        if monotonic() >= self._due:
            self.refresh()
        return True

    def _pick(self, place: int, start: float, name: str) -> None:
        """Open the span at *place*. If others came before it meanwhile, its *start* and *name* find it."""
        spans = self.timeline.spans
        for span in (*spans[place : place + 1], *spans):
            if (span.start, _line(span.name)) == (start, name):
                self.open(span)
                return

    def open(self, span: Span) -> None:
        """Show *span* below the lanes in place of the one before, unless a run goes on there."""
        with self._lock:
            old = self.opened
            if old is not None and old.is_busy:
                old.say("A tool is running here: wait, or cancel it.")
                return
            html = None
            if self._show_span is not None:
                html = self._show_span(span)
            self.opened = OpenedSpan(span, self._lock, self.close_span, html, self._use_tool)
            self._place.children = (self.opened.widget,)
        if old is not None:
            old.close()

    def close_span(self) -> None:
        """Close the span that is open."""
        with self._lock:
            old, self.opened = self.opened, None
            self._place.children = ()
        if old is not None:
            old.close()

    @property
    def is_busy(self) -> bool:
        """Whether a tool runs in the span that is open."""
        return self.opened is not None and self.opened.is_busy

    def close(self) -> None:
        """Close all widgets; what runs is cancelled."""
        with self._lock:
            self._is_closed = True
        self.close_span()
        self._parts.close()


def _columns(spans: Sequence[Span]) -> dict[str, list[Any]]:
    """Return *spans* by columns for the page: what is open has no end."""
    words: dict[str, int] = {}
    columns: dict[str, list[Any]] = {}
    for name in _WORDS:
        strings = [_line(getattr(span, name)) for span in spans]
        columns[name] = [words.setdefault(each, len(words)) for each in strings]
    for name in _NUMBERS:
        columns[name] = [getattr(span, name) for span in spans]
    columns["end"] = [None if span.state == "open" else span.end for span in spans]
    return {**columns, "words": list(words)}


def _line(text: str) -> str:
    """Return *text*, which may be a server's, as the page gets it: no line breaks, no hidden characters."""
    return on_one_line(shorten(text, _LONGEST))


# --- the open span ------------------------------------------------------------------------


class OpenedSpan:
    """One span: the run as the history shows it, the message as the explorer does, or its text."""

    def __init__(
        self,
        span: Span,
        lock: Lock,
        close: Callable[[], object],
        html: Html | None = None,
        use_tool: UseTool | None = None,
    ) -> None:
        """Open *span*.

        Args:
            span: The span.
            lock: A reentrant lock, as above.
            close: A function that is called by the button *Close*.
            html: The span, if others know it better.
            use_tool: Opens the tool of a message; None: below the message.
        """
        self.span = span
        self._lock = lock
        self._parts = parts = Parts()
        self._panel: ToolPanel | None = None
        self._message: OpenMessage | None = None
        self._said = parts.html()
        self._close, self._use_tool = close, use_tool or self._use_tool_here
        self.widget = parts.column()
        kind, _, key = span.key.partition(":")
        if html is not None:
            self._show(html)
        elif kind == "run" and key.isdecimal():
            self._show_run(_record_of(span, int(key)))
        elif kind != "message" or not self._show_message(*key.rpartition(":")[::2]):
            self._show(_text_html(span))

    def _show(self, html: Html, *buttons: Any) -> None:
        close = self._parts.button("Close", self._close)
        row = self._parts.row(*buttons, close, self._said)
        self.widget.children = [self._parts.html(html), row]

    def _show_run(self, record: RunRecord | None) -> None:
        if record is None:
            self._show(_text_html(self.span))
            return
        tip = "Put its arguments into the form of its tool"
        load = self._parts.button("Load", partial(self._load, record), tip=tip)
        self._show(record_html(record), load)

    def _load(self, record: RunRecord) -> None:
        try:
            tool = record.find_tool()
        except ToolbenchError as error:
            self.say(str(error))
            return
        self._open_panel(tool).put_back_run(record)

    def _open_panel(self, tool: ToolDefinition[Any, Any]) -> ToolPanel:
        with self._lock:
            if self._panel is None:
                self._panel = ToolPanel(tool)
                self.widget.children = (*self.widget.children, self._panel)
            return self._panel

    def _show_message(self, server: str, number: str) -> bool:
        """Show the message *number* of *server*, with its answer. Return False if it is not kept any more."""
        session = connected.session(server)
        if session is None or not number.isdecimal():
            return False
        for exchange in paired(session.traffic):
            ids = {exchange.id}
            if exchange.answer is not None:
                ids.add(exchange.answer.id)
            if int(number) in ids:
                self._message = OpenMessage(session, self._lock, self._use_tool, self._close)
                self._message.show(exchange)
                self.widget.children = [self._message.widget]
                return True
        return False

    def _use_tool_here(self, name: str, arguments: dict[str, Any], *, is_run: bool) -> bool:
        tools = connected.session(self.span.server)
        if tools is None or name not in tools.tools.raw:
            return False
        panel = self._open_panel(tools.tools[name])
        panel.edit(arguments)
        if is_run:
            panel.run()
        return True

    def say(self, words: str) -> None:
        """Say beside the buttons why nothing was done."""
        put(self._said, Html(f'<span class="toolbench-wrong">{escape(words)}</span>'))

    @property
    def is_busy(self) -> bool:
        """Whether a tool runs in the panel."""
        return self._panel is not None and self._panel.is_busy

    def close(self) -> None:
        """Close all widgets."""
        for view in (self._panel, self._message):
            if view is not None:
                view.close()
        self._parts.close()


def _record_of(span: Span, number: int) -> RunRecord | None:
    """Return the record of the run to which *span* belongs; None if it goes on, or is not kept any more."""
    for record in reversed(history()[:]):
        start = record.started.timestamp()
        # Runs of another session may have the same numbers
        end = start + record.seconds + record.waited + _LATE
        if record.id == number and start <= span.start <= end and span.state != "open":
            return record
    return None


def _text_html(span: Span) -> Html:
    """Return what is known of a span that nothing else shows: a head, and its text."""
    head = f"<strong>{short(span.name)}</strong> {badge(span.state, _TONES[span.state])}"
    where = " · ".join(filter(None, (span.time, span.lane, span.kind)))
    html = f'<div {NO_MATHS}>{head} <span style="{REMARK}">{escape(where)}</span></div>'
    if span.text:
        html += f'<pre {NO_MATHS} style="{PRE};white-space:pre-wrap">{escape(span.text)}</pre>'
    return Html(html)


# --- in a cell ------------------------------------------------------------------------------


class TimelineView(LiveView):
    """A timeline as the value of a cell. Saved with the notebook, it is a picture with a table."""

    def __init__(self, timeline: Timeline) -> None:
        """Show *timeline*; if it has a source, it goes on while it is in sight."""
        lock, parts = RLock(), Parts()
        self.box = TimelineBox(timeline, lock)
        """The lanes and what is open."""
        children = [parts.html(PANEL), self.box.widget]
        super().__init__(parts, lock, children, "toolbench-panel")

    def _views(self) -> Iterable[TimelineBox]:
        return [self.box]

    def _static(self) -> dict[str, Any]:
        return dict(self.box.timeline._repr_mimebundle_())

    def __repr__(self) -> str:
        # ipywidgets would write out every child
        return f"<TimelineView of {self.box.timeline.summary}>"
