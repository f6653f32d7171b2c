"""What a tool declares: hints about its effects, whether it is usable here, its resources."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

Effect = Literal["read-only", "not destructive", "destructive", "undeclared"]


class ToolAnnotations(BaseModel):
    """Hints about what a tool does, from its server or its author.

    Hints are not promises: a server or an author may describe its own tool wrongly.

    Source: MCP specification, `ToolAnnotations`.

    Examples:
        >>> from toolbench import ToolAnnotations
        >>> hints = ToolAnnotations(title="Delete a file", destructiveHint=True)
        >>> hints.effect, hints.readOnlyHint
        ('destructive', False)
    """

    model_config = ConfigDict(frozen=True)

    title: str | None = None
    """The name that users see."""
    readOnlyHint: bool = False
    """The tool changes nothing."""
    destructiveHint: bool = True
    """The tool may delete or overwrite; this has a meaning only if the tool is not read-only."""
    idempotentHint: bool = False
    """Calling the tool again with the same arguments changes nothing more."""
    openWorldHint: bool = True
    """The tool may interact with things outside a fixed set, as a web search does."""

    @property
    def effect(self) -> Effect:
        """The effect that the tool declares for its calls; "undeclared" without a declaration."""
        if self.readOnlyHint:
            return "read-only"
        if "destructiveHint" not in self.model_fields_set:
            return "undeclared"
        if self.destructiveHint:
            return "destructive"
        return "not destructive"


@dataclass(frozen=True)
class Unusable:
    """A falsy value that says why a tool cannot work on this machine; `is_usable` returns it.

    Use: `if not (usable := XTool.is_usable()): print(usable)`.
    """

    reason: str

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class DeclaredResources:
    """The resources that one call uses, by name: `file:/etc/hosts`, `terminal:session`.

    Calls whose *keys* share a name run one after another; see `run_tools`. If *declared* is False,
    it is unknown which resources the call uses. Then calls of the same executor object run one
    after another, unless the tool is read-only or a plain function.

    Source: OpenHands SDK, `DeclaredResources`.
    """

    keys: tuple[str, ...] = ()
    declared: bool = True
