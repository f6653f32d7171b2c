"""Find calls that a model wrote into its text instead of sending them as tool calls.

Small models do this, and each family of models marks such calls in its own way. JSON counts as a
call if it is the whole text, or if it follows a mark and ends the text. JSON in the middle of
words, or in quoted code, is taken for an example, which never runs. Sources: the chat templates of
Hermes and Qwen (`<tool_call>`, `<tools>`), Granite (`<|tool_call|>`), Llama 3 (`<|python_tag|>`),
Mistral (`[TOOL_CALLS]`) and Phi-4 (`functools`); vLLM's tool parsers.

Other models write calls that are not JSON. Such calls are found, but not parsed.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.node import read
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.repairs import NotJsonError, arguments_in, json_at, read_json
from toolbench.llm.message import Message, Part, TextPart, ThinkingPart, ToolCallPart, function_of
from toolbench.llm.names import meant_by
from toolbench.llm.wire.wire import json_text
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.redactor import Redactor
from toolbench.values import clip

_THINKING = re.compile(
    r"\A\s*<think>.*?(?:</think>|\Z)|\A(?!\s*(?:[{\[`]|<(?!think>))).*?</think>",
    re.DOTALL,
)
_MARK = re.compile(
    r"<tool_call>|<tools>|<function_call>|<\|tool_call\|>|<\|python_tag\|>|\[TOOL_CALLS\]"
    r"|\bfunctools(?=\s*\[)"
)
_END = re.compile(r"</(?:tool_call|tools|function_call)>")
_SKIPPED = re.compile(rf"(?:{_MARK.pattern}|{_END.pattern}|```\w*|[\s;,`])+")
_INVENTED = re.compile(r"</tool_call>\s*<tool_response>")
"""The marks with which a model begins a tool's answer that it invented after its own call."""
_OVER = ("<|im_end|>", "<|eom_id|>", "<|eot_id|>", "<|end|>", "<|end_of_text|>", "</s>")
_NAME = re.compile(r'"(?:name|function)"\s*:\s*"([^"\\]*)"')
_FOREIGN = re.compile(
    # Qwen3-Coder, and Llama 3 with its own tools
    r"<function=(?P<qwen>[\w.-]+)>(?=\s*[<{])"
    # Claude and MiniMax
    r"|<invoke name=\"(?P<claude>[\w.-]+)\">(?=\s*<)"
    r"|\[TOOL_CALLS\]\s*(?P<mistral>[\w.-]+)\s*\[(?:ARGS|CALL_ID)\]"
    r"|<tool_call>\s*(?P<glm>[\w.-]+)\s*<arg_key>"
    r"|<\|tool_call_begin\|>\s*(?:functions\.)?(?P<kimi>[\w.-]+)"
    # DeepSeek: V3 has "function" before the name
    r"|<\uff5ctool\u2581call\u2581begin\uff5c>(?:function<\uff5ctool\u2581sep\uff5c>)?"
    r"(?P<deepseek>[\w.-]+)"
    r"|<\|channel\|>\s*commentary\s+to=(?:functions\.)?(?P<gpt_oss>[\w.-]+)"
    # Llama 4: it is the whole text
    r"|\A\s*\[(?P<llama>[A-Za-z_]\w*)\((?:\w+\s*=.*)?\)\]\s*\Z",
    re.DOTALL,
)
"""The marks of calls that are not written as JSON; each match contains the tool's name."""
# The first call in a list, or a call after another one
_LLAMA_NAME = re.compile(r"(?:\A\s*\[|\),)\s*([A-Za-z_]\w*)\(")
_NOT_READ = (
    "the call is written in a form that is not read here: write it as JSON, "
    '<tool_call>{"name": ..., "arguments": {...}}</tool_call>'
)
_KEYS = ("arguments", "parameters", "args")
_MOST_FOREIGN = 100


@dataclass(frozen=True)
class WrittenCall:
    """A call in a model's text, whose name and arguments are not checked yet."""

    name: str
    arguments: Any
    problem: str | None = None
    """Why the arguments cannot be read, if known."""


def written_calls(text: str) -> tuple[list[WrittenCall], str]:
    """Return the calls that a model wrote in *text*, and the words before the calls.

    JSON counts as a call in two cases:

    - It is the whole text, with or without a code fence around it.
    - It follows a mark such as `<tool_call>` outside quoted code, and no words come after it.

    If the model put its thoughts in `<think>` before the calls, they belong to the words. A call in
    another format than JSON is returned with a `problem`.
    """
    start = 0
    if thinking := _THINKING.match(text):
        start = thinking.end()
    thought, rest = text[:start], _before_end(text[start:])
    if "{" in rest:
        if calls := _json_calls(rest):
            return calls, thought.strip()
        if mark := _MARK.search(rest):
            words = rest[: mark.start()]
            calls = _json_calls(rest[mark.start() :], is_marked=True)
            if calls and not _is_quoted(words):
                return calls, f"{thought}{words}".strip()
    unread: list[WrittenCall] = []
    for match in _foreign(rest):
        for name in _names_in(match):
            unread.append(WrittenCall(name, None, _NOT_READ))
    return unread, text


