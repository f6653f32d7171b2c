"""Decide what to do after a failed call, by the class of its error.

Source: the fault tolerance of OpenHands' tool engine (retry, degrade) and ADK's
ReflectAndRetryToolPlugin. All of this is off unless the agent's settings turn it on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import tool_at
from toolbench.runs.control import StopCause
from toolbench.runs.run import Run

ErrorClass = Literal[
    "arguments", "refused", "stopped", "timeout", "network", "permission", "failed"
]
"""Why a call has no result: its arguments do not fit; the user declined it; it was cancelled; it
took too long; something could not be reached or is busy; something is not allowed; anything else."""

PASSING: frozenset[ErrorClass] = frozenset({"timeout", "network"})
"""The classes of errors for which a retry may succeed."""

REFLECT = (
    "\n[Before you call a tool again: say in a sentence what was wrong with this call, and what "
    "you will do otherwise. Do not send the same call again.]"
)


@dataclass(frozen=True)
class Recovery:
    """The settings of an agent for failed calls."""

    retry: int = 0
    """How often a call with a temporary failure is tried again, if its tool is read-only or
    idempotent; the pause doubles each time."""
    degrade: bool = False
    """Whether to call the tool that the `meta` of a failed tool names as its `backup`; a server
    cannot name one."""
    reflect: bool = False
    """Whether to ask the model, once for each tool, to think before it calls again."""
    pause: float = 0.5
    """Seconds before the first retry."""

    def may_retry(self, run: Run, times: int) -> bool:
        """Tell whether to retry *run*, which failed and was already retried *times* times."""
        hints = run.tool.hints
        harmless = hints.readOnlyHint or hints.idempotentHint
        return times < self.retry and harmless and error_class(run) in PASSING

    def backup_of(
        self, run: Run, tools: Mapping[str, ToolDefinition[Any, Any]]
    ) -> ToolDefinition[Any, Any] | None:
        """Return the tool of *tools* that is the backup for the failed *run*; None if there is none."""
        if not self.degrade or error_class(run) in (
            None,
            "arguments",
            "refused",
            "stopped",
        ):
            return None
        # Its `meta` comes from the server, which must not choose what runs here
        if run.tool.source != ToolDefinition.source:
            return None
        name = str((run.tool.meta or {}).get("backup", ""))
        return tools.get(name) or tool_at(name, tools.values())


def error_class(run: Run) -> ErrorClass | None:
    """Return the error class of *run*, which has ended; None if it succeeded."""
    if run.state == "denied":
        return "refused"
    if run.state == "cancelled":
        why = run.control.why
        if why is not None and why.cause is StopCause.TIMEOUT:
            return "timeout"
        return "stopped"
    if not run.outcome.is_error:
        return None
    if run.problems:
        return "arguments"
    return run.error_kind or "failed"
