"""The terminal: commands in a shell that stays."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
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

__getattr__, __dir__ = lazily(
    __name__, {"TerminalExecutor": "impl"}, {"BashExecutor": "TerminalExecutor"}
)
