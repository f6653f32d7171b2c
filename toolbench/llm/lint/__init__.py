"""Check tools against the principles of tool design: what a model will stumble over."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.llm.lint import arguments, descriptions, names, schema, toolsets
from toolbench.llm.lint.finding import RULES, Finding, Rule, Severity
from toolbench.llm.lint.schema import offer_of
from toolbench.llm.lint.subject import Subject
from toolbench.llm.tokens import TokenCount, count_tokens

__all__ = [
    "RULES",
    "Finding",
    "Rule",
    "Severity",
    "cost_of",
    "lint_tool",
    "lint_tools",
]

_MANY = 10  # tools with one and the same finding

_OF_ONE: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    names.verb,
    names.hints,
    descriptions.missing,
    descriptions.thin,
    descriptions.result,
    descriptions.limits,
    arguments.undescribed,
    arguments.misnamed,
    arguments.many,
    arguments.enumeration,
    arguments.form,
    arguments.joined,
    arguments.json_text,
    arguments.bounds,
    arguments.default,
    arguments.free,
    schema.required,
    schema.defaults,
    schema.refused,
    schema.cost,
)
_OF_ALL: tuple[Callable[[Sequence[Subject]], Iterator[Finding]], ...] = (
    toolsets.crowd,
    toolsets.names,
    toolsets.pairs,
    toolsets.descriptions,
)


def lint_tool(tool: ToolDefinition[Any, Any]) -> list[Finding]:
    """Return what in *tool* a model will stumble over."""
    return list(_alone(Subject(tool)))


def lint_tools(tools: Iterable[ToolDefinition[Any, Any]]) -> list[Finding]:
    """Return what in *tools*, each alone and all offered together, a model will stumble over."""
    subjects = [Subject(tool) for tool in tools]
    alone = [found for subject in subjects for found in _alone(subject)]
    return _folded(alone) + [found for rule in _OF_ALL for found in rule(subjects)]


def cost_of(tools: Iterable[ToolDefinition[Any, Any]]) -> TokenCount:
    """Return what it costs to offer *tools* once, in tokens of every request."""
    counts = [count_tokens(offer_of(Subject(tool))) for tool in tools]
    tokens = sum(count.tokens for count in counts)
    return TokenCount(tokens, exact=all(count.exact for count in counts))


def _alone(subject: Subject) -> Iterator[Finding]:
    for rule in _OF_ONE:
        yield from rule(subject)


def _folded(findings: list[Finding]) -> list[Finding]:
    """What is wrong with an argument that many tools share is told once."""
    times = Counter((found.rule, found.where, found.message) for found in findings)
    told: set[tuple[str, str, str]] = set()
    folded: list[Finding] = []
    for found in findings:
        key = found.rule, found.where, found.message
        if times[key] < _MANY or not found.rule.startswith("argument-"):
            folded.append(found)
        elif key not in told:
            told.add(key)
            message = f"{found.message} The same in {times[key] - 1} other tools."
            folded.append(replace(found, message=message))
    return folded
