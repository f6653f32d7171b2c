"""Rules for the schema: it has no contradictions, and every provider takes it."""

from collections.abc import Iterator

from toolbench.jsonschema.node import Node
from toolbench.llm.formats import format_report
from toolbench.llm.lint.finding import Finding, finding
from toolbench.llm.lint.subject import Subject
from toolbench.llm.providers import Provider
from toolbench.llm.tokens import offer_of
from toolbench.values import clip
from toolbench.wording import estimate_tokens

_MOST_TOKENS = 2_500
# Further places listed in one message
_MAX_PLACES = 5
_PROVIDERS: tuple[Provider, ...] = ("openai", "anthropic", "gemini")
_NAMES: dict[str, str] = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
}


def defaults(subject: Subject) -> Iterator[Finding]:
    """Check that the schema accepts each default."""
    for argument in subject.arguments:
        node = argument.node
        if node.has_default and not _fits(node):
            types = " or ".join(node.types) or "value"
            message = f"The default {clip(node.default)} is not a valid {types}."
            yield finding(subject.name, "default-invalid", argument.path, message)


def _fits(node: Node) -> bool:
    value = node.default
    if node.classes is not None and type(value) not in node.classes:
        return isinstance(value, float) and value.is_integer() and int in node.classes
    return not node.choices or value in node.choices or "boolean" in node.types


def required(subject: Subject) -> Iterator[Finding]:
    """Check that the schema allows every required property."""
    for place, node in subject.view.every():
        for name in node.required if node.is_closed else ():
            if name not in node.declared and node.of_other_key(name) is None:
                message = f"{name!r} is required but not allowed: every call fails."
                yield finding(subject.name, "required-unknown", place or "arguments", message)


def refused(subject: Subject) -> Iterator[Finding]:
    """Check that every provider takes the tool unchanged."""
    refusals: dict[str, tuple[list[str], list[str]]] = {}
    for provider in _PROVIDERS:
        for change in format_report(subject.tool, provider).changes:
            if change.refused:
                reason = _RENAMED if change.kind == "renamed" else change.message
                by, places = refusals.setdefault(reason, ([], []))
                by += [_NAMES[provider]] if _NAMES[provider] not in by else []
                places += [change.where] if change.where not in places else []
    for reason, (by, places) in refusals.items():
        also = ", ".join(places[1 : 1 + _MAX_PLACES]) + (", …" * (len(places) > 1 + _MAX_PLACES))
        more = f" (also {also})" if also else ""
        all_by = " and ".join(filter(None, (", ".join(by[:-1]), by[-1])))
        message = f"{all_by} will not take it unchanged: {reason}{more}."
        yield finding(subject.name, "provider-refuses", places[0], message)


_RENAMED = "the name is too long, or has characters that are not allowed"


def cost(subject: Subject) -> Iterator[Finding]:
    """Check that a tool costs few tokens."""
    tokens = tokens_of(subject)
    if tokens > _MOST_TOKENS:
        message = f"It costs about {tokens:,} tokens in every request."
        yield finding(subject.name, "tool-tokens", "arguments", message)


def tokens_of(subject: Subject) -> int:
    """Estimate how many tokens the tool costs in each request."""
    return estimate_tokens(offer_of(subject.tool, subject.schema))
