"""The view of a run in a panel: its state, its progress, its output and its result."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import groupby
from time import monotonic
from typing import TYPE_CHECKING, Any

import ipywidgets as w
from rich.text import Text

from toolbench.core.content import TextContent
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.ansi import from_ansi
from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.live_results import live_results, whole_html
from toolbench.display.observations import (
    LIMIT,
    data_of,
    read_by_model,
    result_html,
    without_secrets,
)
from toolbench.display.page import badge, notice
from toolbench.display.render import to_html
from toolbench.runs.control import StopCause
from toolbench.runs.output import LIMIT as KEPT
from toolbench.runs.output import Chunk, Output
from toolbench.runs.record import state_tone, state_words
from toolbench.runs.run import ENDED, Run
from toolbench.values import same_json
from toolbench.widgets.kit.parts import Parts, mark, put, show_if
from toolbench.widgets.panel.comparison import comparison_html
from toolbench.wording import counted, time_taken

# This import loads the packages for MCP
if TYPE_CHECKING:
    from toolbench.widgets.resource_views import LinkedResources

# Characters shown after a click on "Show everything"
EVERYTHING = 5_000_000
STUCK = (
    "The run was cancelled, but its code is in a call that cannot be interrupted, such as "
    "time.sleep or a long computation in C. It ends when that call returns, and is added to "
    "the history then. You can run the tool again now."
)
# The CSS class of a result of the tool's earlier code
_EARLIER = "toolbench-earlier"
_ABOUT = Html(
    f'<div role="status" style="{REMARK}">'
    "From the earlier code: the tool was defined again after this run.</div>"
)
_OTHER_ARGUMENTS = "the arguments have changed since"
# Seconds; shorter times have a decimal
_TENTHS = 10.0
# Characters of a result that a page does not draw at once
_LARGE = 200_000

# Characters after which a piece of the output ends at the next line end
SEALED = 1_000
# Characters in pieces; while more is printed, only the end of it is shown
LIVE = 20_000
# Characters shown of the rest, head and tail, after the run
REST = 60_000
# Characters of the end that are shown while more is printed
_WINDOW = 1_500
# Seconds at the start with an update every tick
_SWIFT = 3.0
# Seconds between two later updates
_PACE = 0.25
_STYLES = {"stderr": "red", "log": "dim"}

Piece = tuple[Chunk, ...]


class RunResult:
    """The result of one run as HTML.

    Attributes:
        run: The run.
        html: The result as HTML; None until `prepare` has made it.
        is_more: Whether a part of the output or of the result is not shown.
        is_old: Whether the tool was redefined after the run began.
        is_of_others: Whether the form's arguments have changed since the run.
        earlier: The last run before the tool's code changed. Its result is compared with the result
            of `run` if both runs have the same arguments. None if the code has not changed.
        comparison: The differences from the result of `earlier`, as HTML. It is empty until
            `prepare` has made it.
    """

    def __init__(self, run: Run, earlier: Run | None = None) -> None:
        """Prepare for the result of *run*, which will be compared with that of *earlier*."""
        self.run, self.earlier = run, earlier
        self.comparison = Html("")
        self.html: Html | None = None
        self.is_more = self.is_old = self.is_of_others = False

    def prepare(self) -> None:
        """Make the HTML of the result and of the comparison, after the run has ended.

        This method calls `visualize` of the tool, which may be slow. Therefore, the thread of the
        run calls this method. If `visualize` fails, the HTML is a notice instead of the result.
        """
        try:
            html = _result_html(self.run, LIMIT)
            self.is_more = _is_more(self.run)
        except Exception as error:  # noqa: BLE001 - a tool's own objects may do anything
            html = notice(f"The result cannot be shown: {type(error).__name__}.", "danger")
        try:
            earlier = self.earlier
            # Results of other arguments differ for any code
            if (
                earlier is not None
                and _is_result(self.run)
                and same_json(earlier.arguments, self.run.arguments)
            ):
                self.comparison = comparison_html(earlier, self.run)
        except Exception as error:  # noqa: BLE001 - as above
            words = f"It cannot be compared with the earlier result: {type(error).__name__}."
            self.comparison = notice(words, "neutral")
        # Last: then it is ready
        self.html = html


class RunReport:
    """The view of the latest run of a panel."""

    def __init__(
        self,
        parts: Parts,
        lock: AbstractContextManager[Any],
        add: Callable[[Any], object],
    ) -> None:
        """Make an empty view.

        Args:
            parts: The factory of the widgets.
            lock: A lock that is held while a callback of the view runs.
            add: A function that shows a new widget beside the buttons.
        """
        self._parts, self._lock, self._add = parts, lock, add
        self._state = parts.html()
        self._clock = parts.html()
        self._result = parts.html()
        # Each is made when a run first needs it
        self._log: LogView | None = None
        self._bar: Any = None
        self._about: Any = None
        self._more: Any = None
        self._links: LinkedResources | None = None
        self._comparison: Any = None
        self._latest: RunResult | None = None
        self._last_state: tuple[int, bool] | None = None
        self.status = [self._state, self._clock]
        """The widgets that the panel shows beside its buttons: state and time."""
        self.widget = parts.column(self._result, kind="toolbench-report")

    def _arrange(self) -> None:
        """Show the existing parts in their order."""
        children = []
        if self._about is not None:
            children.append(self._about)
        if self._log is not None:
            children.append(self._log.widget)
        children.append(self._result)
        if self._more is not None:
            children.append(self._more)
        if self._links is not None:
            children.append(self._links.widget)
        if self._comparison is not None:
            children.append(self._comparison)
        self.widget.children = children

    @property
    def run(self) -> Run | None:
        """The shown run; None if there is none."""
        if self._latest is None:
            return None
        return self._latest.run

    @property
    def is_ready(self) -> bool:
        """Whether the result of the shown run is prepared."""
        return self._latest is not None and self._latest.html is not None

    def expect(self, run: Run) -> RunResult:
        """Make `show` display *run* from now on.

        If the tool's code has changed, the result of *run* is compared with the last result before
        the change, if both are of the same arguments. The results of later runs are also compared
        with this result, until the code changes again.

        Returns:
            The result of *run*. The caller must call its method `prepare` when the run has ended.
        """
        before, earlier = self._latest, None
        if before is not None:
            earlier = before.earlier
            if before.is_old and _is_result(before.run):
                earlier = before.run
        self._latest, self._last_state = RunResult(run, earlier), None
        return self._latest

    def is_of(self, arguments: dict[str, Any]) -> bool:
        """Tell whether the displayed result is of the current code, called with *arguments*."""
        latest = self._latest
        if latest is None or latest.is_old:
            return False
        return same_json(latest.run.arguments, arguments)

    @property
    def is_going_on(self) -> bool:
        """Whether the displayed run is active. It may be a run of an earlier panel."""
        run = self.run
        return run is not None and run.is_going_on

    def recall(self, earlier: "RunReport", tool: ToolDefinition[Any, Any]) -> None:
        """Make `show` display the run of the view *earlier*.

        If the run is not a run of *tool*, for example because the tool was redefined, mark it as
        outdated.
        """
        latest = self._latest = earlier._latest
        if latest is not None and latest.run.tool is not tool:
            self.outdate()

    def begin(self) -> None:
        """Remove the result of the earlier run, and show that the new run is active."""
        if self._log is not None:
            self._log.clear()
        put(self._result, Html(""))
        self._compare(Html(""))
        self._offer_more(is_more=False)
        if self._links is not None:
            self._links.clear()
        self.show(over=False)

    def show(self, *, over: bool) -> None:
        """Update the view of the run. Only changes are sent to the page.

        If *over* is true, show the result of the run, and that the run has ended. Otherwise, show
        the run as active.
        """
        latest = self._latest
        if latest is None:
            return
        run = latest.run
        self._show_age(latest)
        state = run.version, over
        if not over or state != self._last_state:
            self._last_state = state
            self._show_progress(run)
            self._show_output(run.output, over=over)
            self._show_result(latest, over=over)
        # After the result: a page takes time to draw a large one
        self._show_state(latest, over=over)

    def _show_state(self, result: RunResult, *, over: bool) -> None:
        put(self._state, _state_html(result.run, over=over))
        put(self._clock, _clock_html(result, over=over))

    def _show_result(self, result: RunResult, *, over: bool) -> None:
        if over and result.html is not None:
            if len(result.html) > _LARGE:
                self._show_state(result, over=False)
            put(self._result, result.html)
            self._offer_more(is_more=result.is_more)
            self._offer_links(result.run)
            # An outdated result is no longer the newest one, with which it was compared
            if not result.is_old:
                self._compare(result.comparison)
        elif result.run.control.is_given_up:
            put(self._result, notice(STUCK, "warning"))

    def _show_output(self, output: Output, *, over: bool, limit: int = REST) -> None:
        if self._log is None and output.chunks():
            self._log = LogView(self._parts)
            self._arrange()
        if self._log is not None:
            self._log.show(output, over=over, limit=limit)

    def _show_progress(self, run: Run) -> None:
        share = run.progress_view.state.share
        is_moving = share is not None and run.state not in ENDED
        if is_moving and self._bar is None:
            bar = {"min": 0, "max": 1, "value": share}
            self._bar = self._parts.make(w.FloatProgress, "toolbench-bar", **bar)
            self._add(self._bar)
        if self._bar is not None:
            with self._bar.hold_sync():
                if is_moving:
                    self._bar.value = share
                show_if(self._bar, is_shown=is_moving)

    # --- more of the result -----------------------------------------------------------

    def _offer_more(self, *, is_more: bool) -> None:
        """Show the button "Show everything", or hide it."""
        if self._more is not None:
            show_if(self._more, is_shown=is_more)
        elif is_more:
            self._more = self._parts.button("Show everything", self._show_everything)
            self._arrange()

    def _show_everything(self) -> None:
        run = self.run
        if run is not None:
            self._show_output(run.output, over=True, limit=KEPT)
            self._result.value = _result_html(run, EVERYTHING)
            self._offer_more(is_more=False)

    def _offer_links(self, run: Run) -> None:
        """Show a button for each resource that the result of a server's tool links to."""
        if self._links is not None:
            self._links.clear()
        if not getattr(run.outcome, "links", None):
            return
        from toolbench.mcp.results import MCPObservation  # noqa: PLC0415 - only for a result of a server
        from toolbench.widgets.resource_views import (  # noqa: PLC0415 - the same
            LinkedResources,
            session_of,
        )

        if not isinstance(run.outcome, MCPObservation):
            return
        if self._links is None:
            self._links = LinkedResources(self._parts, self._lock)
            self._arrange()
        self._links.offer(session_of(run.tool), run.outcome, run.secrets.redactor)

    def _compare(self, comparison: Html) -> None:
        """Show *comparison* below the result."""
        if comparison and self._comparison is None:
            self._comparison = self._parts.html(kind="toolbench-comparison")
            self._arrange()
        if self._comparison is not None:
            put(self._comparison, comparison)

    def close(self) -> None:
        """Stop waiting for a linked resource that is still being read."""
        if self._links is not None:
            self._links.leave()

    # --- what the user must know about the result ----------------------------------------

    def outdate(self) -> None:
        """Mark the displayed run, if there is one, as a run of the tool's earlier code."""
        if self._latest is not None:
            self._latest.is_old = True
            self._renew_remarks(self._latest)
            self._compare(Html(""))

    def _renew_remarks(self, result: RunResult) -> None:
        self._show_age(result)
        put(self._clock, _clock_html(result, over=self._is_over))

    def _show_age(self, result: RunResult) -> None:
        """Show *result* in grey, below a notice, if the tool's code has changed since the run."""
        about = Html("")
        if result.is_old:
            about = _ABOUT
        if about and self._about is None:
            self._about = self._parts.html()
            self._arrange()
        if self._about is not None:
            put(self._about, about)
        for part in (self.widget, self._state):
            mark(part, _EARLIER, is_marked=result.is_old)

    def compare(self, arguments: dict[str, Any]) -> None:
        """Show beside the time whether the form's *arguments* differ from those of the run."""
        with self._lock:
            latest = self._latest
            if latest is not None:
                latest.is_of_others = not same_json(latest.run.arguments, arguments)
                self._renew_remarks(latest)

    @property
    def _is_over(self) -> bool:
        """Whether the page says that the run is over."""
        return self._last_state is not None and self._last_state[1]


