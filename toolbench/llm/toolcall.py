"""One call of a tool, as a model sent it and as it was understood."""

from dataclasses import dataclass, field
from typing import Any

from toolbench.core.schema import Action, Observation
from toolbench.core.secrecy import hide
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.core.validation import clip
from toolbench.llm.failures import (
    FunctionCallNotExistsError,
    FunctionCallValidationError,
)
from toolbench.llm.mend import Repair
from toolbench.llm.providers import Provider

CallError = FunctionCallValidationError | FunctionCallNotExistsError


@dataclass(frozen=True)
class CallMetadata:
    """Where a call comes from."""

    provider: Provider
    sent_name: str
    """The name the model used."""
    index: int = 0
    """The place of the call in its message, from 0."""
    total: int = 1
    """How many calls the message holds."""
    response_id: str | None = None
    model: str | None = None
    finish: str | None = None
    """Why the model stopped, in the provider's word; some were cut off."""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A call: either an `action` that is ready to run, or the `error` that says why not."""

    id: str | None
    """The provider's id for the call, which its answer must carry; Gemini may send none."""
    name: str
    """The tool's own name; the name that was sent if there is no such tool."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """What was sent, after the repairs, under the tool's own names; empty if unreadable."""
    tool: ToolDefinition[Any, Any] | None = field(default=None, repr=False)
    action: Action | None = field(default=None, repr=False)
    error: CallError | None = None
    repairs: tuple[Repair, ...] = ()
    """Everything that was mended before the call fitted; nothing is mended in silence."""
    thought: str = ""
    """What the model said around its calls; only the first call of a message has it."""
    security_risk: SecurityRisk | None = None
    """The model's own rating, where it was asked for one."""
    summary: str | None = None
    """The model's line on what the call is for, where it was asked for one."""
    metadata: CallMetadata

    @property
    def observation(self) -> Observation | None:
        """What the model is told of a call that cannot be run; None if it can."""
        if self.error is None:
            return None
        return Observation.from_text(str(self.error), is_error=True)

    def __repr__(self) -> str:
        schema = self.tool.input_schema if self.tool else {}
        state = "error" if self.error else "ready"
        shown = clip(hide(self.arguments, schema), 200)
        mended = f", {len(self.repairs)} repaired" if self.repairs else ""
        return f"<ToolCall {self.name} {shown} {state}{mended}>"
