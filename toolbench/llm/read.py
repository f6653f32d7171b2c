"""Read a message of any provider, whole or in chunks."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolbench.errors import BodyError
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.repairs import NotJsonError, embedded, read_json
from toolbench.llm.message import Message, Provider, Response, TextPart
from toolbench.llm.wire import WIRES, wires_from
from toolbench.llm.wire.wire import Stream, Wire, items_of, plain
from toolbench.values import clip


def read_message(value: Any) -> Response:
    """Read what a model sent, in the format of any provider.

    Args:
        value: A whole response, a message, one call, or a list of calls. It may be a dict, JSON
            text, an object of a provider's SDK, or a `Message`.

    Raises:
        BodyError: If no known provider sends such a message.
    """
    if isinstance(value, Message):
        return Response(value)
    around = ""
    repairs: list[str] = []
    if isinstance(value, str | bytes):
        value, around, repairs = _from_text(value)
    data = plain(value)
    response = _read(data)
    if response is None:
        makers = ", ".join(dict.fromkeys(wire.maker for wire in WIRES.values()))
        msg = (
            f"No tool call can be read from {clip(data)}. Give the message of a model ({makers}): "
            "a dict, JSON text, or the object of its SDK."
        )
        raise BodyError(msg)
    if around:
        message = response.message
        message = replace(message, parts=(*message.parts, TextPart(around)))
        response = replace(response, message=message)
    if repairs:
        response = replace(response, repairs=[f"the message: {note}" for note in repairs])
    return response


def _from_text(text: str | bytes) -> tuple[Any, str, list[str]]:
    """Return the JSON value in *text*, the words around the JSON, and the repairs of the JSON.

    Raises:
        BodyError: If *text* has no JSON.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            msg = f"The message is not text: {error}."
            raise BodyError(msg) from None
    try:
        value, repairs = read_json(text)
    except NotJsonError as error:
        value, around = embedded(text)
        if not value:
            msg = f"The message is not JSON: {error}."
            raise BodyError(msg) from None
        if len(value) == 1:
            value = value[0]
        return value, around, ["the text around its JSON was read as the model's thought"]
    return value, "", repairs


def _read(data: Any) -> Response | None:
    """Read *data*: a whole response, a message, a list of parts, or one part; else return None."""
    parts = [data]
    if isinstance(data, list):
        parts = items_of(data)
    elif not isinstance(data, dict):
        return None
    elif (wire := _wire_of(data)) is not None:
        return wire.read_response(data)
    elif "role" in data or "content" in data:
        return None
    for part in parts:
        if isinstance(part, dict):
            for wire in WIRES.values():
                if wire.is_part(part):
                    return Response(wire.read_parts(parts))
    return None


def _wire_of(data: Json) -> Wire | None:
    for wire in WIRES.values():
        if wire.is_message(data):
            return wire
    if data.get("role") == "assistant":
        # Text alone does not show which provider sent it
        return WIRES["openai"]
    return None


class ToolCallAccumulator:
    """Joins the chunks of one streamed message of any provider.

    Pass `accumulator.message` to `parse_tool_calls` at any time to read the calls that have
    arrived. A call whose arguments are not complete yet gets an error.

    Examples:
        >>> from toolbench.llm import ToolCallAccumulator
        >>> accumulator = ToolCallAccumulator()
        >>> for text in ("21 euros", " each."):
        ...     accumulator.add({"choices": [{"index": 0, "delta": {"content": text}}]})
        >>> accumulator.message["choices"][0]["message"]["content"]
        '21 euros each.'
    """

    def __init__(self) -> None:
        """Start with an empty message."""
        self._stream: Stream | None = None

    def add(self, chunk: Any) -> None:
        """Add the next chunk or event: a dict, or an object of the provider's SDK.

        Events with an unknown `type` are ignored.

        Raises:
            BodyError: If *chunk* is not a chunk of a known provider. Earlier chunks are kept.
        """
        data = plain(chunk)
        stream = self._stream or stream_of(data)
        try:
            stream.add(data)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise _foreign(data) from error
        self._stream = stream

    @property
    def message(self) -> Json:
        """The message so far, in the format of a complete response of the provider."""
        if self._stream is None:
            return {"choices": []}
        return self._stream.response


def stream_of(chunk: Any, provider: Provider | None = None) -> Stream:
    """Return a new object that joins the chunks of one streamed message.

    Args:
        chunk: The first chunk, from which the format is recognized. It is not added to the object.
        provider: The provider whose format is used if *chunk* fits several formats.

    Raises:
        BodyError: If *chunk* is not a chunk of a known provider.
    """
    if not isinstance(chunk, Mapping):
        raise _foreign(chunk)
    for wire in wires_from(provider):
        if wire.is_chunk(chunk):
            return wire.stream()
    raise _foreign(chunk)


def _foreign(chunk: Any) -> BodyError:
    text = clip(chunk)
    return BodyError(f"{text} is not a chunk of a known provider: pass the chunks unchanged.")
