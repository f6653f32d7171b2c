"""Run the calls of answers one after another."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from toolbench.errors import SecretError
from toolbench.evals.consent import ask_for_all
from toolbench.evals.scoring import AnyTool
from toolbench.jsonschema.types import Json
from toolbench.llm.calls import ToolCall
from toolbench.redaction.redactor import Redactor
from toolbench.runs.perform import perform
from toolbench.runs.policy import has_changed
from toolbench.runs.run import Run, run_here
from toolbench.runs.secret_question import ask_before

# Characters of a tool's result
_TEXT = 2_000
# The states of runs that have done their work
_DONE = ("ok", "error")
_TOO_MANY = "not run: more calls than agreed"
_CHANGED = "not run: its server changed the tool after the consent"
_INTERRUPTED = "not run: the evaluation was interrupted"


class CallRunner:
    """Runs the calls of answers one after another, and none after an interrupt."""

    def __init__(self) -> None:
        """Make a runner that has not asked for consent yet."""
        self._agreed_to: frozenset[str] = frozenset()
        # As the person was asked about them
        self._judged: dict[str, AnyTool] = {}
        self.is_interrupted = False
        """Whether the user interrupted the evaluation. Then no further call runs."""

    def ask(self, tools: Iterable[AnyTool], count: int) -> None:
        """Ask once for consent to at most *count* calls of *tools*, and ask for missing secrets.

        Raises:
            ConsentError: As for `ask_for_all`.
        """
        judged = [tool.as_listed() for tool in tools if not tool.blocked]
        self._judged = {tool.name: tool for tool in judged}
        self._agreed_to = ask_for_all(judged, count, at_most=True)
        for tool in judged:
            # Perhaps no case needs it: a call without it says so
            with suppress(SecretError):
                ask_before(tool)

    def run(
        self,
        calls: Iterable[ToolCall],
        limit: int,
        known: Mapping[int, Json],
        keep: Callable[[int, Json], object],
        redactor: Redactor,
    ) -> tuple[Json, ...]:
        """Run the *calls* of an answer, and return their results.

        Args:
            calls: The calls. A call is skipped if it has no tool that can run, or if its arguments
                are not valid.
            limit: The number of calls that the user's consent covers. If more calls need consent,
                they do not run, and their results say so.
            known: The results of calls that have already run, by the position of the call in
                *calls*. These calls do not run again.
            keep: A function that is called with the position and the result of each call that has
                run. It adds the result to *known*. It is not called for calls that were stopped or
                did not run.
            redactor: Masks secrets in the results: those of the answer, those of its case, and the
                model's API key.
        """
        results: list[Json] = []
        for place, call in enumerate(calls):
            if not can_run(call):
                continue
            result = known.get(place)
            if result is None and (why := self._refusal(call, limit)):
                result = _not_run(call, why)
            elif result is None:
                limit -= call.name in self._agreed_to
                result = self._run(call, redactor)
                if result["state"] in _DONE:
                    keep(place, result)
            results.append(result)
        return tuple(results)

    def _refusal(self, call: ToolCall, limit: int) -> str:
        """Return why *call* may not run, or "" if it may; the consent covers *limit* more calls."""
        if self.is_interrupted:
            return _INTERRUPTED
        # Of any other call, the policy judges when it comes
        if call.name not in self._agreed_to:
            return ""
        if has_changed(self._judged[call.name]):
            return _CHANGED
        if limit < 1:
            return _TOO_MANY
        return ""

    def _run(self, call: ToolCall, redactor: Redactor) -> Json:
        run = run_here(
            call.tool,  # type: ignore[arg-type]
            call.arguments,
            "model",
            action=call.action,
            risk=call.security_risk,
        )
        run.call_id = call.id or ""
        try:
            # The one question was not about the rating of this call
            perform(run, confirm=call.name not in self._agreed_to)
        except KeyboardInterrupt:
            # The answer is paid for: its trial is kept
            self.is_interrupted = True
        return _result(run, redactor)


def can_run(call: ToolCall) -> bool:
    """Tell whether *call* has a tool that can run, and arguments that fit."""
    return call.tool is not None and call.action is not None and call.tool.executor is not None


def _result(run: Run, redactor: Redactor) -> Json:
    text = run.secrets.redactor.joined(redactor).text(run.outcome.text)
    return {"run": run.id, "name": run.tool.name, "state": run.state, "text": text[:_TEXT]}


def _not_run(call: ToolCall, why: str) -> Json:
    return {"run": None, "name": call.name, "state": "not run", "text": why}
