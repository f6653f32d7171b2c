"""The view of a panel's run: state, progress, output and result."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

import ipywidgets as w

from toolbench.core.content import TextContent
from toolbench.core.tool import ToolDefinition
from toolbench.display.ansi import from_ansi
from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.observations import LIMIT, read_by_model, result_html, without_secrets
from toolbench.display.page import notice
from toolbench.display.render import to_html
from toolbench.display.saved_result import SavedFile, saved_files
from toolbench.display.tables import LATER
from toolbench.runs.control import StopCause
from toolbench.runs.output import LIMIT as KEPT
from toolbench.runs.run import ENDED, Run
from toolbench.values import same_json
from toolbench.widgets.kit.parts import Parts, mark, put, show_if
from toolbench.widgets.panel.output import LIVE, REST, LogView
from toolbench.widgets.panel.run_state import state_badge
from toolbench.widgets.panel.saving import ResultSaving
from toolbench.wording import time_taken

# Characters shown after a click on "Show everything"
EVERYTHING = 5_000_000
STUCK = (
    "The run was cancelled, but its code is in a call that cannot be interrupted, such as "
    "time.sleep or a long computation in C. It ends when that call returns, and is added to "
    "the history then. You can run the tool again now."
)
# This import loads the packages for MCP
if TYPE_CHECKING:
    from toolbench.widgets.resource_views.linked_resources import LinkedResources

_BAR = ("toolbench-bar",)
# The CSS class of a result of the tool's earlier code
_EARLIER = "toolbench-earlier"
_ABOUT = Html(
    f'<div role="status" style="{REMARK}">'
    "From the earlier code: the tool was defined again after this run.</div>"
)
_OTHER_ARGUMENTS = "the arguments have changed since"
# Seconds; shorter times have a decimal
_TENTHS = 10.0


class _Rendered(NamedTuple):
    """A result as HTML, and whether a part of it was left out."""

    run: Run
    html: Html
    is_more: bool = False


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
        self._links: LinkedResources | None = None
        # Made with the first progress, which few tools report
        self._bar: Any = None
        self._state = parts.html()
        self._clock = parts.html()
        self._log = LogView(parts)
        self._result = parts.html()
        self._saving = ResultSaving(self._result, self._files_of)
        # Made for the first long result
        self._more: Any = None
        self._run: Run | None = None
        self._rendered: _Rendered | None = None
        # The run whose result is seen
        self._shown: Run | None = None
        # The view that prepares the result: this one, or that of an earlier panel
        self._source = self
        self._last_state: tuple[int, bool] | None = None
        self._is_over = self._is_old = self._is_of_others = False
        # Made for the first result of an earlier code
        self._about: Any = None
        self.status = [self._state, self._clock]
        """The widgets that the panel shows beside its buttons: state and time."""
        self.widget = parts.column(*(self._log.widget, self._result), kind="toolbench-report")

    @property
    def run(self) -> Run | None:
        """The shown run; None if there is none."""
        return self._run

    def expect(self, run: Run) -> None:
        """Let `show` show *run* from now on; the earlier run is seen until then."""
        self._run, self._last_state, self._is_over = run, None, False
        self._is_old = self._is_of_others = False
        self._source = self

    def recall(self, earlier: "RunReport", tool: ToolDefinition[Any, Any]) -> None:
        """Let `show` show the run of *earlier*; it is of the earlier code if it is not a run of *tool*."""
        if earlier.run is not None:
            self.expect(earlier.run)
            self._source = earlier._source
            if earlier.run.tool is not tool:
                self.outdate()

    def begin(self, run: Run) -> None:
        """Remove the result of the earlier run, and show that *run* goes on."""
        self._log.clear()
        put(self._result, Html(""))
        self._saving.forget()
        self._offer_more(is_more=False)
        if self._links is not None:
            self._links.clear()
        self.show(run, over=False)

    def has_result_of(self, run: Run) -> bool:
        """Whether `render` has prepared the result of *run*."""
        rendered = self._source._rendered
        return rendered is not None and rendered.run is run

    def render(self, run: Run) -> None:
        """Prepare the result of *run*, which has ended.

        The tool's own `visualize` is called here, in the thread of the run, so a slow
        `visualize` does not block other work. If it fails, a notice is shown instead of the result.
        """
        try:
            rendered = _Rendered(run, _result_html(run, LIMIT), _is_more(run))
        except Exception as error:  # noqa: BLE001 - a tool's own objects may do anything
            failed = f"The result cannot be shown: {type(error).__name__}."
            rendered = _Rendered(run, notice(failed, "danger"))
        # A stuck run may end after the next run
        if run is self._run:
            self._rendered = rendered

    def show(self, run: Run, *, over: bool) -> None:
        """Update the view of *run*, sending only changes.

        With *over*, show that it has ended, and the result that `render` has prepared. Until then
        *run* is shown as going on.
        """
        self._is_over = over
        self._show_age()
        put(self._state, _state_html(run, over=over))
        put(self._clock, self._clock_html(run))
        version = run.version, over
        if version == self._last_state and over:
            return
        self._last_state = version
        self._show_progress(run)
        self._log.show(run.output, over=over)
        if run.control.is_given_up and not over:
            put(self._result, notice(STUCK, "warning"))
        rendered = self._source._rendered
        if over and rendered is not None:
            put(self._result, rendered.html)
            self._shown = rendered.run
            self._offer_more(is_more=rendered.is_more)
            self._offer_links(run)

    def _offer_more(self, *, is_more: bool) -> None:
        """Show the button "Show everything", or hide it."""
        if self._more is not None:
            show_if(self._more, is_shown=is_more)
        elif is_more:
            self._more = self._parts.button("Show everything")
            self._more.on_click(lambda _: self._show_everything())
            children = list(self.widget.children)
            children.insert(children.index(self._result) + 1, self._more)
            self.widget.children = children

    def _offer_links(self, run: Run) -> None:
        """Show a button for each resource to which the result has a link (only a server's tool)."""
        if self._links is not None:
            self._links.clear()
        if not getattr(run.outcome, "links", None):
            return
        from toolbench.mcp.results import MCPObservation  # noqa: PLC0415 - only for a result of a server
        from toolbench.widgets.resource_views.linked_resources import (  # noqa: PLC0415 - the same
            LinkedResources,
            session_of,
        )

        if not isinstance(run.outcome, MCPObservation):
            return
        if self._links is None:
            self._links = LinkedResources(self._parts, self._lock)
            self.widget.children = (*self.widget.children, self._links.widget)
        self._links.offer(session_of(run.tool), run.outcome, run.secrets.redactor)

    def close(self) -> None:
        """Ignore a linked resource that is still being read, and forget the files to save."""
        self._saving.forget()
        if self._links is not None:
            self._links.leave()

    def outdate(self) -> None:
        """Mark the shown run, if there is one, as a run of the tool's earlier code."""
        if self._run is not None:
            self._is_old = True
            self._show_age()
            put(self._clock, self._clock_html(self._run))

    def _show_age(self) -> None:
        """Show the result grey, below a line that says so, if it is of the tool's earlier code."""
        if self._about is None:
            if not self._is_old:
                return
            self._about = self._parts.html()
            self.widget.children = (self._about, *self.widget.children)
        for part in (self.widget, self._state):
            mark(part, _EARLIER, is_marked=self._is_old)
        put(self._about, _ABOUT if self._is_old else Html(""))

    def compare(self, arguments: dict[str, Any]) -> None:
        """Say whether the form's *arguments* differ from the arguments of the shown run."""
        with self._lock:
            run = self._run
            if run is not None:
                self._is_of_others = not same_json(run.arguments, arguments)
                put(self._clock, self._clock_html(run))

    def _clock_html(self, run: Run) -> Html:
        seconds = run.seconds
        if self._is_over:
            words = [time_taken(seconds, run.dialogue.seconds)]
            words += [run.decision] if run.decision and run.state == "denied" else []
            why = run.control.why
            if why is not None and why.cause is StopCause.TIMEOUT:
                words.append(why.words)
            words += [_OTHER_ARGUMENTS] if self._is_of_others else []
        else:
            digits = 1 if seconds < _TENTHS else 0
            words = [f"{seconds:.{digits}f} s", run.progress_view.state.text]
        words += ["from the earlier code"] if self._is_old else []
        text = " · ".join(filter(None, words))
        return Html(f'<span style="{REMARK}">{escape(text)}</span>')

    def _show_progress(self, run: Run) -> None:
        share = run.progress_view.state.share
        moving = share is not None and run.state not in ENDED
        if moving and self._bar is None:
            bar = {"min": 0, "max": 1, "value": share}
            self._bar = self._parts.make(w.FloatProgress, *_BAR, **bar)
            self._add(self._bar)
        if self._bar is not None:
            with self._bar.hold_sync():
                self._bar.value = share if moving else self._bar.value
                show_if(self._bar, is_shown=moving)

    def _files_of(self, card: int) -> list[SavedFile]:
        """Return the whole of the shown result: the second card has what the model reads."""
        run = self._shown
        if run is None:
            return []
        return saved_files(run.outcome, run.secrets.redactor, for_model=card > 0)

    def _show_everything(self) -> None:
        if self._run is not None:
            self._log.show(self._run.output, over=True, limit=KEPT)
            self._result.value = _result_html(self._run, EVERYTHING)
            self._offer_more(is_more=False)


def _result_html(run: Run, limit: int) -> Html:
    redactor = run.secrets.redactor
    outcome, action = without_secrets(run.outcome, redactor), redactor.value(run.action)
    result = result_html(outcome, action, limit=limit, later=LATER)
    # A table may have a secret far down, and `visualize` one that is not in the observation
    shown = redactor.html(result)
    return Html(f"<div data-toolbench-whole>{shown}</div>{_details(run)}")


def _state_html(run: Run, *, over: bool) -> Html:
    """Return the state of *run*, with its number: a screen reader reads the same state again."""
    state = run.state
    if state in ENDED and not over:
        # Its result is not prepared yet
        state = "stopping" if run.cancelled else "running"
    number, text = run.id, state_badge(state, run.outcome)
    return Html(f'<span role="status" aria-live="polite" data-run="{number}">{text}</span>')


def _is_more(run: Run) -> bool:
    """Return whether a part of the output or the result was left out."""
    blocks = read_by_model(run.outcome)
    size = sum(len(block.text) for block in blocks if isinstance(block, TextContent))
    return size > LIMIT or len(run.output.text) > LIVE + REST


def _details(run: Run) -> str:
    """Return the traceback, which a click opens; empty if there is none. No model gets it."""
    if not run.traceback:
        return ""
    return (
        '<details style="margin-top:6px"><summary style="cursor:pointer">Traceback'
        f"</summary>{to_html(from_ansi(run.traceback))}</details>"
    )
