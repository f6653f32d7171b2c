"""Find the secrets in the calls of a conversation, in any provider's messages."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolbench.llm.calls.unread_calls import ARGUMENTS, named_schema, read_arguments
from toolbench.llm.calls.written_calls import written_calls
from toolbench.llm.models.protocol import OfferedTools
from toolbench.redaction.detect import Secrecy


def call_secrets(messages: Iterable[Any], tools: OfferedTools) -> Iterator[str]:
    """Yield the secret arguments of calls in *messages*. The schemas of *tools* say what is secret."""
    schemas = dict(map(named_schema, tools))
    todo = list(messages)
    while todo:
        part = todo.pop()
        if isinstance(part, list | tuple):
            todo += part
        elif isinstance(part, Mapping):
            todo += part.values()
            calls = [(str(part.get("name")), part.get(key)) for key in ARGUMENTS]
            for key in ("content", "text"):
                if isinstance(text := part.get(key), str):
                    calls += [(call.name, call.arguments) for call in written_calls(text)[0]]
            for name, arguments in calls:
                if arguments := read_arguments(arguments):
                    yield from Secrecy(schemas.get(name, {})).secrets_in(arguments)
