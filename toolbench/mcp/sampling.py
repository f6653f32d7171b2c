"""Sampling: show a request in which a server asks for a message from a model, and answer it.

Source: MCP specification, sampling (with tools since 2025-11-25).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolbench.errors import SchemaError, ServerError, did_you_mean
from toolbench.jsonschema.node import one_of
from toolbench.jsonschema.validate import validator_of
from toolbench.jsonschema.walk import references_in
from toolbench.runs.questions import Answer
from toolbench.values import clip

MESSAGE: dict[str, Any] = {"type": "string", "title": "The message"}
# The most characters of a value in the conversation
_LONGEST = 2_000


def tools_in(params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tools that the model may call, as the server described them."""
    tools = []
    for tool in _as_list(params.get("tools")):
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            tools.append(tool)
    return tools


def tool_choice_in(params: Mapping[str, Any]) -> str:
    """Return the tool choice of the request: `auto`, `required` (must call a tool) or `none`."""
    choice = params.get("toolChoice")
    if isinstance(choice, Mapping) and choice.get("mode") in ("required", "none"):
        return str(choice["mode"])
    return "auto"


def answer_schema(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of the user's answer: a string or a tool call."""
    choice = tool_choice_in(params)
    calls = [_call_schema(tool) for tool in tools_in(params)]
    if not calls or choice == "none":
        return MESSAGE
    if choice == "required":
        return one_of(calls)
    return one_of([MESSAGE, *calls])


def conversation_text(messages: Iterable[Mapping[str, Any]], params: Mapping[str, Any]) -> str:
    """Return *messages* as text, with a line for each block, and the offered tools."""
    lines = []
    for message in messages:
        for block in _blocks_of(message):
            lines.append(f"{message.get('role')}: {_block_text(block)}")
    tools = tools_in(params)
    if tools and tool_choice_in(params) != "none":
        must = ""
        if tool_choice_in(params) == "required":
            must = " (one has to be called)"
        lines.append(f"The model may call{must}: {_described(tools)}")
    return "\n".join(lines)


def _call_schema(tool: Mapping[str, Any]) -> dict[str, Any]:
    name = tool["name"]
    return {
        "type": "object",
        "title": f"Call {name}",
        "properties": {
            "tool": {"const": name},
            "arguments": _arguments_schema(tool.get("inputSchema")),
        },
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }


def _arguments_schema(schema: Any) -> dict[str, Any]:
    """Return *schema* if it can be embedded in another schema, else a schema for any object."""
    anything = {"type": "object"}
    if not isinstance(schema, dict) or "$id" in schema:
        return anything
    if next(references_in(schema), None) is not None:
        return anything
    try:
        validator_of(schema)
    except SchemaError:
        return anything
    return {"type": "object", **schema}


def _described(tools: Sequence[Mapping[str, Any]]) -> str:
    words = []
    for tool in tools:
        if note := tool.get("description"):
            words.append(f"{tool['name']} ({clip(str(note))})")
        else:
            words.append(tool["name"])
    return ", ".join(words)


def _block_text(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "tool_use":
            arguments = clip(block.get("input", {}), _LONGEST)
            return f"calls {block.get('name')} with {arguments} [{block.get('id')}]"
        case "tool_result":
            word = "gave"
            if block.get("isError") is True:
                word = "failed"
            text = "\n".join(map(_block_text, _blocks_of(block)))
            return f"[{block.get('toolUseId')}] {word}: {text}"
    return str(block.get("text", f"[{block.get('type')}]"))


def _blocks_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    blocks = _as_list(message.get("content"))
    return [block for block in blocks if isinstance(block, Mapping)]


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value]


# --- the answer ---------------------------------------------------------------------------

_PERSON = "a person"


def message_of(
    answer: Answer, messages: list[Mapping[str, Any]], params: Mapping[str, Any]
) -> dict[str, Any]:
    """Convert *answer* to the message that answers a `sampling/createMessage` request.

    *answer* is a string, a complete message with a `role`, a tool call
    (`{"tool": name, "arguments": {...}}`), or a list of tool calls. *messages* and *params* are
    parts of the request.

    Raises:
        ServerError: If *answer* calls a tool that the request does not offer. Also if *answer*
            calls no tool although the request requires a tool call.
    """
    content = dict(answer.content or {})
    value = content.get("answer", content)
    if isinstance(value, Mapping) and "role" in value:
        message = {"model": "unknown", **value}
    else:
        before = 0
        for one in messages:
            before += len(_calls_in(one))
        message = _written(value, before)
    _check(_calls_in(message), params)
    return message


def _written(value: Any, number: int) -> dict[str, Any]:
    blocks = []
    for place, call in enumerate(_as_list(value), 1):
        if not isinstance(call, Mapping) or "tool" not in call:
            block = {"type": "text", "text": str(value)}
            return {"role": "assistant", "model": _PERSON, "content": block}
        blocks.append(
            {
                "type": "tool_use",
                "id": f"call-{number + place}",
                "name": call["tool"],
                "input": call.get("arguments", {}),
            }
        )
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
            offered = "no tools"
            if names and choice != "none":
                offered = ", ".join(names)
            near = did_you_mean(str(name), names)
            msg = f"The answer calls {clip(name)}, and the request offers {offered}.{near}"
            raise ServerError(msg)
        if not isinstance(arguments, Mapping):
            msg = f"The answer calls {clip(name)} with {clip(arguments)}, not an object."
            raise ServerError(msg)


def _calls_in(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [block for block in _blocks_of(message) if block.get("type") == "tool_use"]
