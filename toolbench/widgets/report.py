"""What a panel shows of its run: state, progress, output, and the result twice."""

import ipywidgets as w

from toolbench.display.ansi import from_ansi
from toolbench.display.escape import Html, escape
from toolbench.display.objects import result_html
from toolbench.display.render import to_html
from toolbench.runs.run import ENDED, Run
from toolbench.widgets.parts import Parts

_WORDS = {
    "new": "",
    "running": "running",
    "waiting": "waiting for an answer",
    "stopping": "stopping…",
    "ok": "done",
    "error": "failed",
    "cancelled": "cancelled",
    "denied": "not run",
}


_BAR = ("toolbench-bar",)
_HIDDEN = "toolbench-hidden"


class RunReport:
    """Follows one run at a time."""

    def __init__(self, parts: Parts) -> None:
        """Make the widgets, with nothing to show."""
        self._bar = parts.make(w.FloatProgress, *_BAR, _HIDDEN, min=0, max=1)
        self._state = parts.html()
        self._output = parts.html()
        self._result = parts.html()
        self._version = -1
        self.status = [self._bar, self._state]
        """What belongs beside the buttons."""
        self.widget = parts.column(self._output, self._result)

    def begin(self, run: Run) -> None:
        """Follow *run* from now on."""
        self._version = -1
        self._output.value = self._result.value = ""
        self._bar._dom_classes = (*_BAR, _HIDDEN)
        self.show(run)

    def show(self, run: Run) -> None:
        """Show *run* as it is now: only what changed is sent."""
        progress = run.progress_state
        moving = progress.message or (
            f"{progress.value:g} of {progress.total:g}" if progress.total else ""
        )
        said = f"{_WORDS[run.state]} · {run.seconds:.1f} s"
        said += f" · {moving}" if moving and run.state not in ENDED else ""
        self._state.value = Html(
            f'<span role="status" aria-live="polite">{escape(said)}</span>'
        )
        if run.version == self._version:
            return
        self._version = run.version
        if progress.total and run.state not in ENDED:
            self._bar.value = min(max(progress.value / progress.total, 0.0), 1.0)
            self._bar._dom_classes = _BAR
        else:
            self._bar._dom_classes = (*_BAR, _HIDDEN)
        text = run.output.text
        self._output.value = to_html(from_ansi(text)) if text else ""
        if run.done.is_set() and run.observation is not None:
            self._result.value = Html(
                result_html(run.observation, run.action) + _details(run)
            )


def _details(run: Run) -> str:
    """The traceback, one click away: the model never sees it."""
    if not run.traceback:
        return ""
    return (
        "<details><summary>Traceback</summary>"
        f"{to_html(from_ansi(run.traceback))}</details>"
    )