def _clock_html(result: RunResult, *, over: bool) -> Html:
    """Return how long the run of *result* has taken, and remarks on the result."""
    run = result.run
    if over or run.done.is_set():
        words = _words_of_end(run)
        if result.is_of_others:
            words.append(_OTHER_ARGUMENTS)
    elif run.seconds < _TENTHS:
        words = [f"{run.seconds:.1f} s", run.progress_view.state.text]
    else:
        words = [f"{run.seconds:.0f} s", run.progress_view.state.text]
    if result.is_old:
        words.append("from the earlier code")
    text = " · ".join(filter(None, words))
    return Html(f'<span style="{REMARK}">{escape(text)}</span>')


def _words_of_end(run: Run) -> list[str]:
    """Return how long *run*, which has ended, took, and what stopped it."""
    words = [time_taken(run.seconds, run.dialogue.seconds)]
    if run.state == "denied":
        words.append(run.decision)
    why = run.control.why
    if why is not None and why.cause is StopCause.TIMEOUT:
        words.append(why.words)
    return words


def _state_html(run: Run, *, over: bool) -> Html:
    """Return the state of *run* as HTML, which screen readers announce.

    The HTML also contains the run's number. Otherwise "ok" would not be announced again if the next
    run ends in the same way.
    """
    state = run.state
    if state in ENDED and not over:
        state = "running"
        if run.cancelled:
            state = "stopping"
    number, text = run.id, state_badge(state, run.outcome)
    if run.done.is_set() and not over:
        text = badge("drawing…")
    return Html(f'<span role="status" aria-live="polite" data-run="{number}">{text}</span>')


