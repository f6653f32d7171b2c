"""Rules for the schema itself: that it holds together, and that every provider takes it."""

from collections.abc import Iterator
from typing import Any

from pydantic_core import to_json

from toolbench.core.validation import clip
from toolbench.llm.formats import format_report
from toolbench.llm.lint.finding import Finding, finding
from toolbench.llm.lint.subject import Argument, Subject
from toolbench.llm.mend import CLASSES
from toolbench.llm.providers import Provider
from toolbench.llm.schemas import every, types_of
from toolbench.llm.tokens import estimate_tokens

_MOST_TOKENS = 2_500
_SHOWN = 5  # more places where one thing is wrong
_ASKED: tuple[Provider, ...] = ("openai", "anthropic", "gemini")
_NAMES: dict[str, str] = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
}


def defaults(subject: Subject) -> Iterator[Finding]:
    """A default is a value the schema accepts."""
    for argument in subject.arguments:
        if "default" in argument.schema and not _fits(argument):
            value = argument.schema["default"]
            wanted = " or ".join(types_of(argument.schema)) or "value it takes"
            message = f"The default {clip(value)} is no {wanted}."
            yield finding(subject.name, "default-invalid", argument.path, message)


def _fits(argument: Argument) -> bool:
    value: Any = argument.schema["default"]
    types = types_of(argument.schema)
    if types and not any(
        type(value) in CLASSES.get(kind, {type(value)}) for kind in types
    ):
        return isinstance(value, float) and value.is_integer() and "integer" in types
    values = argument.schema.get("enum")
    return not isinstance(values, list) or value in values


def required(subject: Subject) -> Iterator[Finding]:
    """What is required exists."""
    for place, node in every(subject.schema):
        named = node.get("properties")
        if not isinstance(named, dict) or node.get("additionalProperties") is not False:
            continue
        for name in node.get("required") or ():
            if name not in named:
                message = f"{name!r} is required and not allowed: no call can fit."
                yield finding(
                    subject.name, "required-unknown", place or "arguments", message
                )


def refused(subject: Subject) -> Iterator[Finding]:
    """Every provider takes the tool as it is."""
    told: dict[str, tuple[list[str], list[str]]] = {}
    for provider in _ASKED:
        for change in format_report(subject.tool, provider).changes:
            if change.refused:
                reason = _RENAMED if change.kind == "renamed" else change.message
                by, places = told.setdefault(reason, ([], []))
                by += [_NAMES[provider]] if _NAMES[provider] not in by else []
                places += [change.where] if change.where not in places else []
    for reason, (by, places) in told.items():
        also = ", ".join(places[1 : 1 + _SHOWN]) + (", …" * (len(places) > 1 + _SHOWN))
        more = f" (also {also})" if also else ""
        all_by = " and ".join(filter(None, (", ".join(by[:-1]), by[-1])))
        message = f"{all_by} will not take it as it is: {reason}{more}."
        yield finding(subject.name, "provider-refuses", places[0], message)


_RENAMED = "the name is too long, or has characters that are not allowed"


def cost(subject: Subject) -> Iterator[Finding]:
    """A tool costs little to offer."""
    tokens = tokens_of(subject)
    if tokens > _MOST_TOKENS:
        message = f"It costs about {tokens:,} tokens in every request."
        yield finding(subject.name, "tool-tokens", "arguments", message)


def tokens_of(subject: Subject) -> int:
    """Return about how many tokens it costs to offer the tool once."""
    return estimate_tokens(offer_of(subject))


def offer_of(subject: Subject) -> str:
    """Return what a model reads of the tool."""
    schema = to_json(subject.schema).decode()
    return f"{subject.name}\n{subject.description}\n{schema}"