def words_before_calls(text: str) -> str:
    """Return the words of *text* before its first call, even if that call cannot be parsed."""
    if foreign := _foreign(text):
        return text[: foreign[0].start()]
    return written_calls(text)[1]


def _foreign(text: str) -> list[re.Match[str]]:
    """Find calls in *text* that are not JSON, among the first `_MOST_FOREIGN` candidates."""
    calls: list[re.Match[str]] = []
    for call in islice(_FOREIGN.finditer(text), _MOST_FOREIGN):
        if not _is_quoted(text[: call.start()]):
            calls.append(call)
    return calls


def _names_in(call: re.Match[str]) -> list[str]:
    """Return the names of the tools in *call*; only Llama 4 has several calls in one match."""
    if call["llama"]:
        return _LLAMA_NAME.findall(call[0])
    return [call[call.lastgroup or 0]]


def unread_call(text: str) -> str | None:
    """Return a warning if *text*, a model's answer, looks like a call that was not parsed."""
    calls, _ = written_calls(text)
    if not calls:
        return None
    return (
        f"The text of this answer looks like a call of {clip(calls[0].name)}, and it was not run. If "
        "the model writes its calls as text, create it with as_model(..., written_calls=True)."
    )


def _before_end(text: str) -> str:
    """Return the part of *text* before any invented answer, without marks that end a turn."""
    if invented := _INVENTED.search(text):
        text = text[: invented.start()]
    text = text.rstrip()
    while text.endswith(_OVER):
        text = text[: text.rindex("<")].rstrip()
    return text


def _is_quoted(words: str) -> bool:
    """Tell whether *words* open a code block or a quotation and do not close it.

    If *words* contain only a code fence, it does not count, because it may surround the calls.
    """
    opened = words.rstrip()
    if words.count("```") % 2:
        return re.fullmatch(r"```\w*", opened) is None
    line = words.rsplit("\n", 1)[-1].replace("```", "")
    return line.count("`") % 2 == 1 or opened.endswith(
        ('"', "'", "\u201c", "\u2018", "\u00ab", "(")
    )


def _json_calls(text: str, *, is_marked: bool = False) -> list[WrittenCall]:
    """Return the calls in *text* if it has only JSON and marks; none if it also has words.

    Malformed JSON counts as a call only if *is_marked* is true, because then a mark announces a
    call.
    """
    calls: list[WrittenCall] = []
    at = 0
    while at < len(text):
        if skipped := _SKIPPED.match(text, at):
            at = skipped.end()
            continue
        try:
            value, at = json_at(text, at)
            found = _calls(value)
        except NotJsonError:
            body = text[at:]
            if end := _END.search(text, at):
                body = text[at : end.start()]
            at += len(body)
            found = _repaired(body.rstrip("` \n"), is_marked=is_marked)
        if not found:
            return []
        calls += found
    return calls


def _repaired(body: str, *, is_marked: bool) -> list[WrittenCall]:
    """Return the calls in *body*, which is not correct JSON."""
    if body[:1] not in ("{", "["):
        return []
    try:
        return _calls(read_json(body)[0])
    except NotJsonError as error:
        name = _NAME.search(body)
        if name is None or not is_marked:
            return []
        return [WrittenCall(name[1], None, f"the arguments are not a JSON object: {error}")]


def _calls(value: Any) -> list[WrittenCall]:
    """Return the calls in *value*; none if any part of it is not a call."""
    if isinstance(value, list):
        found: list[WrittenCall] = []
        for item in value:
            calls = _calls(item)
            if not calls:
                return []
            found += calls
        return found
    if not isinstance(value, Mapping):
        return []
    if isinstance(value.get("tool_calls"), list):
        return _calls(value["tool_calls"])
    if isinstance(value.get("function"), Mapping):
        return _calls(value["function"])
    name = value.get("name", value.get("function"))
    for key in _KEYS:
        if key in value:
            if isinstance(name, str) and isinstance(value[key], dict | str):
                return [WrittenCall(name, value[key])]
            break
    return []


# --- what is kept of calls that cannot be read -------------------------------------------
# The schema of a tool says which arguments are secret. If the arguments of a call cannot be parsed,
# any part of them may be the secret.

_TEXTS = ("content", "reasoning", "reasoning_content", "refusal", "text", "thinking")
_SCHEMAS = ("parameters", "input_schema", "inputSchema")
# A shorter word may occur in other texts by chance
_WORD = re.compile(r"[^\s\"'{}\[\](),:=<>\\]{8,}")
_PASSWORD_NOTE = re.compile(r"\((?:.*; )?format: password[;)]")
"""Finds the note "format: password" in a description; Gemini's schemas have no such format."""


