"""A timeline of what happened: spans in lanes, a table by tool, and a picture without scripts.

A span is a run, a message, a question, a line of a server's log, or a model's answer, with its
start and its end. No list of spans is kept. `spans_of_runs`, `spans_of_session` and
`spans_of_conversation` make the spans on demand from the history, the messages and the events.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from math import ceil
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from toolbench.core.coercion import data_frame_class
from toolbench.display.caps import shorten
from toolbench.display.css import TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape, on_one_line
from toolbench.display.filter import Filter
from toolbench.display.page import TONES, Tone, fold
from toolbench.display.render import bundle, to_text
from toolbench.display.tables import listing_html
from toolbench.wording import counted, duration, time_of_day, time_taken

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal[
    "run",
    "request",
    "notification",
    "question",
    "progress",
    "stderr",
    "log",
    "noise",
    "answer",
    "connection",
]
"""The kind of a span. An `answer` is an answer of a model."""
State = Literal["ok", "failed", "waiting", "open"]
"""The state of a span. A `waiting` span is a wait for the user, and an `open` one has not ended."""
RUNS, QUESTIONS, MODEL = "runs", "questions", "model"
"""The lanes that do not belong to a server."""
TIMELINE_KEYS = (
    "lane",
    "kind",
    "name",
    "time",
    "ms",
    "state",
    "tool",
    "server",
    "method",
    "tokens",
    "cost",
)
"""The keys of a span in a filter."""
_FIRST = (MODEL, RUNS, QUESTIONS)
# The number of spans in the text, and in the table behind the picture
_LONGEST, _LISTED = 10, 500
# The number of spans in the picture
_DRAWN = 2_000
_GOLDEN = 0.618_033_988_75
# Characters of a name and a text
_NAME, _TEXT = 60, 200


@dataclass(frozen=True, slots=True)
class Span:
    """One bar of a timeline: a run, a message, a question or an answer, with its start and end.

    Examples:
        >>> from toolbench import history, run_tool, tool
        >>> @tool
        ... def stock(sku: int) -> int:
        ...     "Count the items in stock."
        ...     return 7
        >>> result = run_tool(stock, sku=12)
        >>> [span] = history().timeline().spans
        >>> span.lane, span.name, span.state, span.ms < 1000
        ('runs', 'stock', 'ok', True)
    """

    lane: str
    """`runs`, `questions`, `model`, or `NAME sent` and `NAME received` for a server."""
    kind: Kind
    name: str
    """The name of a tool, method or model, or a shortened question."""
    start: float
    """Seconds since the epoch."""
    end: float
    """Equal to `start` if the span has no duration; the current time if it has not ended."""
    state: State
    text: str = ""
    """The details in one line, without secrets; not escaped."""
    key: str = ""
    """What a click opens, such as `run:12`, `message:lib:34` or `event:7`; empty for nothing."""
    tool: str = ""
    server: str = ""
    method: str = ""
    tokens: int | None = None
    cost: float | None = None
    """Dollars."""
    waited: float = 0.0
    """The seconds that a run spent waiting for the user."""

    @property
    def seconds(self) -> float:
        """The duration in seconds, without the time spent waiting for the user."""
        return max(0.0, self.end - self.start - self.waited)

    @property
    def time(self) -> str:
        """The time of day at which the span began."""
        return time_of_day(self.start)

    @property
    def ms(self) -> float:
        """The duration in milliseconds, without the time spent waiting for the user."""
        return round(self.seconds * 1000, 1)

    @property
    def searched(self) -> str:
        """The text that a filter searches."""
        return f"{self.lane} {self.kind} {self.name} {self.state} {self.address} {self.method} {self.text}"

    def value(self, key: str) -> object:
        """Return the span's value for *key*, which a filter compares.

        *key* is one of `TIMELINE_KEYS`. For the key `tool`, return both the name and the address of
        the tool, so that a filter can use either.
        """
        if key == "tool":
            return self.tool, self.address
        return getattr(self, key)

    @property
    def address(self) -> str:
        """The address of the span's tool, such as `server.tool`; empty if it has no tool."""
        if self.server and self.tool:
            return f"{self.server}.{self.tool}"
        return self.tool

    @property
    def description(self) -> str:
        """The span in words, on one line."""
        words = [self.name, self.state, self.time]
        if self.end > self.start:
            words.append(time_taken(self.seconds, self.waited))
        return on_one_line(shorten(", ".join(filter(None, [*words, self.text])), _TEXT))


