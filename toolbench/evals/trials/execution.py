"""Run the calls of answers one after another."""

from collections.abc import Iterable

from toolbench.jsonschema.types import Json
from toolbench.llm.calls import ToolCall
from toolbench.runs.engine import perform
from toolbench.runs.run import run_here

_TEXT = 2_000  # characters of what a tool returned


class CallRunner:
    """A runner of calls, one after another, that stops after an interrupt."""

    def __init__(self) -> None:
        """Start without an interrupt."""
        self.is_interrupted = False
        """Whether a person interrupted a run; its trial is still kept."""

    def run(self, calls: Iterable[ToolCall]) -> tuple[Json, ...]:
        """Run those of *calls* that can run, and return their results."""
        results: list[Json] = []
        for call in calls:
            if call.tool is None or call.action is None or call.tool.executor is None:
                continue
            if self.is_interrupted:
                break
            results.append(self._run(call))
        return tuple(results)

    def _run(self, call: ToolCall) -> Json:
        run = run_here(
            call.tool,  # type: ignore[arg-type]
            call.arguments,
            "model",
            action=call.action,
            risk=call.security_risk,
        )
        try:
            perform(run, confirm=False)
        except KeyboardInterrupt:  # the answer is paid for: its trial is kept
            self.is_interrupted = True
        text = run.secrets.redactor.text(run.outcome.text)
        return {
            "run": run.id,
            "name": call.name,
            "state": run.state,
            "text": text[:_TEXT],
        }
