"""An opened trial: its transcript, and each call in the panel of its tool."""

from typing import Any

from toolbench.agent.events import MessageEvent
from toolbench.agent.transcript import other_html
from toolbench.core.content import TextContent
from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.display.page import badge, key_values, notice, short
from toolbench.evals.report import EvalReport
from toolbench.evals.report_html import (
    answer_text,
    expected_html,
    lint_html,
)
from toolbench.evals.trial import Trial
from toolbench.jsonschema.types import Json
from toolbench.runs.record import is_lost
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.panel.panel import ToolPanel

# Calls of one answer that have a panel
_MOST = 10


class OpenedTrial:
    """The transcript of one trial: a model's answer to a case. Each call has a panel to run it again."""

    def __init__(self, trial: Trial, report: EvalReport) -> None:
        """Open *trial* of *report*; a call runs only after a person starts it."""
        self._parts = parts = Parts()
        self._panels: list[ToolPanel] = []
        calls = [
            widget
            for n, call in enumerate(trial.calls, 1)
            for widget in self._call(n, call, report.tools.get(call["name"]))
        ]
        foot = lint_html(trial, report)
        self.widget = parts.column(parts.html(_head_html(trial, report)), *calls, parts.html(foot))

    def _call(self, number: int, call: Json, tool: ToolDefinition[Any, Any] | None) -> list[Any]:
        head = [
            f'<div role="heading" aria-level="4">Called: <code>{short(call["name"])}</code></div>'
        ]
        head += [notice(f"Repaired: {text}", "warning") for text in call.get("repairs", ())]
        arguments = call["arguments"]
        if tool is None or number > _MOST:
            why = "more calls have no panel" if tool else "there is no such tool"
            head += [
                key_values(arguments),
                notice(f"It cannot be run here: {why}.", "neutral"),
            ]
            return [self._parts.html(Html("".join(head)))]
        known = {name: value for name, value in arguments.items() if not is_lost(value)}
        if len(known) < len(arguments):
            names = ", ".join(name for name in arguments if name not in known)
            head.append(
                notice(
                    f"Not kept, because it is secret: {names}. Fill it in to run the call.",
                    "neutral",
                )
            )
        panel = ToolPanel(tool, known)
        panel.form.reveal_errors()
        self._panels.append(panel)
        return [self._parts.html(Html("".join(head))), panel]

    @property
    def is_busy(self) -> bool:
        """Whether a call runs in one of the panels."""
        return any(panel.is_busy for panel in self._panels)

    def close(self) -> None:
        """Close all widgets; runs are cancelled."""
        for panel in self._panels:
            panel.close()
        self._parts.close()


def _head_html(trial: Trial, report: EvalReport) -> Html:
    title = (
        f'<div role="heading" aria-level="3">{badge(trial.model, "info")}'
        f"<strong>{short(trial.title)}</strong> {escape(f'answer {trial.repeat}')}</div>"
    )
    prompt = other_html(MessageEvent([TextContent(text=trial.prompt)]))
    text = answer_text(trial)
    answer = other_html(MessageEvent([TextContent(text=text)], source="agent")) if text else ""
    results = "".join(
        notice(f"Run {r['run']}, {r['name']}, {r['state']}: {r['text']}", "neutral")
        for r in trial.results
    )
    return Html(f"{title}{prompt}{answer}{results}{expected_html(trial, report)}")
