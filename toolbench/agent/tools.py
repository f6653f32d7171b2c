"""Tools that need a model or a conversation: delegation and the search for tools."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.agent.delegate import DelegateTool as DelegateTool
    from toolbench.agent.toolset import SearchToolsTool as SearchToolsTool
    from toolbench.core.builtins import FinishTool as FinishTool
    from toolbench.core.builtins import ThinkTool as ThinkTool
    from toolbench.tools.ask_human.definition import AskHumanTool as AskHumanTool
    from toolbench.tools.edit_file.definition import EditFileTool as EditFileTool
    from toolbench.tools.request_condensation.definition import (
        CondensationRequestTool as CondensationRequestTool,
    )

__getattr__, __dir__, __all__ = public_names(__name__)
