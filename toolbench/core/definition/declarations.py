"""MCP's hints about the effects of a tool, with MCP's defaults."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

Effect = Literal["read-only", "not destructive", "destructive", "undeclared"]


class ToolAnnotations(BaseModel):
    """Hints, not promises: a server or author may be wrong about its own tool.

    Source: MCP specification, `ToolAnnotations`.
    """

    model_config = ConfigDict(frozen=True)

    title: str | None = None
    """A name for people."""
    readOnlyHint: bool = False
    """The tool changes nothing."""
    destructiveHint: bool = True
    """It may delete or overwrite; this only counts if the tool is not read-only."""
    idempotentHint: bool = False
    """Calling it again with the same arguments changes nothing more."""
    openWorldHint: bool = True
    """It reaches things outside a closed domain, for example by a web search."""

    @property
    def effect(self) -> Effect:
        """The effect that the tool declares for its calls; "undeclared" if it declares none."""
        if self.readOnlyHint:
            return "read-only"
        if "destructiveHint" not in self.model_fields_set:
            return "undeclared"
        return "destructive" if self.destructiveHint else "not destructive"


@dataclass(frozen=True)
class Unusable:
    """A falsy value with a reason: `if not (usable := XTool.is_usable()): print(usable)`."""

    reason: str

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class DeclaredResources:
    """The resources of one call, by name: `file:/etc/hosts`, `terminal:session`.

    Calls that name the same resource run one after another; see `run_tools`. If the resources are
    declared and there are no keys, the call shares nothing with others. If they are not declared,
    it is unknown what the call shares. Source: OpenHands SDK, `DeclaredResources`.
    """

    keys: tuple[str, ...] = ()
    declared: bool = True