@dataclass(slots=True)
class ToolTimes:
    """The durations of the calls of one tool, or of the answers of one model.

    Examples:
        >>> from toolbench import history, run_tool, tool
        >>> @tool
        ... def double(number: int) -> int:
        ...     "Double a number."
        ...     return 2 * number
        >>> for number in range(3):
        ...     result = run_tool(double, number=number)
        >>> [times] = history().timeline().by_tool()
        >>> times.name, times.calls, times.failed, times.p50 <= times.p95
        ('double', 3, 0, True)
    """

    name: str
    kind: Literal["tool", "model"]
    failed: int = 0
    waited: float = 0.0
    """The seconds spent waiting for the user, which are not part of the other times."""
    tokens: int | None = None
    cost: float | None = None
    """Dollars."""
    times: list[float] = field(default_factory=list, repr=False)
    """The duration of each call or answer, in milliseconds."""

    def add(self, span: Span) -> None:
        """Count *span*."""
        self.times.append(span.ms)
        self.failed += span.state == "failed"
        self.waited += span.waited
        if span.tokens is not None:
            self.tokens = (self.tokens or 0) + span.tokens
        if span.cost is not None:
            self.cost = (self.cost or 0.0) + span.cost

    @property
    def calls(self) -> int:
        """The number of calls or answers."""
        return len(self.times)

    @property
    def p50(self) -> float:
        """The median duration, in milliseconds."""
        return self._within(0.50)

    @property
    def p95(self) -> float:
        """The 95th percentile of the durations, in milliseconds."""
        return self._within(0.95)

    def _within(self, share: float) -> float:
        return sorted(self.times)[ceil(share * len(self.times)) - 1]


_TOOL_COLUMNS = ("tool or model", "calls", "failed", "p50 ms", "p95 ms", "waited", "tokens", "cost")
_SPAN_COLUMNS = ("time", "lane", "name", "state", "took", "text")


