"""A probe's final checks on all messages of a connection."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from toolbench.checks.probe_connection import Breach, ProbeConnection
from toolbench.mcp.monitoring.traffic import Message
from toolbench.values import clip
from toolbench.wording import counted

_CACHEABLE = frozenset(
    {
        *("server/discover", "tools/list", "prompts/list", "resources/list"),
        *("resources/templates/list", "resources/read"),
    }
)
_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
# Breaches of one rule that are shown, and characters of each
_MOST, _SHOWN = 3, 300

_Seen = tuple[str, Any]
"""A rule, and the message that breaks it."""


def look_at_traffic(connection: ProbeConnection) -> None:
    """Check all messages, for example whether each answer belongs to a request."""
    messages = list(connection.inbox.traffic)
    looks = [
        ("each request has one answer", _of_answers(messages)),
        ("progress belongs to a call, and grows", _of_progress(connection, messages)),
        ("a log is declared", _of_logs(connection, messages)),
    ]
    if connection.is_modern:
        looks.append(("results say their kind, and how long they are fresh", _of_results(messages)))
    if connection.transport == "stdio":
        noise = (("stdout", line) for line in connection.inbox.noise)
        looks.append(("stdout has messages only", noise))
    for question, breaches in looks:
        found = (Breach(rule, clip(seen, _SHOWN)) for rule, seen in islice(breaches, _MOST))
        connection.add_each(question, found, counted(len(messages), "message"))


def _of_answers(messages: list[Message]) -> Iterator[_Seen]:
    sent, answered = set[Any](), set[Any]()
    for message in messages:
        key = message.request_id
        if message.direction == "sent" and message.kind == "request":
            sent.add((type(key), key))
        elif message.kind in ("response", "error", "refusal") and key is not None:
            if message.direction == "sent":
                continue
            if (type(key), key) not in sent:
                yield "same id", message.json
            elif key in answered:
                yield "response", message.json
            answered.add(key)


def _of_progress(connection: ProbeConnection, messages: list[Message]) -> Iterator[_Seen]:
    tokens, last = dict[str, Any](), dict[str, float]()
    for message in messages:
        if message.direction == "sent":
            meta = part_of(message, "params").get("_meta") or {}
            tokens[str(meta.get("progressToken"))] = message.request_id
            continue
        # Over HTTP, streams may overtake each other
        if message.kind in ("response", "error") and connection.transport == "stdio":
            tokens = {token: key for token, key in tokens.items() if key != message.request_id}
        if message.method != "notifications/progress":
            continue
        params = part_of(message, "params")
        token, progress = str(params.get("progressToken")), params.get("progress")
        if not isinstance(progress, int | float):
            yield "definition", params
        elif token not in tokens:
            yield "progress token", params
        elif progress <= last.get(token, progress - 1):
            yield "progress", params
        else:
            last[token] = progress


def _of_logs(connection: ProbeConnection, messages: list[Message]) -> Iterator[_Seen]:
    is_asked_for = False
    for message in messages:
        if message.direction == "sent":
            is_asked_for |= _LOG_LEVEL in (part_of(message, "params").get("_meta") or {})
        if message.method == "notifications/message":
            if "logging" not in connection.capabilities:
                yield "undeclared logging", message.json
            elif connection.is_modern and not is_asked_for:
                yield "log", message.json


def _of_results(messages: list[Message]) -> Iterator[_Seen]:
    for message in messages:
        result = part_of(message, "result")
        if message.direction == "sent" or not result:
            continue
        if not isinstance(result.get("resultType"), str):
            yield "result type", message.json
        elif message.method in _CACHEABLE and result["resultType"] == "complete":
            time = result.get("ttlMs")
            if not isinstance(time, int | float) or time < 0 or "cacheScope" not in result:
                yield "caching", message.json


def part_of(message: Message, key: str) -> dict[str, Any]:
    """Return the object *key* inside *message*; an empty dict if it is missing or was cut."""
    whole = message.json
    if isinstance(whole, Mapping) and isinstance(whole.get(key), dict):
        return dict(whole[key])
    return {}
