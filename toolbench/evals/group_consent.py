"""Ask for consent once for many calls; the question says how many there will be."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.errors import ConsentError
from toolbench.runs.current_run import active_run
from toolbench.runs.input_prompt import ask_in_cell
from toolbench.runs.policy import is_asked_once, policy
from toolbench.runs.questions import Answer, ConsentLabels, Question, presets
from toolbench.runs.run import Run
from toolbench.wording import counted

# Tools that are named
_MAX_NAMES = 10


def ask_for_all(
    tools: Iterable[ToolDefinition[Any, Any]], count: int, *, at_most: bool = False
) -> str:
    """Ask once whether *count* calls of *tools* may run, if the policy requires consent.

    Args:
        tools: The tools that will be called.
        count: How many calls there will be.
        at_most: Whether *count* is a maximum.

    Returns:
        The decision, in words.

    Raises:
        ConsentError: If the answer is no. If no person can answer: only if a reason to ask holds
            without a person too. In both cases no call has run.
    """
    reasons = {}
    for tool in tools:
        verdict, why = policy.verdict_on(tool)
        if verdict == "ask":
            reasons[tool.name] = (why, tool.hints.effect == "destructive")
    if not reasons or not count:
        return "no confirmation needed"
    reasons_text = "; ".join(dict.fromkeys(why for why, _ in reasons.values()))
    names = ", ".join([*reasons][:_MAX_NAMES])
    number = f"{'at most ' if at_most else ''}{counted(count, 'call')}"
    head = f"Run {number} of {names}? Asked once for all of them, because {reasons_text}."
    consent = ConsentLabels(
        act=f"Run {number}",
        refusal="Run none",
        is_dangerous=any(dangerous for _, dangerous in reasons.values()),
    )
    answer = _answer(replace(Question.about(head, None, ""), consent=consent))
    if answer:
        return f"agreed to {number}: {reasons_text}"
    if not answer.by_somebody and all(is_asked_once(w) for w, _ in reasons.values()):
        return f"allowed: no person could be asked, and {reasons_text}"
    reason = "the person declined" if answer.by_somebody else "no person could be asked"
    msg = (
        f"None of {number} of {names} was run: {reason}, and consent was needed, because {reasons_text}. "
        "`toolbench.policy.allow(tool)` lets it run without a question."
    )
    raise ConsentError(msg)


def _answer(question: Question) -> Answer:
    """Ask *question* and return the answer.

    The current run asks; without a run, the preset asker, or else the cell.
    """
    run = active_run()
    if isinstance(run, Run):
        return run.put(question)
    asker = presets.asker or ask_in_cell
    return question.meaning_of(asker(question))
