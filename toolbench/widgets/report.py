"""What a panel shows of its run: state, progress, output, and the result twice."""

from typing import NamedTuple

import ipywidgets as w

from toolbench.core.content import TextContent
from toolbench.display.ansi import from_ansi
from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.objects import LIMIT, read_by_model, result_html
from toolbench.display.page import Tone, badge, notice
from toolbench.display.render import to_html
from toolbench.runs.output import LIMIT as KEPT
from toolbench.runs.run import ENDED, Run, State
from toolbench.widgets.log import LIVE, REST, LogView
from toolbench.widgets.parts import HIDDEN, Parts, put, show_if

EVERYTHING = 5_000_000  # characters shown when a person asks for all
_WORDS: dict[State, str] = {
    "new": "",
    "running": "running",
    "waiting": "waiting for an answer",
    "stopping": "stopping…",
    "ok": "done",
    "error": "failed",
    "cancelled": "cancelled",
    "denied": "not run",
}
_TONES: dict[State, Tone] = {"ok": "success", "error": "danger", "denied": "warning"}
_BAR = ("toolbench-bar",)
_TENTHS = 10.0  # seconds shown with a decimal; later ones are whole


class _Rendered(NamedTuple):
    """A result as it is shown, and whether something of it was left out."""

    run: Run
    html: Html
    is_more: bool = False


class RunReport:
    """Follows one run at a time."""

    def __init__(self, parts: Parts) -> None:
        """Make the widgets, with nothing to show."""
        self._bar = parts.make(w.FloatProgress, *_BAR, HIDDEN, min=0, max=1)
        self._state = parts.html()
        self._clock = parts.html()
        self._log = LogView(parts)
        self._result = parts.html()
        self._more = parts.button("Show everything")
        self._more.on_click(lambda _: self._show_everything())
        self._more._dom_classes = (*self._more._dom_classes, HIDDEN)
        self._run: Run | None = None
        self._rendered: _Rendered | None = None
        self._seen: tuple[int, bool] | None = None
        self._is_old = False
        self.status = [self._bar, self._state, self._clock]
        """What belongs beside the buttons."""
        self.widget = parts.column(self._log.widget, self._result, self._more)

    def begin(self, run: Run) -> None:
        """Follow *run* from now on."""
        self._run, self._seen, self._is_old = run, None, False
        self._log.clear()
        self._result.value = ""
        show_if(self._more, wanted=False)
        self.show(run)

    def render(self, run: Run) -> None:
        """Prepare the result of *run*, which is over.

        The tool's own `visualize` works here: in the thread of the run, where it stops
        nobody else. A result that cannot be shown says so: the panel waits for it.
        """
        try:
            rendered = _Rendered(run, _result_html(run, LIMIT), _is_more(run))
        except Exception as error:  # noqa: BLE001 - a tool's own objects may do anything
            failed = f"The result cannot be shown: {type(error).__name__}."
            rendered = _Rendered(run, notice(failed, "danger"))
        self._rendered = rendered

    def show(self, run: Run) -> bool:
        """Show *run* as it is now, and tell whether that is all: only what changed is sent."""
        rendered = self._rendered
        over = rendered is not None and rendered.run is run
        put(self._state, _state_html(run))
        put(self._clock, _clock_html(run, is_old=self._is_old))
        seen = run.version, over
        if seen == self._seen and over:
            return True
        self._seen = seen
        self._show_progress(run)
        self._log.show(run.output, over=over)
        if over and rendered is not None:
            self._result.value = rendered.html
            show_if(self._more, wanted=rendered.is_more)
        return over

    def outdate(self) -> None:
        """Say of the run, if there is one, that its tool was another one."""
        if self._run is not None:
            self._is_old = True
            put(self._clock, _clock_html(self._run, is_old=True))

    def _show_progress(self, run: Run) -> None:
        share = run.progress_state.share
        moving = share is not None and run.state not in ENDED
        if moving:
            self._bar.value = share
        show_if(self._bar, wanted=moving)

    def _show_everything(self) -> None:
        if self._run is not None:
            self._log.show(self._run.output, over=True, limit=KEPT)
            self._result.value = _result_html(self._run, EVERYTHING)
            show_if(self._more, wanted=False)


def _result_html(run: Run, limit: int) -> Html:
    shown = run.confidence.hide(run.outcome)
    action = run.confidence.hide(run.action)
    return Html(result_html(shown, action, limit=limit) + _details(run))


def _state_html(run: Run) -> Html:
    word = _WORDS[run.state]
    shown = badge(word, _TONES.get(run.state, "neutral")) if word else ""
    return Html(f'<span role="status" aria-live="polite">{shown}</span>')


def _clock_html(run: Run, *, is_old: bool) -> Html:
    seconds = run.seconds
    exact = seconds < _TENTHS or run.state in ENDED
    words = [f"{seconds:.1f} s" if exact else f"{seconds:.0f} s"]
    if run.state in ENDED:
        words += [run.decision] if run.decision and run.state == "denied" else []
        words += [run.reason] if run.reason.startswith("timed out") else []
    else:
        words += [run.progress_state.said]
    words += ["of the tool as it was before"] if is_old else []
    text = " · ".join(filter(None, words))
    return Html(f'<span style="{REMARK}">{escape(text)}</span>')


def _is_more(run: Run) -> bool:
    """Whether something of the output or the result was left out."""
    blocks = read_by_model(run.outcome)
    size = sum(len(block.text) for block in blocks if isinstance(block, TextContent))
    return size > LIMIT or len(run.output.text) > LIVE + REST


def _details(run: Run) -> str:
    """The traceback, one click away: the model never sees it."""
    if not run.traceback:
        return ""
    return (
        '<details style="margin-top:6px"><summary style="cursor:pointer">Traceback'
        f"</summary>{to_html(from_ansi(run.traceback))}</details>"
    )
