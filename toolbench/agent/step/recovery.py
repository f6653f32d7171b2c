"""What to do about a call that failed: by the class of its error.

Source: the fault tolerance of OpenHands' tool engine (retry, degrade) and ADK's
ReflectAndRetryToolPlugin. All of it is off unless the agent asks for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from toolbench.core.tool import ToolDefinition
from toolbench.runs.run import Run

ErrorClass = Literal[
    "arguments", "refused", "stopped", "timeout", "network", "permission", "failed"
]
"""Why a call came to nothing: its arguments do not fit; the person declined it; it was cancelled; it
took too long; something could not be reached or is busy; something is not allowed; anything else."""

PASSING: frozenset[ErrorClass] = frozenset({"timeout", "network"})
"""What may be over when it is tried again."""

REFLECT = (
    "\n[Before you call a tool again: say in a sentence what was wrong with this call, and what "
    "you will do otherwise. Do not send the same call again.]"
)


@dataclass(frozen=True)
class Recovery:
    """What an agent does about failed calls by itself."""

    retry: int = 0
    """How often a call is tried again whose failure may pass, of a tool that is read-only or
    idempotent; with a pause that doubles."""
    degrade: bool = False
    """Whether a call that failed goes to the tool that its tool names as `backup` in its `meta`."""
    reflect: bool = False
    """Whether the model is asked, once for each tool, to think before it calls again."""
    pause: float = 0.5
    """Seconds before the first retry."""

    def may_retry(self, run: Run, times: int) -> bool:
        """Tell whether *run*, which failed and was tried again *times* already, is tried again."""
        hints = run.tool.hints
        harmless = hints.readOnlyHint or hints.idempotentHint
        return times < self.retry and harmless and error_class(run) in PASSING

    def backup_of(
        self, run: Run, tools: Mapping[str, ToolDefinition[Any, Any]]
    ) -> ToolDefinition[Any, Any] | None:
        """Return the tool of *tools* that stands in for that of *run*, if it failed and has one."""
        if not self.degrade or error_class(run) in (
            None,
            "arguments",
            "refused",
            "stopped",
        ):
            return None
        return tools.get(str((run.tool.meta or {}).get("backup", "")))


def error_class(run: Run) -> ErrorClass | None:
    """Return why *run*, which is over, came to nothing; None if it did not."""
    if run.state == "denied":
        return "refused"
    if run.state == "cancelled":
        return "timeout" if run.reason.startswith("timed out") else "stopped"
    if not run.outcome.is_error:
        return None
    if run.problems:
        return "arguments"
    return run.error_kind or "failed"
