"""The rules of tool design with their fixes, and a finding: one broken rule."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "hint"]
"""`error`: calls fail. `warning`: models will make mistakes. `hint`: models may make mistakes."""

_ARTICLE = "OpenHands (12) Function call"
_ANTHROPIC = "Anthropic, Writing effective tools for agents"
_MCP = "MCP specification, ToolAnnotations"


@dataclass(frozen=True)
class Rule:
    """A principle of tool design that can be checked."""

    severity: Severity
    fix: str
    source: str


@dataclass(frozen=True)
class Finding:
    """One place where a tool breaks a rule."""

    tool: str
    """The name of the tool; for a finding about a set, the number of tools."""
    rule: str
    severity: Severity
    """See `Severity`."""
    where: str
    """`name`, `description`, `annotations`, an argument's path, or `arguments` for all."""
    message: str
    fix: str
    source: str

    def __str__(self) -> str:
        return f"{self.tool}.{self.where}: {self.message} {self.fix} [{self.rule}]"


RULES: Mapping[str, Rule] = {
    # --- the name
    "name-verb": Rule(
        "hint",
        "Begin with what it does: get_weather, not weather_data.",
        f"{_ARTICLE}, 3.2.1",
    ),
    "name-duplicate": Rule(
        "error", "Give each tool a name of its own.", f"{_ARTICLE}, 1.3.1"
    ),
    "name-near": Rule(
        "warning", "Rename one so that a model cannot confuse them.", _ANTHROPIC
    ),
    # --- the description
    "description-missing": Rule(
        "error",
        "Say what it does, what comes back, and its limits.",
        f"{_ARTICLE}, 3.2.1",
    ),
    "description-thin": Rule(
        "warning",
        "Say what the name does not: what comes back, when to use it, its limits.",
        f"{_ARTICLE}, 3.2.1",
    ),
    "description-result": Rule(
        "hint", "Name the fields or the format of the answer.", f"{_ARTICLE}, 3.2.1"
    ),
    "description-limits": Rule(
        "hint",
        "Say how much it returns at most, or take a limit.",
        f"{_ARTICLE}, 1.5 (6)",
    ),
    "description-duplicate": Rule(
        "warning", "Say in each how it differs from the other.", _ANTHROPIC
    ),
    "tools-ambiguous": Rule(
        "warning", "Merge them, or say in each when to use the other.", _ANTHROPIC
    ),
    # --- the arguments
    "argument-undescribed": Rule(
        "warning", "Say the meaning, the unit and the form.", f"{_ARTICLE}, 3.2.1"
    ),
    "argument-misnamed": Rule(
        "warning",
        "Describe each parameter by its own name.",
        f"{_ARTICLE}, 3.2.1",
    ),
    "argument-enum": Rule(
        "warning", "List the values as an enum.", f"{_ARTICLE}, 1.5 (1.2)"
    ),
    "argument-default": Rule(
        "hint",
        "Give it a default, or say what happens without it.",
        f"{_ARTICLE}, 1.5 (1.3)",
    ),
    "argument-range": Rule(
        "hint",
        "Put the limits into the schema: minimum, maximum.",
        f"{_ARTICLE}, 3.2.1",
    ),
    "argument-unbounded": Rule(
        "hint",
        "Put the limit into the schema: maxLength, maxItems.",
        f"{_ARTICLE}, 3.2.1",
    ),
    "argument-format": Rule(
        "hint", "Put the form into the schema: format or pattern.", f"{_ARTICLE}, 3.2.1"
    ),
    "argument-list-text": Rule(
        "hint", "Take a list: {type: array}.", f"{_ARTICLE}, 1.5 (1)"
    ),
    "argument-json-text": Rule(
        "warning",
        "Take the object or list itself, with its schema.",
        f"{_ARTICLE}, 1.5 (1)",
    ),
    "argument-free": Rule(
        "warning",
        "Name its properties, or say what the keys and values are.",
        f"{_ARTICLE}, 1.5 (1)",
    ),
    "arguments-many": Rule(
        "warning",
        "Split the tool, or drop arguments that never change.",
        f"{_ARTICLE}, 3.2.3",
    ),
    # --- the schema
    "default-invalid": Rule(
        "warning",
        "Give a default the schema accepts, or leave it out.",
        "JSON Schema 2020-12, 9.2",
    ),
    "required-unknown": Rule(
        "error",
        "Declare it under properties, or do not require it.",
        "JSON Schema 2020-12, 6.5.3",
    ),
    "provider-refuses": Rule(
        "warning",
        "Change it, or offer the tool through toolbench.llm.formats.",
        "the providers' API references",
    ),
    # --- the hints and the cost
    "hint-destructive": Rule("warning", "Set destructiveHint to true.", _MCP),
    "hint-contradicts": Rule(
        "error", "Set readOnlyHint to false and destructiveHint to true.", _MCP
    ),
    "tool-tokens": Rule(
        "warning", "Shorten it: every request pays for it.", f"{_ARTICLE}, 1.4"
    ),
    "tools-many": Rule(
        "warning", "Offer fewer at a time, grouped by task.", f"{_ARTICLE}, 1.3.7"
    ),
    "tools-tokens": Rule(
        "warning", "Offer fewer tools, or shorter ones.", f"{_ARTICLE}, 1.4"
    ),
}
"""Every rule by its id."""


def finding(tool: str, rule: str, where: str, message: str) -> Finding:
    """Make the finding that *tool* breaks *rule* at *where*."""
    broken = RULES[rule]
    return Finding(
        tool, rule, broken.severity, where, message, broken.fix, broken.source
    )