def state_badge(state: str, outcome: Observation) -> Html:
    """Return *state* as a badge; empty for a run that has not begun.

    *outcome* is the result of the run. It is empty until the run has ended.
    """
    if not state_words(state):
        return Html("")
    return badge(state_words(state, outcome), state_tone(state, outcome))


def _result_html(run: Run, limit: int) -> Html:
    redactor = run.secrets.redactor
    outcome, action = without_secrets(run.outcome, redactor), redactor.value(run.action)
    data = data_of(outcome)
    key = live_results.keep(run.outcome, redactor, outcome, data.table)
    result = result_html(outcome, action, limit=limit, is_stated=True, key=key, data=data)
    # A table may have a secret far down, and `visualize` one that is not in the observation
    shown = redactor.html(result)
    return Html(whole_html(shown, key) + _details(run))


def _is_result(run: Run) -> bool:
    """Tell whether *run* ended with a result or an error of the tool, and was not stopped."""
    return run.state in ("ok", "error")


def _is_more(run: Run) -> bool:
    """Return whether a part of the output or the result was left out."""
    blocks = read_by_model(run.outcome)
    size = sum(len(block.text) for block in blocks if isinstance(block, TextContent))
    return size > LIMIT or len(run.output.text) > LIVE + REST


def _details(run: Run) -> str:
    """Return the traceback, which only the user sees, as a fold; empty if there is none."""
    if not run.traceback:
        return ""
    return (
        '<details style="margin-top:6px"><summary style="cursor:pointer">Traceback'
        f"</summary>{to_html(from_ansi(run.traceback))}</details>"
    )


