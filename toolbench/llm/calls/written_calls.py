"""Calls that a model wrote into its text, where it should have sent them as calls.

Small models do that: as bare JSON, fenced, or between `<tool_call>` tags.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolbench.llm.calls.json_text import NotJsonError, embedded, read_json

_TAGGED = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_NAME = re.compile(r'"(?:name|function)"\s*:\s*"([^"\\]*)"')
_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*(?=[{"\[])')
_KEYS = ("arguments", "parameters", "args")


@dataclass(frozen=True)
class WrittenCall:
    """One call as it was written; nothing of it is checked yet."""

    name: str
    arguments: Any


def written_calls(
    text: str, is_known: Callable[[str], bool]
) -> tuple[list[WrittenCall], str]:
    """Return the calls in *text*, and the words around them; none where it only speaks.

    What is marked as a call, or is the whole text, is one whatever it names. JSON in the middle
    of words may be an example: it is a call only if all of it names tools that there are.

    Args:
        text: What the model wrote.
        is_known: Tells whether a tool was offered under that name.
    """
    if "{" not in text:
        return [], text
    if tagged := _TAGGED.findall(text):
        calls = [call for body in tagged for call in _marked(body)]
        return calls, _TAGGED.sub("", text).strip() if calls else text
    try:
        value, _ = read_json(text.strip())
    except NotJsonError:
        values, around = embedded(text)
        calls = [call for value in values for call in _calls(value) or [_NO_CALL]]
        are_calls = bool(calls) and all(
            c is not _NO_CALL and is_known(c.name) for c in calls
        )
        return (calls, around) if are_calls else ([], text)
    calls = _calls(value)
    return (calls, "") if calls else ([], text)


_NO_CALL = WrittenCall("", None)


def _marked(body: str) -> list[WrittenCall]:
    """The calls between two tags; what cannot be read is kept as it was written."""
    try:
        return _calls(read_json(body)[0])
    except NotJsonError:
        name, arguments = _NAME.search(body), _ARGUMENTS.search(body)
        if name is None:
            return []
        rest = body[arguments.end() :] if arguments else body
        return [WrittenCall(name[1], rest)]


def _calls(value: Any) -> list[WrittenCall]:
    """The calls that *value* is; none if a part of it is none."""
    if isinstance(value, list):
        inner = [_calls(item) for item in value]
        return [call for calls in inner for call in calls] if all(inner) else []
    if not isinstance(value, Mapping):
        return []
    if isinstance(value.get("tool_calls"), list):
        return _calls(value["tool_calls"])
    if isinstance(value.get("function"), Mapping):
        return _calls(value["function"])
    name = value.get("name", value.get("function"))
    key = next((key for key in _KEYS if key in value), None)
    if not isinstance(name, str) or key is None:
        return []
    if not isinstance(value[key], dict | str):
        return []
    return [WrittenCall(name, value[key])]