def without_unread(
    message: Message, tools: Iterable[Any], *, are_written_calls_read: bool = False
) -> Message:
    """Return *message* without arguments that may contain a secret but cannot be parsed.

    A note replaces the whole arguments, because the secret cannot be found in them. If their words
    also occur in other parts of the message, they are masked there too. A message without such
    arguments is returned unchanged.

    Args:
        message: The message of a model.
        tools: The tools that were offered to the model, in any format.
        are_written_calls_read: Whether calls that the model writes as text are run.
    """
    written = _unread_in(message.text, are_read=are_written_calls_read)
    if not written and all(read_arguments(call.arguments) is not None for call in message.calls):
        return message
    schemas = dict(map(named_schema, tools))
    left_out: list[str] = []
    parts: list[Part] = []
    for part in message.parts:
        mark = ""
        if isinstance(part, ToolCallPart) and read_arguments(part.arguments) is None:
            mark = _mark(str(part.name), schemas)
        if isinstance(part, ToolCallPart) and mark:
            left_out.append(json_text(part.arguments))
            parts.append(replace(part, arguments=mark))
        else:
            parts.append(part)
    marks = [mark for mark in (_mark(call.name, schemas) for call in written) if mark]
    if marks:
        words = words_before_calls(message.text)
        left_out.append(message.text[len(words) :])
        parts = _with_text(parts, f"{words}[{marks[0]}]", f"[{marks[0]}]")
    if not left_out:
        return message
    redactor = _redactor(left_out, schemas)
    masked: list[Part] = []
    for part in parts:
        part = replace(part, raw=_with_texts(part.raw, redactor))
        if isinstance(part, TextPart | ThinkingPart):
            part = replace(part, text=redactor.text(part.text))
        masked.append(part)
    return replace(message, parts=tuple(masked), raw=_with_texts(message.raw, redactor))


def _unread_in(text: str, *, are_read: bool) -> list[WrittenCall]:
    """Return the calls in *text* that never run: they cannot be parsed, or *are_read* is false."""
    unread: list[WrittenCall] = []
    for call in written_calls(text)[0]:
        is_read = call.problem is None and read_arguments(call.arguments) is not None
        if not (are_read and is_read):
            unread.append(call)
    return unread


def read_arguments(value: Any) -> Json | None:
    """Return the arguments of a call, which may be JSON text; None if they cannot be parsed."""
    try:
        return arguments_in(value)[0]
    except NotJsonError:
        return None


def named_schema(tool: Any) -> tuple[str, Any]:
    """Return the name of *tool*, in any format, and the schema of its arguments."""
    if isinstance(tool, ToolDefinition):
        return tool.name, tool.input_schema
    tool = function_of(tool)
    name = str(tool.get("name"))
    for key in _SCHEMAS:
        if key in tool:
            return name, _with_format(tool[key])
    return name, {}


def _with_format(schema: Any) -> Any:
    """Return *schema* with the format "password" wherever a description for Gemini mentions it."""
    if isinstance(schema, list):
        return [_with_format(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    changed = {key: _with_format(value) for key, value in schema.items()}
    described = changed.get("description")
    if isinstance(described, str) and _PASSWORD_NOTE.search(described):
        changed.setdefault("format", "password")
    return changed


def _mark(name: str, schemas: Mapping[str, Any]) -> str:
    """Return the note that replaces the arguments of a call of *name*.

    It is empty if the tool takes no secret. A call with an unknown name may mean any of the tools.
    """
    known: str | None = name
    if name not in schemas:
        known = meant_by(name, schemas)
    for one, schema in schemas.items():
        if known in (one, None) and Secrecy(schema).has_secrets:
            return f"not kept: {one} takes a secret"
    return ""


def _redactor(left_out: Iterable[str], schemas: Mapping[str, Any]) -> Redactor:
    """Return a redactor of the words in *left_out*, except the names of tools and arguments."""
    words: set[str] = set()
    for text in left_out:
        words.update(_WORD.findall(text))
    for name, schema in schemas.items():
        words.discard(name)
        words.difference_update(read(schema).properties)
    return Redactor(words)


def _with_text(parts: Iterable[Part], text: str, thinking: str) -> list[Part]:
    """Return *parts* with all text replaced by *text*, and all thinking by *thinking*."""
    changed: list[Part] = []
    is_written = False
    for part in parts:
        if isinstance(part, ThinkingPart):
            changed.append(replace(part, text=thinking))
        elif not isinstance(part, TextPart):
            changed.append(part)
        elif not is_written:
            changed.append(replace(part, text=text))
            is_written = True
    return changed


def _with_texts(part: Any, redactor: Redactor) -> Any:
    """Return *part* of a message with the words of *redactor* masked in its texts."""
    if isinstance(part, list):
        return [_with_texts(item, redactor) for item in part]
    if not isinstance(part, Mapping):
        return part
    changed: Json = {}
    for key, value in part.items():
        if key in _TEXTS and isinstance(value, str):
            changed[key] = redactor.text(value)
        else:
            changed[key] = _with_texts(value, redactor)
    return changed
