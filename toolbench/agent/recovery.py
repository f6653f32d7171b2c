"""Recover from failed calls: retry, call a backup tool, or ask the model to think.

Source: the fault tolerance of OpenHands' tool engine (retry, degrade) and ADK's
ReflectAndRetryToolPlugin. All of this is off unless the agent's settings turn it on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Literal

from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import tool_at
from toolbench.runs.control import StopCause
from toolbench.runs.run import Run, run_here

ErrorClass = Literal[
    "arguments", "refused", "stopped", "timeout", "network", "permission", "failed"
]
"""Why a call has no result, in this order: its arguments do not fit; the user declined it; it was
cancelled; it took too long; a service was unreachable or busy; permission was missing; another
reason."""

_REFLECT = (
    "\n[Before you call a tool again: say in a sentence what was wrong with this call, and what "
    "you will do otherwise. Do not send the same call again.]"
)


@dataclass(frozen=True)
class RecoverySettings:
    """The settings of an agent for failed calls."""

    retry: int = 0
    """How often a call is repeated after a temporary failure, if its tool is read-only or
    idempotent. The pause doubles each time."""
    degrade: bool = False
    """Whether to call the tool that the failed tool's `meta` names as its `backup`; a server's
    tool cannot name one."""
    reflect: bool = False
    """Whether to ask the model to think after a tool's first failure, before it calls again."""
    pause: float = 0.5
    """Seconds before the first retry."""


class Recovery:
    """Recovers the failed calls of one conversation."""

    def __init__(
        self,
        settings: RecoverySettings,
        stopping: Event,
        carry_out: Callable[[Run], object],
        note: Callable[[str], object],
    ) -> None:
        """Recover calls according to *settings*.

        Args:
            settings: What to do after a failure.
            stopping: An event that is set when the user stops the conversation. No call is then
                repeated.
            carry_out: Carries out a new run, and returns when the run has ended.
            note: Called with a sentence for the user about each recovery.
        """
        self._settings, self._stopping = settings, stopping
        self._carry_out, self._note = carry_out, note
        self._reflected: set[str] = set()

    def recovered(self, run: Run, tools: Mapping[str, ToolDefinition[Any, Any]]) -> Run:
        """Retry the failed *run*, then try the tool's backup, if the settings allow this.

        Args:
            run: The failed run.
            tools: The tools of the conversation by name, including the backup tools.

        Returns:
            The last run, which may have failed too.
        """
        for times in range(self._settings.retry):
            if self._stopping.is_set() or not _may_pass(run):
                break
            delay = self._settings.pause * 2**times
            self._note(f"{_failed(run)}; it is tried again after {delay:g} s.")
            if self._stopping.wait(delay):
                break
            run = self._again(run, run.tool)
        backup = self._backup_of(run, tools)
        if backup is not None and not self._stopping.is_set():
            self._note(f"{_failed(run)}; {backup.name} takes its place.")
            run = self._again(run, backup)
        return run

    def _again(self, run: Run, tool: ToolDefinition[Any, Any]) -> Run:
        """Run *tool* with the arguments of *run*, which failed, and return the new run."""
        # An undo looks for the action, and another tool has actions of its own
        action = None
        if tool is run.tool:
            action = run.action
        again = run_here(
            tool, run.arguments, run.source, run.conversation, action=action, risk=run.risk
        )
        again.dialogue.asker = run.dialogue.asker
        self._carry_out(again)
        return again

    def _backup_of(
        self, run: Run, tools: Mapping[str, ToolDefinition[Any, Any]]
    ) -> ToolDefinition[Any, Any] | None:
        """Return the backup tool for the failed *run* from *tools*; None if there is none."""
        no_backup = (None, "arguments", "refused", "stopped")
        if not self._settings.degrade or error_class(run) in no_backup:
            return None
        # Its `meta` comes from the server, which must not choose what runs here
        if run.tool.source != ToolDefinition.source:
            return None
        name = str((run.tool.meta or {}).get("backup", ""))
        return tools.get(name) or tool_at(name, tools.values())

    def reflection(self, tool_name: str) -> str:
        """Return a request to think if this is the first failure of *tool_name*; else ""."""
        if not self._settings.reflect or tool_name in self._reflected:
            return ""
        self._reflected.add(tool_name)
        self._note(f"The model is asked to think before it calls {tool_name} again.")
        return _REFLECT


def _may_pass(run: Run) -> bool:
    """Tell whether the failure of *run* may be temporary, and a retry would do no harm."""
    hints = run.tool.hints
    is_harmless = hints.readOnlyHint or hints.idempotentHint
    return is_harmless and error_class(run) in ("timeout", "network")


def _failed(run: Run) -> str:
    return f"{run.tool.name} failed ({error_class(run)})"


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