class LogView:
    """A view of the printed output of a run, which may still be growing.

    The output is split into pieces, each about as long as a screen. While the output grows, only
    the last piece is sent to the page again.
    """

    def __init__(self, parts: Parts) -> None:
        """Make an empty view."""
        self._parts = parts
        self._pieces: list[Piece] = []
        self._widgets: list[Any] = []
        self._begun = self._drawn_at = monotonic()
        self._limit = REST
        self._lines = parts.column()
        self.widget = parts.column(self._lines, kind="toolbench-log")

    def clear(self) -> None:
        """Remove the output."""
        self._lines.children = ()
        self._parts.drop(self._widgets)
        self._pieces, self._widgets = [], []
        self._begun = monotonic()

    def show(self, output: Output, *, over: bool, limit: int = REST) -> None:
        """Update the view. If it was updated a moment ago and the output still grows, do nothing.

        Args:
            output: The output so far.
            over: Whether the output is complete.
            limit: The maximum number of characters to show of each piece. Only the last piece of a
                long output can be longer than the limit.
        """
        now = monotonic()
        late = now - self._begun > _SWIFT
        if not over and late and now - self._drawn_at < _PACE:
            return
        self._drawn_at = now
        pieces, rest = divided(output.chunks())
        if rest and over:
            pieces.append(rest)
        elif rest:
            pieces.append(_window(rest))
        is_other, self._limit = limit != self._limit, limit
        for index, piece in enumerate(pieces):
            self._put(index, piece, is_other=is_other)
        self._drop_beyond(len(pieces))
        if self._lines.children != tuple(self._widgets):
            self._lines.children = self._widgets

    def _put(self, index: int, piece: Piece, *, is_other: bool) -> None:
        """Show *piece* at *index*, unless the same piece is already shown there.

        *is_other* says that the limit of characters has changed, so that it must be drawn again.
        """
        if index == len(self._pieces):
            self._pieces.append(piece)
            # So that the keyboard can scroll
            tabbable = index == 0 or None
            self._widgets.append(self._parts.html(_html(piece, self._limit), tabbable=tabbable))
        elif self._pieces[index] != piece or is_other:
            self._pieces[index] = piece
            put(self._widgets[index], _html(piece, self._limit))

    def _drop_beyond(self, count: int) -> None:
        """Remove all pieces except the first *count*.

        The number of pieces can decrease. For example, a display may become text when it is
        updated, because the output contains too much HTML.
        """
        self._parts.drop(self._widgets[count:])
        del self._pieces[count:], self._widgets[count:]