class Timeline:
    """The spans of a session, ordered by their start.

    `%mcp timeline` shows everything that happened in this session: runs, questions, answers of
    models, and the last 10,000 messages of each server. `history().timeline()` has only runs and
    their questions, including those of earlier sessions that `history().persist(...)` has loaded.

    The calls that a sweep makes are not runs, so they have no span in the lane `runs`. But if the
    tool belongs to a server, each call appears as a request to this server. Progress messages
    appear only for tools of servers.

    Attributes:
        spans: The spans, in the order in which they began.
        filter: The filter that selected the spans; empty if there was none.

    Examples:
        >>> from pathlib import Path
        >>> from toolbench import history, run_tool, tool
        >>> @tool
        ... def divide(a: float, b: float) -> float:
        ...     "Divide one number by another."
        ...     return a / b
        >>> results = [run_tool(divide, a=1, b=b) for b in (1, 0)]
        >>> failed = history().timeline().of("error")
        >>> [span.name for span in failed.spans]
        ['divide']
        >>> length = Path("session.svg").write_text(failed.to_svg(), "utf-8")
    """

    def __init__(
        self,
        spans: Iterable[Span] | None = None,
        filter: str = "",
        *,
        source: Callable[[], Iterable[Span]] | None = None,
    ) -> None:
        """Make a timeline of *spans*.

        Args:
            spans: The spans. By default, those that *source* returns.
            filter: The filter with which *spans* were selected, to be shown with the timeline.
            source: A function that returns all spans so far. `latest` calls it to get newer spans.
        """
        if spans is None and source is not None:
            spans = source()
        self.spans = tuple(
            sorted(spans or (), key=attrgetter("start", "end", "lane", "name", "text"))
        )
        self.filter = filter
        self._source = source

    def __len__(self) -> int:
        return len(self.spans)

    def lanes(self) -> list[str]:
        """Return the names of the lanes with spans, from top to bottom.

        The model comes first, followed by runs, questions and servers.
        """
        present = {span.lane for span in self.spans}
        servers = sorted(present.difference(_FIRST), key=_server_first)
        return [lane for lane in (*_FIRST, *servers) if lane in present]

    def of(self, filter: str) -> "Timeline":
        """Return a timeline of the spans that match *filter*; see `toolbench.display.filter`.

        Raises:
            FilterError: If *filter* uses a key that spans do not have.
        """
        only = Filter(filter, TIMELINE_KEYS)
        chosen = [span for span in self.spans if only.matches(span)]
        return Timeline(chosen, f"{self.filter} {filter}".strip(), source=self._source)

    def before(self, span: Span, count: int = _LONGEST) -> "Timeline":
        """Return a timeline of *span* and the last *count* spans that began before it."""
        earlier = [each for each in self.spans if each.start < span.start]
        return Timeline([*earlier[-count:], span])

    def latest(self) -> "Timeline":
        """Return a timeline with the spans so far; this same timeline if it has no source."""
        if self._source is None:
            return self
        return Timeline(source=self._source).of(self.filter)

    def by_tool(self) -> list[ToolTimes]:
        """Return the durations of each tool and model, sorted by total duration, longest first.

        A call of a server's tool appears both as a run and as a request, but is counted once. A
        call by a sweep is not a run, so its request is counted. Spans that have not ended are not
        counted.
        """
        found: dict[tuple[str, str], ToolTimes] = {}
        # When the last run of each tool ended
        reach: dict[str, float] = {}
        for span in self.spans:
            if span.kind == "run":
                reach[span.address] = max(reach.get(span.address, 0.0), span.end)
            elif span.kind == "request" and span.start <= reach.get(span.address, 0.0):
                continue
            kind: Literal["tool", "model"] = "tool"
            name = span.address
            if span.kind == "answer":
                kind, name = "model", span.name
            elif span.kind not in ("run", "request"):
                continue
            if name and span.state != "open":
                found.setdefault((kind, name), ToolTimes(name, kind)).add(span)
        return sorted(found.values(), key=lambda row: -sum(row.times))

    def longest(self, count: int = _LONGEST) -> list[Span]:
        """Return the *count* longest spans, longest first. Time spent waiting counts too."""
        lasting = [span for span in self.spans if span.end > span.start]
        return sorted(lasting, key=lambda span: span.start - span.end)[:count]

    def to_dataframe(self) -> "pd.DataFrame":
        """Return a DataFrame with a row per span.

        `start` and `end` are times. `ms` does not include time spent waiting for the user.

        Raises:
            MissingExtraError: If pandas is not installed.
        """
        columns = [each.name for each in fields(Span)]
        rows = []
        for span in self.spans:
            row = {name: getattr(span, name) for name in columns}
            rows.append(
                {**row, "start": _local(span.start), "end": _local(span.end), "ms": span.ms}
            )
        return data_frame_class()(rows, columns=[*columns, "ms"])

    def to_svg(self, width: int = 960) -> str:
        """Return a picture of the timeline as SVG, readable on light and dark pages.

        At most 2,000 spans are drawn. If there are more, the spans that failed or waited for the
        user are chosen first, and then the longest spans.

        Args:
            width: The width in pixels.
        """
        return _Picture(self, width).svg()

    @property
    def summary(self) -> str:
        """The number of spans, and the times of the first and the last."""
        if not self.spans:
            return self._nothing
        end = max(span.end for span in self.spans)
        words = counted(len(self.spans), "span")
        if self.filter:
            words += f" matching {on_one_line(self.filter)}"
        return f"{words}, {self.spans[0].time} to {time_of_day(end)}"

    @property
    def _nothing(self) -> str:
        if self.filter:
            return f"Nothing matches {on_one_line(self.filter)!r}."
        return "Nothing has happened yet."

    def __repr__(self) -> str:
        return f"<Timeline of {self.summary}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        if not self.spans:
            return bundle(self._nothing)
        tools = list(map(_tool_cells, self.by_tool()))
        title, some = "The longest:", self.longest()
        if not some:
            title, some = "The latest:", list(self.spans[-_LONGEST:])
        parts: list[Any] = [Text(self.summary)]
        if tools:
            parts.append(_table(_TOOL_COLUMNS, tools))
        parts += [Text(title), _table(_SPAN_COLUMNS, list(map(_span_cells, some)))]
        return {"text/plain": to_text(Group(*parts)), "text/html": self._html(tools)}

    def _html(self, tools: Sequence[Sequence[object]]) -> Html:
        listed, notes = self.spans[-_LISTED:], []
        if len(listed) < len(self.spans):
            notes = [f"The last {len(listed)} of {len(self.spans):,}; to_dataframe() has all."]
        body = self.to_svg(_IN_CELL)
        if tools:
            body += listing_html(_TOOL_COLUMNS, tools)
        spans = listing_html(_SPAN_COLUMNS, list(map(_span_cells, listed)), notes)
        body += fold("The spans as a table", spans)
        style = f"{TEXT_FONT};{TEXT_COLOR}"
        head = f"<strong>Timeline</strong>: {escape(self.summary)}"
        return Html(f'<div {NO_MATHS} style="{style}">{head}{body}</div>')


