"""Hide secrets in the text of messages and saved events, but not in their structure.

A secret may be a common word or a PIN. So only what the user, a model or a tool wrote is searched:
text, values of arguments, results. Keys, roles, types, ids and names of tools stay unchanged.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.jsonschema.types import Json
from toolbench.jsonschema.walk import REFERENCES
from toolbench.redaction.redactor import Redactor

_PROTOCOL = frozenset(
    [
        "annotations",
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
"""Keys of a message, in any provider's format, whose values are not searched: ids, names, types."""
_WORKLOAD = frozenset({"args", "arguments", "input", "response"})
"""Keys of a message with the arguments or the result of a call."""
_BY_NAME = frozenset(
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"]
)
"""Keywords of a schema whose value is an object of schemas; the keys of the object are names."""
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
"""Keys of a tool and its schemas whose values are not searched: names, or words of JSON Schema."""
_LIMITS = frozenset({"const", "enum", "pattern"})
"""Keywords that limit a value. With a mark in place of a secret, they would allow a wrong value."""
_REMARK = "One of the allowed values is secret, and is not listed."
_SAMPLES = frozenset({"default", "example", "examples"})
_TEXTS = frozenset({"detail", "error", "reason", "summary", "text", "thought"})
"""Keys of a saved event whose values are strings that the user, a model or a tool wrote."""
# Characters: a shorter secret can be in the base64 of an image by chance
_LONG = 8


class Masking:
    """Hides the secrets that a redactor knows, in messages, tools and saved events."""

    def __init__(self, redactor: Redactor) -> None:
        """Hide the secrets that *redactor* knows."""
        self._redactor = redactor

    def message(self, message: Json) -> Json:
        """Return *message*, of any provider, with secrets hidden in its text, arguments and results."""
        if not self._redactor:
            return message
        masked: Json = self._message(message)
        return masked

    def content(self, content: Sequence[Content]) -> tuple[Content, ...]:
        """Return the blocks of *content* with secrets hidden."""
        if not self._redactor:
            return tuple(content)
        return tuple(map(self._block, content))

    def offered(self, tool: Json) -> Json:
        """Return *tool*, in a provider's format, with secrets hidden in its descriptions and samples.

        A value of `enum`, `const` or `pattern` that contains a secret is left out, and the
        description says so.
        """
        if not self._redactor:
            return tool
        masked: Json = self._offered(tool)
        return masked

    def event(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return *data*, a saved event, with secrets hidden. The event can still be loaded."""
        if not self._redactor:
            return dict(data)
        kind = str(data.get("kind"))
        return {key: self._event_part(key, part, kind) for key, part in data.items()}

    def values(self, value: Any) -> Any:
        """Return JSON *value* with secrets hidden in its strings, but not in its keys."""
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

    def _message(self, part: Any) -> Any:
        if isinstance(part, str):
            return self._text(part)
        if isinstance(part, list | tuple):
            return [self._message(item) for item in part]
        if not isinstance(part, Mapping):
            return part
        return {key: self._of_message(key, value) for key, value in part.items()}

    def _of_message(self, key: str, value: Any) -> Any:
        if key in _PROTOCOL and not isinstance(value, list | tuple | Mapping):
            return value
        # An image
        if key == "data" and isinstance(value, str):
            return self._long.text(value)
        if key == "arguments" and isinstance(value, str):
            return self._json_text(value)
        if key in _WORKLOAD:
            return self._values(value)
        return self._message(value)

    def _json_text(self, arguments: str) -> str:
        """Return *arguments* of a call with secrets hidden; a string that is JSON stays JSON."""
        try:
            parsed = json.loads(arguments)
        except ValueError:
            return self._text(arguments)
        masked = self._values(parsed)
        if masked == parsed:
            return arguments
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
        own = {key: self._of_tool(key, value) for key, value in part.items()}
        secret_limits = [key for key in _LIMITS & part.keys() if own[key] != part[key]]
        for key in secret_limits:
            if not own[key]:
                del own[key]
        if secret_limits:
            description = str(own.get("description") or "")
            own["description"] = f"{description} {_REMARK}".strip()
        return own

    def _of_tool(self, key: str, value: Any) -> Any:
        if key in _STRUCTURE:
            return value
        if key in _BY_NAME and isinstance(value, Mapping):
            return {name: self._offered(schema) for name, schema in value.items()}
        if key in _SAMPLES:
            return self._values(value)
        if key not in _LIMITS:
            return self._offered(value)
        if key == "enum" and isinstance(value, list):
            return [item for item in value if self._values(item) == item]
        if self._values(value) == value:
            return value
        return None

    def _event_part(self, key: str, part: Any, kind: str) -> Any:
        match key:
            case "message" | "content":
                return self._message(part)
            case "tool_call":
                return self._call(part)
            case "observation":
                return {k: self._of_observation(k, value) for k, value in part.items()}
        # The reason of a stop is one of a few words
        is_word = kind == "StopEvent" and key == "reason"
        if key in _TEXTS and not is_word:
            return self._values(part)
        return part

    def _call(self, call: Mapping[str, Any]) -> dict[str, Any]:
        masked = dict(call)
        for key in masked.keys() & {"arguments", *_TEXTS}:
            masked[key] = self._values(masked[key])
        return masked

    def _of_observation(self, key: str, value: Any) -> Any:
        if key == "kind":
            return value
        if key == "content":
            return self._message(value)
        if key == "transcript" and isinstance(value, list):
            return [self._event_of_task(event) for event in value]
        return self._values(value)

    def _event_of_task(self, event: Any) -> Any:
        if isinstance(event, Mapping):
            return self.event(event)
        return event
