"""Hide secrets in the texts of messages and saved events, but not in their structure.

A secret may be a common word or a PIN. So only text that a person, a model or a tool wrote is
searched: texts, values of arguments, results. Keys, roles, types, ids and names of tools stay
unchanged.
"""

import json
from collections.abc import Callable, Mapping, Sequence
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
"""Keys of a saved event whose values are texts."""
# Characters: a shorter secret can be in the base64 of an image by chance
_LONG = 8


class Masking:
    """Hides the secrets that a redactor knows, in messages, tools and saved events."""

    def __init__(self, redactor: Redactor) -> None:
        """Hide the secrets that *redactor* knows."""
        self._redactor = redactor

    def message(self, message: Json) -> Json:
        """Return *message*, of any provider, with secrets hidden in its texts, arguments and results."""
        masked: Json = self._message(message) if self._redactor else message
        return masked

    def content(self, content: Sequence[Content]) -> tuple[Content, ...]:
        """Return the blocks of *content* with secrets hidden."""
        return tuple(map(self._block, content)) if self._redactor else tuple(content)

    def offered(self, tool: Json) -> Json:
        """Return *tool*, in a provider's format, with secrets hidden in its texts and samples.

        A value of `enum`, `const` or `pattern` that contains a secret is left out, and the
        description says so.
        """
        masked: Json = self._offered(tool) if self._redactor else tool
        return masked

    def event(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return *data*, a saved event, with secrets hidden. The event can still be loaded."""
        if not self._redactor:
            return dict(data)
        return {
            key: self._event_part(key, part, str(data.get("kind"))) for key, part in data.items()
        }

    def values(self, value: Any) -> Any:
        """Return JSON *value* with secrets hidden in its texts, but not in its keys."""
        return _mapped(value, self._text) if self._redactor else value

    # --- parts ------------------------------------------------------------------------

    @cached_property
    def _long(self) -> Redactor:
        return Redactor(s for s in self._redactor.secrets if len(s) >= _LONG)

    def _text(self, text: str) -> str:
        hide = self._long if text.startswith("data:") else self._redactor
        return hide.text(text)

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
        if key in _WORKLOAD:
            return self._json_text(value) if key == "arguments" else self.values(value)
        return self._message(value)

    def _json_text(self, arguments: Any) -> Any:
        """Return *arguments* of a call with secrets hidden; a text that is JSON stays JSON."""
        if not isinstance(arguments, str):
            return self.values(arguments)
        try:
            parsed = json.loads(arguments)
        except ValueError:
            return self._text(arguments)
        masked = self.values(parsed)
        return arguments if masked == parsed else json.dumps(masked, ensure_ascii=False)

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
            return self.values(value)
        if key not in _LIMITS:
            return self._offered(value)
        if key == "enum" and isinstance(value, list):
            return [item for item in value if self.values(item) == item]
        return value if self.values(value) == value else None

    def _event_part(self, key: str, part: Any, kind: str) -> Any:
        match key:
            case "message" | "content":
                return self._message(part)
            case "tool_call":
                return {k: self._of_call(k, value) for k, value in part.items()}
            case "observation":
                return {k: self._of_observation(k, value) for k, value in part.items()}
        is_word = kind == "StopEvent" and key == "reason"
        return self.values(part) if key in _TEXTS and not is_word else part

    def _of_call(self, key: str, value: Any) -> Any:
        return self.values(value) if key == "arguments" or key in _TEXTS else value

    def _of_observation(self, key: str, value: Any) -> Any:
        if key == "kind":
            return value
        if key == "content":
            return self._message(value)
        if key == "transcript" and isinstance(value, list):
            return [self.event(v) if isinstance(v, Mapping) else v for v in value]
        return self.values(value)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [_mapped(item, change) for item in value]
    if isinstance(value, Mapping):
        return {key: _mapped(item, change) for key, item in value.items()}
    return value