def _local(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).astimezone()


def _server_first(lane: str) -> tuple[str, bool]:
    """Return the sort key of a server's lane: by server, sent messages before received ones."""
    server, _, direction = lane.rpartition(" ")
    return server, direction != "sent"


def _tool_cells(row: ToolTimes) -> tuple[object, ...]:
    waited = cost = ""
    tokens: object = ""
    if row.waited >= 0.05:
        waited = duration(row.waited)
    if row.tokens is not None:
        tokens = row.tokens
    if row.cost is not None:
        cost = f"${row.cost:.4f}"
    name = on_one_line(row.name)
    return name, row.calls, row.failed, row.p50, row.p95, waited, tokens, cost


def _span_cells(span: Span) -> tuple[object, ...]:
    took = ""
    if span.end > span.start:
        took = time_taken(span.seconds, span.waited)
    name = shorten(on_one_line(span.name), _NAME)
    text = shorten(on_one_line(span.text), _TEXT)
    return span.time, span.lane, name, span.state, took, text


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(Text(column))
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    return table


# --- the picture ------------------------------------------------------------------------

# Pixels: names of lanes, right margin, a row, the gap between lanes, the axis, the legend
_LEFT, _RIGHT, _ROW, _GAP, _AXIS, _FOOT = 132, 12, 14, 8, 24, 26
# Pixels: narrowest span, narrowest name, a character, the distance between two times
_NARROW, _NAMED, _LETTER, _TICK = 2, 36, 6, 110
# The width of the picture in a cell; a narrow page scales it down
_IN_CELL = 840
# The most rows of a lane; further spans overlap others
_ROWS = 8
# Seconds between two times on the axis
_STEPS = (
    *(base * 10**power for power in range(-4, 0) for base in (1, 2, 5)),
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 14400, 21600, 43200, 86400),
)
_LOOKS: dict[State, tuple[Tone, str]] = {
    "ok": ("info", 'fill-opacity=".3"'),
    "open": ("neutral", 'fill-opacity=".12" stroke-dasharray="3 2"'),
    "waiting": ("warning", f'stroke-width="{_ROW - 3}" stroke-dasharray="3 2"'),
    "failed": ("danger", 'fill-opacity=".55" stroke-width="2"'),
}
"""The colour and style of the spans in each state. Later states are drawn over earlier ones."""
_WORDS: dict[State, str] = {
    "ok": "ok",
    "open": "not ended",
    "waiting": "waiting for the user",
    "failed": "failed",
}


