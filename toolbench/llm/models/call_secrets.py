"""Find the secrets in the calls of a conversation, in any provider's messages."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.llm.models.protocol import OfferedTools
from toolbench.redaction.detection.secrecy import Secrecy

# Of OpenAI, Anthropic and Gemini
_ARGUMENTS = ("arguments", "input", "args")
_SCHEMAS = ("parameters", "input_schema", "inputSchema")


def call_secrets(messages: Iterable[Any], tools: OfferedTools) -> Iterator[str]:
    """Yield the secret arguments of calls in *messages*. The schemas of *tools* say what is secret."""
    schemas = dict(map(_named_schema, tools))
    todo = list(messages)
    while todo:
        part = todo.pop()
        if isinstance(part, list | tuple):
            todo += part
        elif isinstance(part, Mapping):
            todo += part.values()
            schema = schemas.get(str(part.get("name")), {})
            for arguments in filter(None, map(part.get, _ARGUMENTS)):
                yield from Secrecy(schema).secrets_in(_read(arguments))


def _read(arguments: Any) -> Any:
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            return json.loads(arguments)
    return arguments if isinstance(arguments, Mapping) else {}


def _named_schema(tool: Any) -> tuple[str, Any]:
    if isinstance(tool, ToolDefinition):
        return tool.name, tool.input_schema
    inner = tool.get("function")
    about = inner if isinstance(inner, Mapping) else tool
    schema: Any = next((about[key] for key in _SCHEMAS if key in about), {})
    return str(about.get("name")), schema
