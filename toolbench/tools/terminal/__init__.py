"""The terminal: a tool that runs commands in a persistent shell."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.terminal.definition import BashTool as BashTool
    from toolbench.tools.terminal.definition import (
        CmdOutputMetadata as CmdOutputMetadata,
    )
    from toolbench.tools.terminal.definition import (
        ExecuteBashAction as ExecuteBashAction,
    )
    from toolbench.tools.terminal.definition import (
        ExecuteBashObservation as ExecuteBashObservation,
    )
    from toolbench.tools.terminal.definition import TerminalAction as TerminalAction
    from toolbench.tools.terminal.definition import (
        TerminalObservation as TerminalObservation,
    )
    from toolbench.tools.terminal.definition import TerminalTool as TerminalTool
    from toolbench.tools.terminal.impl import BashExecutor as BashExecutor
    from toolbench.tools.terminal.impl import TerminalExecutor as TerminalExecutor

__getattr__, __dir__, __all__ = public_names(__name__)
