"""The executor that asks the user, in the same way as `current_run().ask`."""

from typing import Any

from toolbench.core.executor import ToolExecutor
from toolbench.runs.current_run import current_run
from toolbench.tools.ask_human.definition import AskHumanAction, AskHumanObservation


class AskHumanExecutor(ToolExecutor[AskHumanAction, AskHumanObservation]):
    """The executor that asks the user: with a form in a panel, or with `input()` in a cell."""

    def __call__(self, action: AskHumanAction, conversation: Any = None) -> AskHumanObservation:
        """Ask the question of *action*, and return the user's answer."""
        schema: dict[str, Any] = {"type": "string", "title": "Your answer"}
        if action.choices:
            schema["enum"] = action.choices
        answer = current_run().ask(action.question, schema)
        if answer:
            text = str(answer.value)
            return AskHumanObservation.from_text(text, answer=text)
        if answer.by_somebody:
            text = "The user gave no answer. Continue without an answer, or end the task."
        else:
            text = "Nobody can be asked here. Continue without an answer, or end the task."
        return AskHumanObservation.from_text(text, is_error=not answer.by_somebody)
