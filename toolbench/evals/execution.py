"""Run the calls of answers one after another."""

from collections.abc import Iterable

from toolbench.evals.case import Case
from toolbench.evals.consent import ask_for_all
from toolbench.evals.scoring import AnyTool
from toolbench.jsonschema.types import Json
from toolbench.llm.calls import ToolCall
from toolbench.runs.perform import perform
from toolbench.runs.policy import has_changed, policy
from toolbench.runs.run import run_here

# Characters of a tool's result
_TEXT = 2_000
_TOO_MANY = "not run: more calls than agreed"
_CHANGED = "not run: its server changed the tool after the consent"
_INTERRUPTED = "not run: the evaluation was interrupted"


def at_most(case: Case) -> int:
    """Return how many calls of one answer to *case* may run, at most, if they need consent."""
    return max(1, len(case.calls))


class CallRunner:
    """Runs the calls of answers one after another; after an interrupt it runs no more calls."""

    def __init__(self) -> None:
        """Make a runner that has not asked for consent yet."""
        self._agreed_to: frozenset[str] = frozenset()
        # As the person was asked about them
        self._judged: dict[str, AnyTool] = {}
        self.is_interrupted = False
        """Whether a person interrupted the evaluation. Then no call runs any more."""

    def ask(self, tools: Iterable[AnyTool], count: int) -> None:
        """Ask once whether at most *count* calls of *tools* may run, if they need consent.

        Raises:
            ConsentError: As for `ask_for_all`.
        """
        judged = [tool.as_listed() for tool in tools if not tool.blocked]
        self._judged = {tool.name: tool for tool in judged}
        self._agreed_to = ask_for_all(judged, count, at_most=True)

    def run(self, calls: Iterable[ToolCall], limit: int) -> tuple[Json, ...]:
        """Run the *calls* that can run, and return their results.

        Args:
            calls: The calls of an answer.
            limit: The most calls to run that need consent; further calls are marked as not run.
        """
        results: list[Json] = []
        for call in calls:
            if call.tool is None or call.action is None or call.tool.executor is None:
                continue
            if self.is_interrupted:
                results.append(_not_run(call, _INTERRUPTED))
                continue
            if self._needs_consent(call):
                if call.name in self._judged and has_changed(self._judged[call.name]):
                    results.append(_not_run(call, _CHANGED))
                    continue
                limit -= 1
                if limit < 0:
                    results.append(_not_run(call, _TOO_MANY))
                    continue
            results.append(self._run(call))
        return tuple(results)

    def _needs_consent(self, call: ToolCall) -> bool:
        tool: AnyTool = call.tool  # type: ignore[assignment]
        verdict, _ = policy.verdict_on(tool.as_listed(), call.security_risk)
        return verdict == "ask" or call.name in self._agreed_to

    def _run(self, call: ToolCall) -> Json:
        run = run_here(
            call.tool,  # type: ignore[arg-type]
            call.arguments,
            "model",
            action=call.action,
            risk=call.security_risk,
        )
        try:
            # The one question was not about the rating of this call
            perform(run, confirm=call.name not in self._agreed_to)
        except KeyboardInterrupt:
            # The answer is paid for: its trial is kept
            self.is_interrupted = True
        text = run.secrets.redactor.text(run.outcome.text)
        return {
            "run": run.id,
            "name": call.name,
            "state": run.state,
            "text": text[:_TEXT],
        }


def _not_run(call: ToolCall, why: str) -> Json:
    return {"run": None, "name": call.name, "state": "not run", "text": why}
