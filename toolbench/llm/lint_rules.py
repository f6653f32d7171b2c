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
    """What the author of the tool should do."""
    source: str
    effect: str
    """What the broken rule means for the person who decides whether to use the tool."""


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
    """See `Rule.fix`."""
    source: str
    effect: str = ""
    """See `Rule.effect`."""

    @property
    def place(self) -> str:
        """The argument, or other part of the tool, unless the message names it; then empty."""
        if self.where in self.message:
            return ""
        return self.where

    def __str__(self) -> str:
        subject = ".".join(filter(None, (self.tool, self.place)))
        return f"{subject}: {self.message} {self.fix} [{self.rule}]"


RULES: Mapping[str, Rule] = {
    # --- the name
    "name-duplicate": Rule(
        "error",
        "Give each tool a name of its own.",
        f"{_ARTICLE}, 1.3.1",
        "A model cannot say which of them it means.",
    ),
    "name-near": Rule(
        "warning",
        "Rename one so that a model cannot confuse them.",
        _ANTHROPIC,
        "A model may call the wrong one.",
    ),
    # --- the description
    "description-missing": Rule(
        "error",
        "Say what it does, what comes back, and its limits.",
        f"{_ARTICLE}, 1.3.1",
        "A model can only guess what the tool does, and when to call it.",
    ),
    "description-thin": Rule(
        "warning",
        "Say what the name does not: what comes back, when to use it, its limits.",
        f"{_ARTICLE}, 3.2.1",
        "A model may call it at the wrong time.",
    ),
    "description-result": Rule(
        "hint",
        "Name the fields or the format of the answer.",
        f"{_ARTICLE}, 1.3.1",
        "A model does not know what comes back, and may call it in vain.",
    ),
    "description-limits": Rule(
        "hint",
        "Say how much it returns at most, or take a limit.",
        f"{_ARTICLE}, 1.4",
        "An answer may be very long, and a model pays for all of it.",
    ),
    "description-duplicate": Rule(
        "warning",
        "Say in each how it differs from the other.",
        _ANTHROPIC,
        "A model may call the wrong one.",
    ),
    "tools-ambiguous": Rule(
        "warning",
        "Merge them, or say in each when to use the other.",
        _ANTHROPIC,
        "A model may call the wrong one.",
    ),
    # --- the arguments
    "argument-undescribed": Rule(
        "warning",
        "Say the meaning, the unit and the form.",
        f"{_ARTICLE}, 1.3.1",
        "A model can only guess what to send: read the arguments before a call runs.",
    ),
    "argument-misnamed": Rule(
        "warning",
        "Describe each parameter by its own name.",
        f"{_ARTICLE}, 3.2.1",
        "A model may send an argument that does not exist.",
    ),
    "argument-enum": Rule(
        "warning",
        "List the values as an enum.",
        f"{_ARTICLE}, 1.5 (1.2)",
        "A model may send a value that the tool refuses.",
    ),
    "argument-default": Rule(
        "hint",
        "Give it a default, or say what happens without it.",
        f"{_ARTICLE}, 1.5 (1.3)",
        "A model may send a number where none is needed.",
    ),
    "argument-range": Rule(
        "hint",
        "Put the limits into the schema: minimum, maximum.",
        f"{_ARTICLE}, 3.2.1",
        "A model may send a number that the tool refuses.",
    ),
    "argument-unbounded": Rule(
        "hint",
        "Put the limit into the schema: maxLength, maxItems.",
        f"{_ARTICLE}, 3.2.1",
        "A model may send more than the tool takes.",
    ),
    "argument-format": Rule(
        "hint",
        "Put the form into the schema: format or pattern.",
        f"{_ARTICLE}, 3.2.1",
        "A model may send it in a form that the tool refuses.",
    ),
    "argument-list-text": Rule(
        "hint",
        "Take a list: {type: array}.",
        f"{_ARTICLE}, 1.5 (1)",
        "A model may send a list, which the tool refuses.",
    ),
    "argument-json-text": Rule(
        "warning",
        "Take the object or list itself, with its schema.",
        f"{_ARTICLE}, 1.5 (1)",
        "Nothing finds a model's mistakes in it before the tool is called.",
    ),
    "argument-free": Rule(
        "warning",
        "Name its properties, or say what the keys and values are.",
        f"{_ARTICLE}, 1.5 (1)",
        "A model can only guess what to send: read the arguments before a call runs.",
    ),
    "argument-secret": Rule(
        "warning",
        "Read it where the tool runs: from the environment, or from the conversation's secrets.",
        "toolbench, SECURITY.md",
        "Give the secret to the conversation, so that a model sends ${NAME}, or leave the tool out.",
    ),
    # --- the schema
    "default-invalid": Rule(
        "warning",
        "Give a default the schema accepts, or leave it out.",
        "JSON Schema 2020-12, 9.2",
        "A call that sends the default is refused.",
    ),
    "required-unknown": Rule(
        "error",
        "Declare it under properties, or do not require it.",
        "JSON Schema 2020-12, 6.5.3",
        "Leave the tool out: no call of it can work.",
    ),
    "provider-refuses": Rule(
        "warning",
        "Change it, or offer the tool through toolbench.llm.formats.",
        "the providers' API references",
        "toolbench changes it for these models; in another program it may fail.",
    ),
    # --- the hints and the cost
    "hint-destructive": Rule(
        "warning",
        "Set destructiveHint to true.",
        _MCP,
        "Its hints do not warn you: read the arguments before a call runs.",
    ),
    "hint-contradicts": Rule(
        "error",
        "Set readOnlyHint to false and destructiveHint to true.",
        _MCP,
        "Do not trust its hints: read the arguments before a call runs.",
    ),
    "tool-tokens": Rule(
        "warning",
        "Shorten it: every request pays for it.",
        f"{_ARTICLE}, 1.4",
        "Leave it out if you do not need it: every request pays for it.",
    ),
    "tools-many": Rule(
        "warning",
        "Offer fewer at a time, grouped by task.",
        f"{_ARTICLE}, 1.3.7",
        "Give a model only the tools that it needs.",
    ),
    "tools-tokens": Rule(
        "warning",
        "Offer fewer tools, or shorter ones.",
        f"{_ARTICLE}, 1.4",
        "Give a model only the tools that it needs.",
    ),
}
"""Every rule by its id."""


def finding(tool: str, rule: str, where: str, message: str) -> Finding:
    """Make the finding that *tool* breaks *rule* at *where*."""
    broken = RULES[rule]
    return Finding(
        tool,
        rule,
        broken.severity,
        where,
        message,
        broken.fix,
        broken.source,
        broken.effect,
    )
