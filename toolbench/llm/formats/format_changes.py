"""What was changed on the way from a tool to a provider, so that nothing is lost in silence."""

from dataclasses import dataclass, field
from typing import Literal

from toolbench.llm.providers import Provider

Kind = Literal["removed", "rewritten", "renamed", "shortened"]


@dataclass(frozen=True)
class Change:
    """One thing a provider cannot take, and what became of it."""

    where: str
    """The argument (`filter.tags[]`), `name`, `description`, or `arguments` for all of them."""
    kind: Kind
    message: str
    refused: bool = False
    """Whether the tool, sent as it was, has the whole request turned down."""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


@dataclass(frozen=True)
class FormatReport:
    """How a tool looks to one provider: every change, and whether strict mode holds."""

    provider: Provider
    tool: str
    changes: tuple[Change, ...] = ()
    strict: bool | None = None
    """OpenAI only: whether the model is held to the schema. None elsewhere."""
    not_strict: tuple[str, ...] = ()
    """Why it is not, a sentence each."""

    def __str__(self) -> str:
        lines = [f"{self.tool} for {self.provider}:"]
        lines += [f"- {change}" for change in self.changes]
        lines += [f"- not strict: {reason}" for reason in self.not_strict]
        return "\n".join(lines) if len(lines) > 1 else f"{lines[0]} unchanged"


@dataclass
class Changes:
    """Collects changes while a schema is rewritten."""

    entries: list[Change] = field(default_factory=list)

    def note(
        self, where: str, kind: Kind, message: str, *, refused: bool = False
    ) -> None:
        """Add one change; an empty *where* means all the arguments."""
        self.entries.append(Change(where or "arguments", kind, message, refused))
