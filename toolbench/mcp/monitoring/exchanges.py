"""Pair requests with their answers; any other message is an exchange of its own."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toolbench.mcp.monitoring.traffic import Message
from toolbench.wording import counted

_SUBJECTS = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "resources/subscribe": "uri",
    "resources/unsubscribe": "uri",
}
"""The parameter that names the subject of a request, by method."""
# Characters of a subject or outcome
_LONGEST = 200
# Characters: a longer message is not parsed for a summary
_READ = 20_000


@dataclass(eq=False)
class Exchange:
    """A message, with its answer if it is an answered request."""

    message: Message
    answer: Message | None = None

    @property
    def id(self) -> int:
        """The number of the exchange's first message."""
        return self.message.id

    @property
    def is_failed(self) -> bool:
        """Whether the request or call failed, or the server wrote a line that is not a message."""
        return (self.answer or self.message).kind in ("error", "noise")

    @property
    def subject(self) -> str:
        """The method of the message, and for some methods a parameter, such as a tool's name."""
        message = self.message
        if message.kind == "noise":
            return f"no message: {message.text}"[:_LONGEST]
        name = message.method or message.kind
        key = _SUBJECTS.get(message.method)
        about = params_of(message).get(key) if key else None
        return f"{name} {about}"[:_LONGEST] if isinstance(about, str) else name

    def __str__(self) -> str:
        arrow = "→" if self.message.direction == "sent" else "←"
        # A line break in it must not look like another message
        return " ".join(f"{arrow} {self.subject}".split())

    @property
    def outcome(self) -> str:
        """The result of a request, in a few words; empty for other messages."""
        answer = self.answer
        if answer is None:
            return "no answer yet" if self.message.kind == "request" else ""
        if answer.kind in ("error", "refusal"):
            reason = " ".join(_reason(_object(answer)).split())
            return f"{answer.kind}: {reason}"[:_LONGEST] if reason else answer.kind
        return _listed(answer) or f"result, {counted(answer.size, 'character')}"

    @property
    def took(self) -> str:
        """The time until the answer, in milliseconds; empty without an answer."""
        if self.answer is None or self.answer.seconds is None:
            return ""
        return f"{self.answer.seconds * 1000:,.0f} ms"


class Exchanges:
    """Pairs requests with their answers, as messages arrive."""

    def __init__(self) -> None:
        """Begin without messages."""
        self._open: dict[tuple[str, str], Exchange] = {}

    def add(self, messages: Iterable[Message]) -> list[Exchange]:
        """Add new *messages*; return the new and the changed exchanges."""
        changed: dict[int, Exchange] = {}
        for message in messages:
            exchange = self._of(message)
            changed[exchange.id] = exchange
        return list(changed.values())

    def _of(self, message: Message) -> Exchange:
        request_id = str(message.request_id)
        if message.kind in ("response", "error", "refusal"):
            direction = "received" if message.direction == "sent" else "sent"
            request = self._open.pop((direction, request_id), None)
            if request is not None:
                request.answer = message
                return request
        exchange = Exchange(message)
        if message.kind == "request":
            self._open[message.direction, request_id] = exchange
        return exchange


def paired(messages: Iterable[Message]) -> list[Exchange]:
    """Return *messages* as exchanges, in the order of their first messages."""
    return Exchanges().add(messages)


def params_of(message: Message) -> dict[str, Any]:
    """Return the parameters of a message; empty if they are missing or cannot be read."""
    params = _object(message, limit=len(message.text)).get("params")
    return params if isinstance(params, dict) else {}


def _reason(answer: dict[str, Any]) -> str:
    """Return why a request failed: the message of an error, or the first text of a failed call."""
    outcome = answer
    # That of a task stands in the state of the task
    while isinstance(outcome.get("result"), dict):
        outcome = outcome["result"]
    error, blocks = outcome.get("error"), outcome.get("content")
    if isinstance(error, dict):
        return str(error.get("message") or "")
    for block in blocks if isinstance(blocks, list) else ():
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            return text
    return str(outcome.get("statusMessage") or "")


def _listed(answer: Message) -> str:
    """Return how many items an answer to `*/list` has, in words; empty for other answers."""
    kind, _, verb = answer.method.rpartition("/")
    if verb != "list":
        return ""
    result = _object(answer, limit=len(answer.text)).get("result")
    name = "resourceTemplates" if kind == "resources/templates" else kind
    items = result.get(name) if isinstance(result, dict) else None
    noun = {"resources/templates": "template"}.get(kind, kind.removesuffix("s"))
    return counted(len(items), noun) if isinstance(items, list) else ""


def _object(message: Message, *, limit: int = _READ) -> dict[str, Any]:
    if len(message.text) > limit:
        return {}
    try:
        value = json.loads(message.text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
