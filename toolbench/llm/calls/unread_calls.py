"""Leave out of a model's message what was not understood and may hold a secret.

The schema of a tool says which of its arguments are secret. Where the arguments of a call cannot be
read, any part of them may be the secret.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.node import read
from toolbench.llm.calls.json_text import NotJsonError, read_json
from toolbench.llm.calls.written_calls import WrittenCall, words_before_calls, written_calls
from toolbench.llm.message import Message, Part, TextPart, ThinkingPart, ToolCallPart
from toolbench.llm.providers import meant_by
from toolbench.llm.wire.wire import json_text
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.redactor import Redactor

_SCHEMAS = ("parameters", "input_schema", "inputSchema")
_TEXTS = ("content", "reasoning", "reasoning_content", "refusal", "text", "thinking")
# A shorter word may stand in other texts by chance
_WORD = re.compile(r"[^\s\"'{}\[\](),:=<>\\]{8,}")

_PASSWORD_NOTE = re.compile(r"\((?:.*; )?format: password[;)]")
"""What Gemini's description of a `SecretStr` says, because its schemas know no such format."""


def without_unread(
    message: Message, tools: Iterable[Any], *, are_written_calls_read: bool = False
) -> Message:
    """Return *message* without the arguments of calls that cannot be read and may hold a secret.

    A text that says so replaces them, and their words are hidden in the texts of the message. If
    there are none, the result is *message* itself.

    Args:
        message: The message of a model.
        tools: The tools that were offered to the model, in any format.
        are_written_calls_read: Whether calls that the model writes into its text are run.
    """
    unread = _Unread(tools)
    parts = [unread.without_arguments(part) for part in message.parts]
    if mark := unread.mark_of_text(message.text, are_read=are_written_calls_read):
        words = words_before_calls(message.text)
        parts = _with_text(parts, f"{words}{mark}", mark)
    if not unread.left_out:
        return message
    redactor = unread.words_redactor()
    masked = tuple(_masked(part, redactor) for part in parts)
    return replace(message, parts=masked, raw=_with_texts(message.raw, redactor.text))


def _with_text(parts: Iterable[Part], text: str, thinking: str) -> list[Part]:
    """Return *parts* with *text* as their only text, and *thinking* in place of all thinking."""
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


def _masked(part: Part, redactor: Redactor) -> Part:
    if isinstance(part, TextPart | ThinkingPart):
        part = replace(part, text=redactor.text(part.text))
    return replace(part, raw=_with_texts(part.raw, redactor.text))


def read_arguments(value: Any) -> dict[str, Any] | None:
    """Return the arguments of a call, which may be JSON text; None if they cannot be read."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    try:
        for _ in range(2):
            # Also JSON in a string
            if isinstance(value, str):
                value, _ = read_json(value)
    except NotJsonError:
        return None
    if isinstance(value, dict):
        return value
    return None


def named_schema(tool: Any) -> tuple[str, Any]:
    """Return the name of *tool* and the schema of its arguments; *tool* is ours or a provider's."""
    if isinstance(tool, ToolDefinition):
        return tool.name, tool.input_schema
    if isinstance(tool.get("function"), Mapping):
        tool = tool["function"]
    name = str(tool.get("name"))
    for key in _SCHEMAS:
        if key in tool:
            return name, _with_format(tool[key])
    return name, {}


def _with_format(schema: Any) -> Any:
    """Return *schema* with the format of passwords, which Gemini only has in descriptions."""
    if isinstance(schema, list):
        return [_with_format(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    changed = {key: _with_format(value) for key, value in schema.items()}
    described = changed.get("description")
    if isinstance(described, str) and _PASSWORD_NOTE.search(described):
        changed.setdefault("format", "password")
    return changed


class _Unread:
    """The search for what cannot be read in one message."""

    def __init__(self, tools: Iterable[Any]) -> None:
        self._tools = tools
        self.left_out: list[str] = []
        """What is not kept."""

    @cached_property
    def _schemas(self) -> dict[str, Any]:
        # Most messages have nothing unread, and need none
        return dict(map(named_schema, self._tools))

    def without_arguments(self, part: Part) -> Part:
        """Return *part* of the message; if it is a call that cannot be read, with a mark in it."""
        if not isinstance(part, ToolCallPart) or read_arguments(part.arguments) is not None:
            return part
        mark = self._mark(str(part.name))
        if not mark:
            return part
        self.left_out.append(json_text(part.arguments))
        return replace(part, arguments=mark)

    def mark_of_text(self, text: str, *, are_read: bool) -> str:
        """Return the mark in place of the calls in *text*; "" if they are read, or hold no secret."""
        calls, _ = written_calls(text)
        for call in calls:
            if not (are_read and _is_read(call)) and (mark := self._mark(call.name)):
                self.left_out.append(text[len(words_before_calls(text)) :])
                return f"[{mark}]"
        return ""

    def _mark(self, name: str) -> str:
        """Return the mark for a call of the tool *name*; "" if it takes no secret.

        Of an unknown name it is not known which tool is meant: it may be any.
        """
        schemas = self._schemas
        known: str | None = name
        if name not in schemas:
            known = meant_by(name, schemas)
        for one, schema in schemas.items():
            if known in (one, None) and Secrecy(schema).has_secrets:
                return f"not kept: {one} takes a secret"
        return ""

    def words_redactor(self) -> Redactor:
        """Return a redactor of the words that are left out, but for the names of arguments."""
        words: set[str] = set()
        for text in self.left_out:
            words.update(_WORD.findall(text))
        for name, schema in self._schemas.items():
            words.discard(name)
            words.difference_update(read(schema).properties)
        return Redactor(words)


def _is_read(call: WrittenCall) -> bool:
    return call.problem is None and read_arguments(call.arguments) is not None


def _with_texts(part: Any, change: Callable[[str], str]) -> Any:
    """Return *part* of a message with its texts changed."""
    if isinstance(part, list):
        return [_with_texts(item, change) for item in part]
    if not isinstance(part, Mapping):
        return part
    changed: dict[str, Any] = {}
    for key, value in part.items():
        if key in _TEXTS and isinstance(value, str):
            changed[key] = change(value)
        else:
            changed[key] = _with_texts(value, change)
    return changed
