"""Read and write messages, and repair a server's lines that are almost valid messages."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mcp_types
from mcp.shared.message import SessionMessage
from pydantic_core import from_json

from toolbench.values import clip, whole_characters

_KINDS = {type(None): "null", str: "a string", list: "a list", bool: "true or false"}
QUOTED = 300
"""The maximum number of characters quoted from a line that is not a message."""
# The JSON-RPC code for any error inside the server
_INTERNAL = -32603
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)')


def message_in(text: bytes | str) -> mcp_types.JSONRPCMessage:
    """Parse the message in *text* with the same result as the SDK's parser, but four times faster.

    The SDK's parser tries several kinds of messages, and parses the JSON again for each kind. This
    function parses the JSON only once.

    Raises:
        ValidationError: If *text* is not a message.
    """
    adapter = mcp_types.jsonrpc_message_adapter
    try:
        value = from_json(text)
    except ValueError:
        # If *text* is not JSON, the SDK's parser says why
        return adapter.validate_json(text, by_name=False)
    return adapter.validate_python(value, by_name=False)


@dataclass
class WrittenMessage(SessionMessage):
    """An SDK message with its text as received or sent."""

    text: str = ""
    is_exact: bool = True
    """Whether the text is the exact message; False if a broken line was repaired."""


def written(item: SessionMessage) -> WrittenMessage:
    """Return *item*, an SDK message, together with its JSON text.

    Raises:
        PydanticSerializationError: If the message cannot be written as JSON, for example because it
            has a lone surrogate.
    """
    if isinstance(item, WrittenMessage):
        return item
    text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
    return WrittenMessage(item.message, item.metadata, text)


class NoiseError(ValueError):
    """A line that is not a JSON-RPC message."""


def mended(line: bytes) -> list[mcp_types.JSONRPCMessage]:
    """Repair *line*, which a strict parser refused, and return the messages that it contains.

    Bytes that are not UTF-8, and lone surrogates, are replaced by U+FFFD. A byte order mark is
    removed. A JSON-RPC batch is split into its messages. An answer whose result is not an object is
    replaced by an error. If an error lacks a code or a message, it gets one.

    Raises:
        ValueError: If the line is not a JSON-RPC message.
    """
    # Not through JSON again, because a deeply nested value would be refused again
    read = mcp_types.jsonrpc_message_adapter.validate_python
    return [read(message, by_name=False) for message in _repaired(line)]


def _repaired(line: bytes) -> Iterator[dict[str, Any]]:
    try:
        whole = json.loads(line.decode("utf-8-sig", "replace"))
        if rb"\ud" in line.lower():
            whole = whole_characters(whole)
    except RecursionError:
        yield failure_of(line, "nested too deeply to be read")
        return
    except json.JSONDecodeError as error:
        raise NoiseError(str(error)) from None
    except ValueError:
        # Python limits the digits of an integer
        yield failure_of(line, "not readable: a number in it has too many digits")
        return
    for message in whole if isinstance(whole, list) else [whole]:
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            msg = "not a JSON-RPC message"
            raise NoiseError(msg)
        yield _mended(message)


def _mended(message: dict[str, Any]) -> dict[str, Any]:
    if "result" in message and not isinstance(message["result"], dict):
        kind = _KINDS.get(type(message["result"]), "a number")
        text = f"The server's result is {kind}, not an object."
        return _error(message.get("id"), text)
    if "error" in message and "result" not in message:
        return {**message, "error": _whole_error(message["error"])}
    return message


def _whole_error(error: Any) -> dict[str, Any]:
    """Return *error* with a code that is a number and a message that is a string.

    The SDK ignores an answer with any other error, and the caller would then wait forever.
    """
    if isinstance(error, dict):
        parts = error
    else:
        parts = {"message": error}
    code, message = parts.get("code"), parts.get("message")
    if isinstance(message, str):
        text = message
    else:
        text = f"error {clip(error, QUOTED)}"
    if not isinstance(code, int) or isinstance(code, bool):
        text += "" if code is None else f" (code {clip(code)})"
        code = _INTERNAL
    return {**parts, "code": code, "message": text}


def failure_of(line: bytes, reason: str) -> dict[str, Any]:
    """Return an error that replaces the answer in *line*, which cannot be parsed.

    The error has the id of the answer, which is found by searching *line* for an id.

    Raises:
        NoiseError: If *line* contains no id.
    """
    match = _ID.search(line)
    if match is None:
        raise NoiseError(reason)
    return _error(json.loads(match[1]), f"The server's answer is {reason}.")


def _error(request_id: Any, text: str) -> dict[str, Any]:
    error = {"code": -32700, "message": text}
    return {"jsonrpc": "2.0", "id": request_id, "error": error}
