"""Find the secrets in the calls of a conversation."""

from collections.abc import Iterable, Iterator
from typing import Any

from toolbench.llm.calls.unread_calls import named_schema, read_arguments
from toolbench.llm.calls.written_calls import written_calls
from toolbench.llm.message import Message, TextPart, ToolCallPart, ToolResultPart
from toolbench.llm.models.protocol import OfferedTools
from toolbench.redaction.detect import Secrecy


def call_secrets(messages: Iterable[Message], tools: OfferedTools) -> Iterator[str]:
    """Yield the secret arguments of calls in *messages*. The schemas of *tools* say what is secret."""
    schemas = dict(map(named_schema, tools))
    for message in messages:
        for name, arguments in _calls_in(message.parts):
            if read := read_arguments(arguments):
                yield from Secrecy(schemas.get(name, {})).secrets_in(read)


def _calls_in(parts: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the name and arguments of each call in *parts*, also of calls that are written as text."""
    for part in parts:
        if isinstance(part, ToolCallPart):
            yield str(part.name), part.arguments
        elif isinstance(part, ToolResultPart):
            yield from _calls_in(part.content)
        elif isinstance(part, TextPart):
            for call in written_calls(part.text)[0]:
                yield call.name, call.arguments
