"""Show a model's call as text and HTML: its arguments, its repairs, and the answer to it."""

from collections.abc import Sequence
from typing import Any

from toolbench.core.schema import Observation
from toolbench.display.css import TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.json_tree import json_html, json_text
from toolbench.display.page import Tone, key_values, notice, section
from toolbench.display.render import to_text
from toolbench.llm.answers import respond
from toolbench.llm.calls.tool_call import ToolCall
from toolbench.redaction.detect import hide

ANSWER = "What goes back to the model"
NO_CALL = "This message has no tool call that can be read: the model only wrote text."
# Down to the text, in the message of each provider
_OPEN_LEVELS = 6
_PENDING = "Nothing, until the call is run."


def call_head(call: ToolCall) -> Html:
    """Return the head of a call as HTML: its name, its repairs and its error."""
    remarks = "".join(notice(words, tone) for words, tone in _remarks(call))
    thought = notice(f"Thought: {call.thought}", "neutral") if call.thought else ""
    return Html(
        f'<div {NO_MATHS} style="{TEXT_FONT};{TEXT_COLOR}"><div style="margin:14px 0 6px">'
        f"<strong>{escape(_title(call))}</strong></div>{thought}{remarks}</div>"
    )


def call_answer(call: ToolCall, observation: Observation | None = None) -> Html:
    """Return as HTML the message that answers *call*, or a note if there is no answer yet."""
    answer = _answer(call, observation)
    if answer is None:
        return section(ANSWER, notice(_PENDING, "neutral"))
    return section(ANSWER, json_html(answer, open_levels=_OPEN_LEVELS))


def calls_bundle(
    calls: Sequence[ToolCall], observations: Sequence[Observation | None]
) -> dict[str, str]:
    """Return *calls* and their results as text, and as HTML that needs no kernel."""
    pairs = list(zip(calls, observations, strict=True))
    text = "\n\n".join(_text(call, observation) for call, observation in pairs) or NO_CALL
    html = "".join(_html(call, observation) for call, observation in pairs)
    return {
        "text/plain": to_text(text),
        "text/html": html or notice(NO_CALL, "neutral"),
    }


def _html(call: ToolCall, observation: Observation | None) -> Html:
    table = key_values(_arguments_without_secrets(call)) if call.arguments else ""
    return Html(f"{call_head(call)}{table}{call_answer(call, observation)}")


def _text(call: ToolCall, observation: Observation | None) -> str:
    answer = _answer(call, observation)
    lines = [
        _title(call),
        *([f"thought: {call.thought}"] if call.thought else []),
        f"arguments: {json_text(_arguments_without_secrets(call))}",
        *(words for words, _ in _remarks(call)),
        f"{ANSWER}: {_PENDING if answer is None else json_text(answer)}",
    ]
    return "\n".join(lines)


def _title(call: ToolCall) -> str:
    facts = call.metadata
    details = [facts.provider, *([f"id {call.id}"] if call.id else [])]
    details += [f"rated {call.security_risk}"] if call.security_risk else []
    name = call.name or "no name"
    return f"Call {facts.index + 1} of {facts.total}: {name} ({', '.join(details)})"


def _remarks(call: ToolCall) -> list[tuple[str, Tone]]:
    """Return the remarks on the call, each with its colour."""
    remarks: list[tuple[str, Tone]] = [
        (f"Repaired: {repair}.", "warning") for repair in call.repairs
    ]
    if call.summary:
        remarks.insert(0, (f"The model's summary: {call.summary}", "neutral"))
    if call.error is not None:
        return [*remarks, (f"Error: {call.error}", "danger")]
    if call.tool is None or call.tool.executor is None:
        return [
            *remarks,
            ("The call is valid, but the tool has no executor.", "neutral"),
        ]
    return [*remarks, ("Ready to run.", "success")]


def _arguments_without_secrets(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of *call* with their secrets hidden."""
    masked: dict[str, Any] = hide(call.arguments, call.tool.input_schema if call.tool else {})
    return masked


def _answer(call: ToolCall, observation: Observation | None) -> dict[str, Any] | None:
    if observation is None and call.error is None:
        return None
    return respond(call, observation)
