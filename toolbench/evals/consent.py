"""Ask for consent once before many calls; the question says how many calls there will be."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.errors import ConsentError
from toolbench.runs.consent_question import one_line
from toolbench.runs.current_run import active_run
from toolbench.runs.policy import Reason, Ruling, ask_consent, policy
from toolbench.runs.questions import ConsentLabels, Question
from toolbench.runs.run import Run
from toolbench.wording import counted

# Tools that are named
_MAX_NAMES = 10


def ask_for_all(
    tools: Iterable[ToolDefinition[Any, Any]], count: int | None = None, *, at_most: bool = False
) -> frozenset[str]:
    """Ask once whether *count* calls of *tools* may run, if the policy requires consent.

    Args:
        tools: The tools that will be called.
        count: The number of calls that will be made. If left out, *tools* must contain one item for
            each call, and the calls that need consent are counted.
        at_most: Whether *count* is a maximum. If so, the question says "at most".

    Returns:
        The names of the tools whose calls the user approved. The set is empty if no consent is
        needed. It is also empty if no user can answer the question; in this case, the policy
        decides on each call when it is made.

    Raises:
        ConsentError: If the user declined, or if the policy requires consent although no user can
            answer the question. In both cases, no call has run.
    """
    rulings: dict[str, Ruling] = {}
    is_dangerous, asked = False, 0
    for tool in tools:
        ruling = policy.ruling_on(tool)
        is_open = ruling.verdict == "allow" and ruling.reason is not Reason.NAMED
        # Nobody is asked again when one of these calls comes
        if is_open and type(tool).asks_because is not ToolDefinition.asks_because:
            words = f"{tool.name} asks before some of its calls"
            ruling = Ruling("ask", Reason.CALL, words)
        if ruling.verdict == "ask":
            rulings[tool.name] = ruling
            asked += 1
            is_dangerous = is_dangerous or tool.hints.effect == "destructive"
    if count is None:
        count = asked
    if not rulings or not count:
        return frozenset()
    reasons_text = "; ".join(dict.fromkeys(ruling.words for ruling in rulings.values()))
    names = ", ".join([*rulings][:_MAX_NAMES])
    number = f"{'at most ' if at_most else ''}{counted(count, 'call')}"
    head = one_line(f"Consent is needed once for {number} of {names}, because {reasons_text}.")
    labels = ConsentLabels(act=f"Run {number}", is_dangerous=is_dangerous)
    question = replace(Question.about(head, None, ""), consent=labels)
    run = active_run()
    consent = ask_consent(
        question,
        run if isinstance(run, Run) else None,
        is_asked_once=all(ruling.is_asked_once for ruling in rulings.values()),
    )
    if consent.answer:
        return frozenset(rulings)
    if consent.may_run:
        return frozenset()
    msg = (
        f"None of {number} of {names} was run: {consent.who}, and consent was needed, because {reasons_text}. "
        "`toolbench.policy.allow(tool)` lets it run without a question."
    )
    raise ConsentError(msg)
