"""Let a model that does not support tool calls use tools, by instructions and an output grammar.

Each turn is text that any chat template accepts. A call is one object, `{"name": ..., "arguments":
{...}}`; an answer is `{"answer": "..."}`. The grammar allows nothing else, so that even a very
small model writes calls that can be parsed.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from toolbench.jsonschema.node import Node, read
from toolbench.jsonschema.types import Json
from toolbench.llm.models.model import Chunk, Messages, OnChunk
from toolbench.llm.wire import WIRES

_INSTRUCTIONS = """You are a helpful assistant. You have access to these tools:
<tools>
{tools}
</tools>
To call one, write {{"name": tool, "arguments": {{...}}}}. If none is needed, write {{"answer": text}}."""
_NO_TOOL = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
_NUMERIC = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_FORMATS = frozenset({"date", "time", "date-time", "uuid"})
# Limited, because a grammar repeats the rule of each item
_MOST_ITEMS = 32
# Levels of nesting that the grammar covers
_DEEPEST = 8


def local_messages(messages: Messages, tools: Sequence[Json]) -> list[Json]:
    """Return the conversation as turns of plain text; the first turn describes the tools."""
    turns: list[Json] = []
    if tools:
        tool_lines = "\n".join(json.dumps(tool["function"]) for tool in tools)
        turns.append({"role": "system", "content": _INSTRUCTIONS.format(tools=tool_lines)})
    for message in messages:
        role, text = _turn(message)
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += f"\n\n{text}"
        else:
            turns.append({"role": role, "content": text})
    return turns


def _turn(message: Mapping[str, Any]) -> tuple[str, str]:
    role, text = str(message.get("role")), _text(message.get("content"))
    if role == "tool":
        return "user", f"<tool_response>\n{text}\n</tool_response>"
    lines = []
    if text:
        lines.append(text)
    if role == "assistant":
        for call in WIRES["openai"].read(message).calls:
            name, arguments = json.dumps(call.name), _arguments(call.arguments)
            lines.append(f'{{"name": {name}, "arguments": {arguments}}}')
    return role, "\n".join(lines)


def _arguments(value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    return json.dumps(value or {})


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    lines = []
    for part in content or ():
        if isinstance(part, Mapping):
            lines.append(str(part.get("text", "[an image that this model cannot see]")))
    return "\n".join(lines)


# --- what the model may write ---------------------------------------------------------


def answer_schema(tools: Sequence[Json]) -> Json:
    """Return the schema of the model's output: a call of one of *tools*, or an answer."""
    return {"anyOf": [*map(_call_schema, tools), _NO_TOOL]}


def _call_schema(tool: Json) -> Json:
    function = tool["function"]
    arguments = _reduced(read(function.get("parameters") or {"type": "object"}))
    return {
        "type": "object",
        "properties": {"name": {"const": function["name"]}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _reduced(node: Node, above: tuple[str, ...] = ()) -> Json:
    """Return *node* with only the keywords that a grammar supports; the rest is checked later.

    *above* contains the names of the definitions around *node*. A recursive part, or a part that is
    nested too deeply, becomes a schema that accepts any value.
    """
    if len(above) > _DEEPEST or (node.definition and node.definition in above):
        return {}
    above = (*above, node.definition)
    choices = [_reduced(branch, above) for branch in node.branches]
    choices = choices or [_plain(node, above)]
    if {} in choices:
        return {}
    if node.nullable:
        choices.append({"type": "null"})
    if len(choices) == 1:
        return choices[0]
    return {"anyOf": choices}


def _plain(node: Node, above: tuple[str, ...]) -> Json:
    if node.values:
        return {"enum": list(node.values)}
    match node.type:
        case None:
            return {}
        case "integer":
            return {"type": node.type, **_limits(node, _NUMERIC)}
        case "array":
            return {"type": node.type, **_list(node, above)}
        case "object":
            return {"type": node.type, **_object(node, above)}
    if node.format in _FORMATS:
        return {"type": node.type, "format": node.format}
    return {"type": node.type}


def _limits(node: Node, keywords: Iterable[str]) -> Json:
    limits: Json = {}
    for keyword in keywords:
        limit = node.limit(keyword)
        if limit is not None:
            limits[keyword] = limit
    return limits


def _list(node: Node, above: tuple[str, ...]) -> Json:
    sizes = _limits(node, ("minItems", "maxItems"))
    schema: Json = {key: size for key, size in sizes.items() if size <= _MOST_ITEMS}
    if node.items is not None:
        schema["items"] = _reduced(node.items, above)
    return schema


def _object(node: Node, above: tuple[str, ...]) -> Json:
    if node.properties:
        parts = {name: _reduced(part, above) for name, part in node.properties.items()}
        closed = {"properties": parts, "additionalProperties": False}
        return {**closed, "required": list(node.required)}
    if node.additional is None:
        return {}
    return {"additionalProperties": _reduced(node.additional, above)}


# --- what the model wrote -------------------------------------------------------------

_CALL = re.compile(
    r'\s*\{\s*"name"\s*:\s*"((?:[^"\\]|\\.)*)"\s*,\s*"arguments"\s*:\s*(.*)', re.DOTALL
)


class Written:
    """Collects the model's output from chunks, and passes on an answer's text as it arrives."""

    def __init__(self, on_chunk: OnChunk | None) -> None:
        self._on_chunk = on_chunk
        self._raw, self._told = "", ""

    def add(self, chunk: Chunk) -> None:
        """Add the next chunk of the output. A chunk that is not text is passed on unchanged."""
        if self._on_chunk is None:
            return
        if chunk.kind != "text":
            self._on_chunk(chunk)
            return
        self._raw += chunk.text
        text = _answer_in(self._raw) or ""
        piece = text[len(self._told) :]
        if piece:
            self._told = text
            self._on_chunk(Chunk("text", piece))


def written_message(raw: str) -> Json:
    """Return the model's output, which may be cut off, as a message in OpenAI's format."""
    text = _answer_in(raw)
    if text is not None:
        return {"role": "assistant", "content": text}
    call = _CALL.match(raw)
    if call is None:
        return {"role": "assistant", "content": raw}
    try:
        arguments = json.dumps(json.loads(raw)["arguments"], ensure_ascii=False)
    except (ValueError, KeyError):
        # The call is cut off, and the parser reports that
        arguments = call[2]
    function = {"name": json.loads(f'"{call[1]}"'), "arguments": arguments}
    calls = [{"id": None, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _answer_in(raw: str) -> str | None:
    """Return the text of the answer in *raw*, which may be cut off; None if *raw* is a call."""
    try:
        value = from_json(raw, allow_partial="trailing-strings")
    except ValueError:
        return None
    if isinstance(value, dict) and isinstance(value.get("answer"), str):
        return str(value["answer"])
    return None
