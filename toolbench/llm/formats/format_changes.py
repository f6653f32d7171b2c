"""A report of what changes in a tool when it is written for a provider."""

from dataclasses import dataclass, field
from typing import Literal

from toolbench.llm.providers import Provider

Kind = Literal["removed", "rewritten", "renamed", "shortened"]


@dataclass(frozen=True)
class Change:
    """A part of a tool that a provider does not accept, and the change of this part."""

    where: str
    """The argument (`filter.tags[]`), `name`, `description`, or `arguments` for all arguments."""
    kind: Kind
    message: str
    refused: bool = False
    """Whether the provider refuses a request in which the tool is unchanged."""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


@dataclass(frozen=True)
class FormatReport:
    """A report on a tool in the format of one provider: all changes, and whether strict mode is on."""

    provider: Provider
    tool: str
    changes: tuple[Change, ...] = ()
    strict: bool | None = None
    """OpenAI only: whether the model's arguments must fit the schema; None for other providers."""
    not_strict: tuple[str, ...] = ()
    """The reasons why strict mode is off, a sentence each."""

    def __str__(self) -> str:
        if not self.changes and not self.not_strict:
            return f"{self.tool} for {self.provider}: unchanged"
        lines = [f"{self.tool} for {self.provider}:"]
        for change in self.changes:
            lines.append(f"- {change}")
        for reason in self.not_strict:
            lines.append(f"- not strict: {reason}")
        return "\n".join(lines)


@dataclass
class Changes:
    """A list of changes, filled while a schema is rewritten."""

    entries: list[Change] = field(default_factory=list)

    def note(self, where: str, kind: Kind, message: str, *, refused: bool = False) -> None:
        """Add one change; an empty *where* means all the arguments."""
        self.entries.append(Change(where or "arguments", kind, message, refused))
