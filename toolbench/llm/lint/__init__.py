"""Check tools against the principles of tool design: find the parts that confuse a model."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.llm.lint import (
    argument_rules,
    description_rules,
    name_rules,
    schema_rules,
    toolset_rules,
)
from toolbench.llm.lint.finding import RULES, Finding, Rule, Severity
from toolbench.llm.lint.subject import Subject
from toolbench.llm.tokens import TokenCount, count_tokens, offer_of

__all__ = [
    "RULES",
    "Finding",
    "Rule",
    "Severity",
    "cost_of",
    "lint_tool",
    "lint_tools",
]

# Tools with the same finding
_MANY = 10

_OF_ONE: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    name_rules.verb,
    name_rules.hints,
    description_rules.missing,
    description_rules.thin,
    description_rules.result,
    description_rules.limits,
    argument_rules.undescribed,
    argument_rules.misnamed,
    argument_rules.many,
    argument_rules.enumeration,
    argument_rules.form,
    argument_rules.joined,
    argument_rules.json_text,
    argument_rules.bounds,
    argument_rules.default,
    argument_rules.free,
    argument_rules.secret,
    schema_rules.required,
    schema_rules.defaults,
    schema_rules.refused,
    schema_rules.cost,
)
_OF_ALL: tuple[Callable[[Sequence[Subject]], Iterator[Finding]], ...] = (
    toolset_rules.crowd,
    toolset_rules.names,
    toolset_rules.pairs,
    toolset_rules.descriptions,
)


def lint_tool(tool: ToolDefinition[Any, Any]) -> list[Finding]:
    """Return a finding for each part of *tool* that may confuse a model."""
    return list(_alone(Subject(tool)))


def lint_tools(tools: Iterable[ToolDefinition[Any, Any]]) -> list[Finding]:
    """Return the findings in each of *tools*, and in all of them together."""
    subjects = [Subject(tool) for tool in tools]
    alone = [finding for subject in subjects for finding in _alone(subject)]
    return _folded(alone) + [finding for rule in _OF_ALL for finding in rule(subjects)]


def cost_of(tools: Iterable[ToolDefinition[Any, Any]]) -> TokenCount:
    """Return how many tokens *tools* cost in each request that offers them.

    Tools that are not for models cost nothing, because no request offers them.
    """
    counts = [count_tokens(offer_of(tool)) for tool in tools if tool.is_for_models]
    tokens = sum(count.tokens for count in counts)
    return TokenCount(tokens, exact=all(count.exact for count in counts))


def _alone(subject: Subject) -> Iterator[Finding]:
    for rule in _OF_ONE:
        yield from rule(subject)


def _folded(findings: list[Finding]) -> list[Finding]:
    """Merge equal findings about an argument that many tools share."""
    times = Counter((finding.rule, finding.where, finding.message) for finding in findings)
    reported: set[tuple[str, str, str]] = set()
    folded: list[Finding] = []
    for finding in findings:
        key = finding.rule, finding.where, finding.message
        if times[key] < _MANY or not finding.rule.startswith("argument-"):
            folded.append(finding)
        elif key not in reported:
            reported.add(key)
            message = f"{finding.message} The same in {times[key] - 1} other tools."
            folded.append(replace(finding, message=message))
    return folded