def divided(chunks: list[Chunk]) -> tuple[list[Piece], Piece]:
    """Split an output into pieces of whole lines, and the rest.

    The pieces contain the first 20,000 characters (`LIVE`), and the rest is what follows. When more
    output arrives, only the last piece and the rest can change.
    """
    pieces: list[Piece] = []
    piece: list[Chunk] = []
    size = total = 0
    lines = list(_of_lines(chunks))
    for number, chunk in enumerate(lines):
        if total >= LIVE and not piece:
            return pieces, tuple(lines[number:])
        if chunk.html and piece:
            pieces.append(tuple(piece))
            piece, size = [], 0
        piece.append(chunk)
        size, total = size + len(chunk.text), total + len(chunk.text)
        if chunk.html or (size >= SEALED and chunk.text.endswith("\n")):
            pieces.append(tuple(piece))
            piece, size = [], 0
    if piece:
        pieces.append(tuple(piece))
    return pieces, ()


def _of_lines(chunks: list[Chunk]) -> Iterator[Chunk]:
    for chunk in chunks:
        if chunk.html:
            yield chunk
        else:
            for line in chunk.text.splitlines(keepends=True):
                yield Chunk(chunk.stream, line)


def _window(rest: Piece) -> Piece:
    text = "".join(chunk.text for chunk in rest)
    window = text[-_WINDOW:]
    if len(window) == len(text):
        return rest
    note = f"… {counted(len(text) - len(window), 'character')} before this …\n"
    return (Chunk("log", note), Chunk("stdout", window))


def _html(piece: Piece, limit: int) -> Html:
    parts: list[str] = []
    for is_rich, group in groupby(piece, lambda chunk: bool(chunk.html)):
        if is_rich:
            parts += [f'<div class="toolbench-shown">{chunk.html}</div>' for chunk in group]
        else:
            parts.append(_printed(list(group), limit))
    return Html("".join(parts))


def _printed(chunks: list[Chunk], limit: int) -> str:
    texts = (
        _styled(stream, "".join(chunk.text for chunk in group))
        for stream, group in groupby(chunks, lambda chunk: chunk.stream)
    )
    markup = to_html(Text.assemble(*texts), limit=limit)
    # The style sheet replaces the style of the tag
    body = markup[markup.index(">") + 1 :]
    # HTML drops a first newline
    if body.startswith("\n"):
        body = f"\n{body}"
    return f'<pre class="toolbench-out">{body}'


def _styled(stream: str, text: str) -> Text:
    styled = from_ansi(text)
    if stream in _STYLES:
        styled.stylize_before(_STYLES[stream])
    return styled