# A separate file has no page whose colour it could inherit; in a page, the rule has no effect
_FILE = "<style>svg:root{color-scheme:light dark;color:CanvasText!important}</style>"


class _Picture:
    """Draws one timeline. Positions are rounded pixels, so equal timelines give equal pictures."""

    def __init__(self, timeline: Timeline, width: int) -> None:
        self._timeline = timeline
        self._width = max(width, 2 * _LEFT)
        self._spans = _to_draw(timeline.spans)
        self._begin = min((span.start for span in self._spans), default=0.0)
        end = max((span.end for span in self._spans), default=1.0)
        # If everything happened at one moment, show a millisecond
        self._seconds = max(end - self._begin, 0.001)
        self._top = _AXIS
        self._shapes: dict[State, list[str]] = {state: [] for state in _LOOKS}
        self._names: list[str] = []
        # Waiting times by the key of their run
        self._waits: dict[str, list[Span]] = {}
        for span in self._spans:
            if span.lane == QUESTIONS and span.state == "waiting":
                self._waits.setdefault(span.key, []).append(span)
        for lane in timeline.lanes():
            self._draw_lane(lane)

    def svg(self) -> str:
        ticks = "".join(self._ticks())
        shapes = ""
        for state, drawn in self._shapes.items():
            if drawn:
                shapes += f"<g {_look(state)}>{''.join(drawn)}</g>"
        height = self._top + _FOOT
        style = f"{TEXT_FONT};font-size:11px;{TEXT_COLOR};max-width:100%;height:auto"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {NO_MATHS} role="img" width="{self._width}" '
            f'height="{height}" viewBox="0 0 {self._width} {height}" style="{escape(style)}" '
            f'aria-label="{escape(f"Timeline: {self._timeline.summary}")}" fill="currentColor">'
            f"{_FILE}{ticks}{shapes}{''.join(self._names)}{self._legend()}</svg>"
        )

    def _x(self, time: float) -> float:
        room = self._width - _LEFT - _RIGHT
        return round(_LEFT + (time - self._begin) / self._seconds * room, 1)

    def _draw_lane(self, lane: str) -> None:
        # The position where the last span of each row ends
        ends: list[float] = []
        places: list[tuple[Span, int, float, float]] = []
        for span in self._spans:
            if span.lane != lane:
                continue
            left = self._x(span.start)
            right = max(self._x(span.end), round(left + _NARROW, 1))
            row = next((i for i, end in enumerate(ends) if end <= left), len(ends))
            row = min(row, _ROWS - 1)
            if span.end > span.start or not ends:
                ends[row : row + 1] = [right]
            else:
                # A span without duration needs no separate row
                row = 0
            top = self._top + row * _ROW
            title = f"<title>{escape(span.description)}</title>"
            self._shapes[span.state].append(_shape(span.state, left, right, top, title))
            if lane == RUNS:
                self._draw_waits(span.key, top)
            places.append((span, top, left, right))
        # The position where the next span of each row begins
        nexts = dict[int, float]()
        for span, top, left, right in reversed(places):
            self._draw_name(span, top, left, right, nexts.get(top, self._width - _RIGHT))
            nexts[top] = left
        middle = self._top + _ROW - 4
        name = escape(shorten(on_one_line(lane), _LEFT // _LETTER - 2))
        self._names.append(f'<text x="4" y="{middle}" font-weight="600">{name}</text>')
        self._top += max(len(ends), 1) * _ROW + _GAP

    def _draw_waits(self, run: str, top: int) -> None:
        """Mark the times when a run waited for the user, on its shape. *run* is the run's key."""
        for wait in self._waits.get(run, ()):
            ends = self._x(wait.start), self._x(wait.end)
            self._shapes["waiting"].append(_shape("waiting", *ends, top, ""))

    def _draw_name(self, span: Span, top: int, left: float, right: float, limit: float) -> None:
        """Draw the name of *span* inside its shape or, if the shape is too narrow, right of it.

        *left* and *right* are the edges of the shape. The name ends before the position *limit*.
        """
        begin, end = left + 4, right - 4
        # A name is not readable on the dashes
        if end - begin < _NAMED or span.state == "waiting" or span.key in self._waits:
            begin, end = right + 4, limit - 4
        is_moment = span.end <= span.start and span.state != "failed"
        if end - begin < _NAMED or is_moment:
            return
        name = escape(shorten(on_one_line(span.name), int(end - begin) // _LETTER))
        self._names.append(
            f'<text x="{round(begin, 1)}" y="{top + _ROW - 4}" pointer-events="none">{name}</text>'
        )

    def _ticks(self) -> Iterable[str]:
        most = max((self._width - _LEFT - _RIGHT) // _TICK, 1)
        step = next((s for s in _STEPS if self._seconds / s <= most), None)
        if step is None:
            step = ceil(self._seconds / most / _STEPS[-1]) * _STEPS[-1]
        form = "%H:%M:%S"
        if step >= _STEPS[-1]:
            form = "%d %b %H:%M"
        number = ceil(self._begin / step)
        while (time := number * step) <= self._begin + self._seconds:
            label = f"{_local(time):{form}}"
            if step < 1:
                label += f"{time % 1:.4f}"[1:5]
            x = self._x(time)
            yield (
                f'<path d="M{x} {_AXIS - 6}V{self._top}" stroke="currentColor" stroke-opacity=".2"/>'
                f'<text x="{x}" y="12" text-anchor="middle" fill-opacity=".75">{label}</text>'
            )
            number += 1

    def _legend(self) -> str:
        x, top, parts = _LEFT, self._top + 4, []
        for state, words in _WORDS.items():
            parts.append(f"<g {_look(state)}>{_shape(state, x, x + 20, top, '')}</g>")
            parts.append(f'<text x="{x + 25}" y="{top + _ROW - 4}">{words}</text>')
            x += 45 + len(words) * _LETTER
        if len(self._spans) < len(self._timeline):
            words = f"{len(self._spans):,} of {counted(len(self._timeline), 'span')} are drawn"
            parts.append(f'<text x="{x}" y="{top + _ROW - 4}">{words}</text>')
        return "".join(parts)


def _to_draw(spans: Sequence[Span]) -> list[Span]:
    """Return the spans to draw, ordered by their start.

    If there are too many, spans that failed or waited for the user come first, then the longest.
    Among spans without duration, choose some that are spread evenly over the whole time.
    """
    if len(spans) <= _DRAWN:
        return list(spans)

    def rank(place: int) -> tuple[bool, float, float]:
        span = spans[place]
        # The fractional parts of multiples of the golden ratio are spread evenly
        return span.state not in ("failed", "waiting"), span.start - span.end, place * _GOLDEN % 1

    return [spans[place] for place in sorted(sorted(range(len(spans)), key=rank)[:_DRAWN])]


def _look(state: State) -> str:
    tone, look = _LOOKS[state]
    red, green, blue = TONES[tone]
    color = f"#{red:02x}{green:02x}{blue:02x}"
    return f'fill="{color}" stroke="{color}" {look}'


def _shape(state: State, left: float, right: float, top: int, title: str) -> str:
    """Return the shape of a span. A waiting span is a dashed line as broad as a row."""
    if state == "waiting":
        middle = top + (_ROW - 1) / 2
        return f'<path d="M{left} {middle}H{right}">{title}</path>'
    width, height = round(right - left, 1), _ROW - 3
    return f'<rect x="{left}" y="{top + 1}" width="{width}" height="{height}">{title}</rect>'
