"""The terminal: commands in a shell that stays."""

from typing import TYPE_CHECKING, Any

from toolbench.tools.terminal.definition import (
    CmdOutputMetadata,
    TerminalAction,
    TerminalObservation,
    TerminalTool,
)

if TYPE_CHECKING:
    from toolbench.tools.terminal.impl import TerminalExecutor

BashTool = TerminalTool  # the names of the seeds
ExecuteBashAction = TerminalAction
ExecuteBashObservation = TerminalObservation

__all__ = [
    "BashExecutor",
    "BashTool",
    "CmdOutputMetadata",
    "ExecuteBashAction",
    "ExecuteBashObservation",
    "TerminalAction",
    "TerminalExecutor",
    "TerminalObservation",
    "TerminalTool",
]


def __getattr__(name: str) -> Any:
    if name not in ("TerminalExecutor", "BashExecutor"):
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from toolbench.tools.terminal.impl import (  # noqa: PLC0415 - only who asks pays
        TerminalExecutor,
    )

    return TerminalExecutor
