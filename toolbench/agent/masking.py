"""Mask secrets in messages and saved events without breaking their structure.

A secret may be a common word or a PIN, which could also occur in an id or a key. So only what the
user, a model or a tool wrote is searched: text, values of arguments, results. Keys, roles, types,
ids and names of tools stay unchanged.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from toolbench.agent.delegate import DelegateObservation
from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.jsonschema.types import Json
from toolbench.jsonschema.walk import REFERENCES
from toolbench.llm.message import (
    ImagePart,
    Message,
    OtherPart,
    Part,
    Provider,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from toolbench.llm.read import read_message
from toolbench.llm.wire import WIRES
from toolbench.llm.wire.wire import Wire
from toolbench.redaction.redactor import Redactor

_PROTOCOL = frozenset(
    [
        "call_id",
        "detail",
        "encrypted_content",
        "format",
        "id",
        "media_type",
        "mimeType",
        "mime_type",
        "name",
        "namespace",
        "phase",
        "role",
        "signature",
        "status",
        "thoughtSignature",
        "thought_signature",
        "tool_call_id",
        "tool_use_id",
        "type",
    ]
)
"""Fields of a part, in its provider's format, whose strings are not searched: ids, types, names
and signatures. All other fields are searched, even unknown ones. In parts of an unknown type, these
fields are searched too, but only for long secrets."""
_WORKLOAD = frozenset({"args", "arguments", "input", "response"})
"""Fields of a part with the arguments or result of a call, in which all strings are searched."""
_BY_NAME = frozenset(
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"]
)
"""JSON Schema keywords whose value maps names to schemas; the names are not searched."""
_STRUCTURE = frozenset(
    [
        "$anchor",
        *REFERENCES,
        "$schema",
        "dependentRequired",
        "discriminator",
        "format",
        "name",
        "propertyOrdering",
        "required",
        "type",
    ]
)
"""Keys of a tool and its schemas whose values are not searched: names, or JSON Schema words."""
_VALUES = frozenset({"const", "default", "enum", "example", "examples"})
"""JSON Schema keywords that contain one or more values of an argument, such as its default."""
_TEXTS = frozenset({"detail", "error", "reason", "summary", "text", "thought"})
"""Keys of a saved event whose values are strings that the user, a model or a tool wrote."""
# Characters: a shorter secret can be in the base64 of an image by chance
_LONG = 8


class Masking:
    """Masks the secrets that a redactor knows, in messages, tools and saved events."""

    def __init__(self, redactor: Redactor) -> None:
        """Mask the secrets that *redactor* knows."""
        self._redactor = redactor

    def message(self, message: Message) -> Message:
        """Return *message* with secrets masked in each of its parts."""
        if not self._redactor:
            return message
        wire = WIRES[message.provider or "openai"]
        parts = [self._part(part, wire) for part in message.parts]
        return replace(message, parts=tuple(parts), raw=self._raw(message.raw))

    def written(self, message: Json, provider: Provider) -> Json:
        """Return *message*, in the format of *provider*, with secrets masked in each part."""
        if not self._redactor:
            return message
        wire = WIRES[provider]
        [masked] = wire.write(self.message(wire.read(message)))
        return masked

    def content(self, content: Sequence[Content]) -> tuple[Content, ...]:
        """Return the blocks of *content* with secrets masked."""
        if not self._redactor:
            return tuple(content)
        return tuple(map(self._block, content))

    def offered(self, tool: Json) -> Json:
        """Return *tool*, in a provider's format, with secrets masked in descriptions and values."""
        if not self._redactor:
            return tool
        masked: Json = self._offered(tool)
        return masked

    def event(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return *data*, a saved event, with secrets masked so that it can still be loaded."""
        if not self._redactor:
            return dict(data)
        kind = str(data.get("kind"))
        return {key: self._event_part(key, part, kind) for key, part in data.items()}

    def values(self, value: Any) -> Any:
        """Return JSON *value* with secrets masked in its strings, but not in its keys."""
        if not self._redactor:
            return value
        return self._values(value)

    # --- parts ------------------------------------------------------------------------

    @cached_property
    def _long(self) -> Redactor:
        return Redactor(s for s in self._redactor.secrets if len(s) >= _LONG)

    def _text(self, text: str) -> str:
        # An image
        if text.startswith("data:"):
            return self._long.text(text)
        return self._redactor.text(text)

    def _values(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list | tuple):
            return [self._values(item) for item in value]
        if isinstance(value, Mapping):
            return {key: self._values(item) for key, item in value.items()}
        return value

    def _part(self, part: Part, wire: Wire) -> Part:
        raw = self._raw(part.raw)
        match part:
            case TextPart() | ThinkingPart():
                # A short secret is hidden as a whole word only, and where blocks are joined it is none
                reread = wire.reread(replace(part, raw=raw))
                return replace(reread, text=self._text(reread.text))
            case ImagePart():
                return replace(part, url=self._text(part.url), raw=raw)
            case ToolCallPart():
                return replace(part, arguments=self._arguments(part.arguments), raw=raw)
            case ToolResultPart():
                content: list[TextPart | ImagePart] = []
                for block in part.content:
                    masked = self._part(block, wire)
                    if isinstance(masked, TextPart | ImagePart):
                        content.append(masked)
                return replace(part, content=tuple(content), raw=raw)
        return OtherPart(self._unknown(raw))

    def _unknown(self, raw: Json) -> Json:
        """Return *raw*, a part of an unknown type, with long secrets masked, except in `type`.

        Short secrets stay: in an unknown part, any string may be an id or a word of the protocol.
        """
        masked: Json = {}
        for key, value in raw.items():
            masked[key] = value
            if key != "type":
                masked[key] = self._long.value(value)
        return masked

    def _arguments(self, arguments: Any) -> Any:
        if isinstance(arguments, str):
            return self._json_text(arguments)
        return self._values(arguments)

    def _raw(self, part: Any) -> Any:
        """Return *part*, in the provider's format, with secrets masked."""
        if isinstance(part, str):
            return self._text(part)
        if isinstance(part, list | tuple):
            return [self._raw(item) for item in part]
        if not isinstance(part, Mapping):
            return part
        masked: dict[str, Any] = {}
        for key, value in part.items():
            # The base64 text of an image
            is_image = key == "data" or (
                key == "result" and part.get("type") == "image_generation_call"
            )
            if key in _PROTOCOL and not isinstance(value, list | tuple | Mapping):
                masked[key] = value
            elif key in _WORKLOAD:
                masked[key] = self._values(value)
            elif is_image and isinstance(value, str):
                masked[key] = self._long.text(value)
            else:
                masked[key] = self._raw(value)
        return masked

    def _json_text(self, arguments: str) -> str:
        """Return the *arguments* of a call with secrets masked; valid JSON stays valid."""
        try:
            parsed = json.loads(arguments)
        except ValueError:
            return self._text(arguments)
        # A PIN alone is a JSON number, too
        if not isinstance(parsed, list | dict):
            return self._text(arguments)
        masked = self._values(parsed)
        if masked == parsed:
            # A key that is there twice has only its last value in *parsed*
            return self._long.text(arguments)
        return json.dumps(masked, ensure_ascii=False)

    def _block(self, block: Content) -> Content:
        if isinstance(block, TextContent):
            return block.model_copy(update={"text": self._text(block.text)})
        if isinstance(block, ImageContent):
            urls = [self._text(url) for url in block.image_urls]
            return block.model_copy(update={"image_urls": urls})
        return block

    def _offered(self, part: Any) -> Any:
        if isinstance(part, str):
            return self._text(part)
        if isinstance(part, list | tuple):
            return [self._offered(item) for item in part]
        if not isinstance(part, Mapping):
            return part
        return {key: self._of_tool(key, value) for key, value in part.items()}

    def _of_tool(self, key: str, value: Any) -> Any:
        if key in _STRUCTURE:
            return value
        if key in _BY_NAME and isinstance(value, Mapping):
            return {name: self._offered(schema) for name, schema in value.items()}
        if key in _VALUES:
            return self._values(value)
        return self._offered(value)

    def _event_part(self, key: str, part: Any, kind: str) -> Any:
        match key:
            case "message":
                return self._saved(part)
            case "content":
                return self._raw(part)
            case "tool_call":
                return self._call(part)
            case "observation":
                return self._observation(part)
        # The reason of a stop is one of a few words
        is_word = kind == "StopEvent" and key == "reason"
        if key in _TEXTS and not is_word:
            return self._values(part)
        return part

    def _saved(self, message: Any) -> Any:
        """Return *message*, which a model of any provider wrote, with secrets masked."""
        if not isinstance(message, Mapping):
            return self._raw(message)
        read = read_message(dict(message)).message
        return self.written(dict(message), read.provider or "openai")

    def _call(self, call: Mapping[str, Any]) -> dict[str, Any]:
        masked = dict(call)
        for key in masked.keys() & {"arguments", *_TEXTS}:
            masked[key] = self._values(masked[key])
        return masked

    def _observation(self, observation: Mapping[str, Any]) -> dict[str, Any]:
        kind = observation.get("kind")
        masked: dict[str, Any] = {}
        for key, value in observation.items():
            if key == "kind":
                masked[key] = value
            elif key == "content":
                masked[key] = self._raw(value)
            elif key == "transcript" and kind == DelegateObservation.kind_of():
                masked[key] = [self.event(event) for event in value]
            else:
                masked[key] = self._values(value)
        return masked
