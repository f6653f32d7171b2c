"""Make the result of a sampling request from what a handler or a person answered."""

from collections.abc import Mapping
from typing import Any

from toolbench.errors import ServerError, did_you_mean
from toolbench.mcp.sampling.sampling_request import tool_choice_in, tools_in
from toolbench.runs.questions import Answer
from toolbench.values import clip

_PERSON = "a person"


def message_of(
    answer: Answer, messages: list[Mapping[str, Any]], params: Mapping[str, Any]
) -> dict[str, Any]:
    """Return *answer* as a message: the result of the request `sampling/createMessage`.

    The answer is a whole message (with its `role`), a text, the call of a tool
    (`{"tool": name, "arguments": {...}}`), or a list of calls. *messages* and *params* are those
    of the request.

    Raises:
        ServerError: If the answer calls a tool that the request does not offer, or calls no tool
            although the request demands a call.
    """
    content = dict(answer.content or {})
    value = content.get("answer", content)
    if isinstance(value, Mapping) and "role" in value:
        message = {"model": "unknown", **value}
    else:
        message = _written(value, _calls_so_far(messages))
    _check(_calls_in(message), params)
    return message


def _written(value: Any, number: int) -> dict[str, Any]:
    calls = value if isinstance(value, list) else [value]
    if not all(isinstance(call, Mapping) and "tool" in call for call in calls):
        block = {"type": "text", "text": str(value)}
        return {"role": "assistant", "model": _PERSON, "content": block}
    blocks = [
        {
            "type": "tool_use",
            "id": f"call-{number + place}",
            "name": call["tool"],
            "input": call.get("arguments", {}),
        }
        for place, call in enumerate(calls, 1)
    ]
    return {
        "role": "assistant",
        "model": _PERSON,
        "content": blocks,
        "stopReason": "toolUse",
    }


def _check(calls: list[Mapping[str, Any]], params: Mapping[str, Any]) -> None:
    names = [tool["name"] for tool in tools_in(params)]
    choice = tool_choice_in(params)
    if choice == "required" and names and not calls:
        msg = f"The answer has to call a tool of the request: {', '.join(names)}."
        raise ServerError(msg)
    for call in calls:
        name, arguments = call.get("name"), call.get("input")
        if choice == "none" or name not in names:
            offered = ", ".join(names) if choice != "none" else ""
            near = did_you_mean(str(name), names)
            msg = (
                f"The answer calls {clip(name)}, and the request offers "
                f"{offered or 'no tools'}.{near}"
            )
            raise ServerError(msg)
        if not isinstance(arguments, Mapping):
            msg = f"The answer calls {clip(name)} with {clip(arguments)}, not an object."
            raise ServerError(msg)


def _calls_in(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [content]
    return [
        block for block in blocks if isinstance(block, Mapping) and block.get("type") == "tool_use"
    ]


def _calls_so_far(messages: list[Mapping[str, Any]]) -> int:
    return sum(len(_calls_in(message)) for message in messages)
