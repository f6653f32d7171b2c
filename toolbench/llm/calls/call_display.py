"""Show a model's call as text and HTML: its arguments, its repairs, and the answer to it."""

from collections.abc import Sequence

from toolbench.core.schema import Observation
from toolbench.display.css import TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.json_tree import json_html, json_text
from toolbench.display.page import Tone, key_values, notice, section
from toolbench.display.render import to_text
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.tool_call import ToolCall

ANSWER = "What goes back to the model"
NO_CALL = "This message has no tool call that can be read: the model only wrote text."
# Deep enough to show the text in the message of every provider
_OPEN_LEVELS = 6
_PENDING = "Nothing, until the call is run."


def call_head(call: ToolCall) -> Html:
    """Return the head of a call as HTML: its name, its repairs and its error."""
    remarks = ""
    if call.thought:
        remarks += notice(f"Thought: {call.thought}", "neutral")
    for words, tone in _remarks(call):
        remarks += notice(words, tone)
    return Html(
        f'<div {NO_MATHS} style="{TEXT_FONT};{TEXT_COLOR}"><div style="margin:14px 0 6px">'
        f"<strong>{escape(_title(call))}</strong></div>{remarks}</div>"
    )


def call_answer(call: ToolCall, observation: Observation | None = None) -> Html:
    """Return the message that answers *call* as HTML, or a note if there is no answer yet."""
    answer = _answer(call, observation)
    if answer is None:
        return section(ANSWER, notice(_PENDING, "neutral"))
    return section(ANSWER, json_html(answer, open_levels=_OPEN_LEVELS))


def calls_bundle(
    calls: Sequence[ToolCall], observations: Sequence[Observation | None]
) -> dict[str, str]:
    """Return *calls* and their results as a mime bundle: text, and HTML that needs no kernel."""
    pairs = list(zip(calls, observations, strict=True))
    text = "\n\n".join(_text(call, observation) for call, observation in pairs) or NO_CALL
    html = "".join(_html(call, observation) for call, observation in pairs)
    return {
        "text/plain": to_text(text),
        "text/html": html or notice(NO_CALL, "neutral"),
    }


def _html(call: ToolCall, observation: Observation | None) -> Html:
    table = ""
    if call.arguments:
        table = key_values(call.shown_arguments)
    return Html(f"{call_head(call)}{table}{call_answer(call, observation)}")


def _text(call: ToolCall, observation: Observation | None) -> str:
    lines = [_title(call)]
    if call.thought:
        lines.append(f"thought: {call.thought}")
    lines.append(f"arguments: {json_text(call.shown_arguments)}")
    for words, _ in _remarks(call):
        lines.append(words)
    answer = _answer(call, observation)
    if answer is None:
        lines.append(f"{ANSWER}: {_PENDING}")
    else:
        lines.append(f"{ANSWER}: {json_text(answer)}")
    return "\n".join(lines)


def _title(call: ToolCall) -> str:
    facts = call.metadata
    details: list[str] = [facts.provider]
    if call.id:
        details.append(f"id {call.id}")
    if call.security_risk:
        details.append(f"rated {call.security_risk}")
    name = call.name or "no name"
    return f"Call {facts.index + 1} of {facts.total}: {name} ({', '.join(details)})"


def _remarks(call: ToolCall) -> list[tuple[str, Tone]]:
    """Return the remarks on the call, each with its colour."""
    remarks: list[tuple[str, Tone]] = []
    if call.summary:
        remarks.append((f"The model's summary: {call.summary}", "neutral"))
    for repair in call.repairs:
        remarks.append((f"Repaired: {repair}.", "warning"))
    if call.error is not None:
        remarks.append((f"Error: {call.error}", "danger"))
    elif call.tool is None or call.tool.executor is None:
        remarks.append(("The call is valid, but the tool has no executor.", "neutral"))
    else:
        remarks.append(("Ready to run.", "success"))
    return remarks


def _answer(call: ToolCall, observation: Observation | None) -> Json | None:
    if observation is None and call.error is None:
        return None
    return call.answer(observation)
