"""The runtime tools. Each tool is imported when its name is first used."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.apply_patch import ApplyPatchTool as ApplyPatchTool
    from toolbench.tools.ask_human import AskHumanTool as AskHumanTool
    from toolbench.tools.browser import BrowserTool as BrowserTool
    from toolbench.tools.edit_file import EditFileTool as EditFileTool
    from toolbench.tools.file_editor import FileEditorTool as FileEditorTool
    from toolbench.tools.file_editor import StrReplaceEditorAction as StrReplaceEditorAction
    from toolbench.tools.file_editor import (
        StrReplaceEditorObservation as StrReplaceEditorObservation,
    )
    from toolbench.tools.file_editor import StrReplaceEditorTool as StrReplaceEditorTool
    from toolbench.tools.glob import GlobTool as GlobTool
    from toolbench.tools.grep import GrepTool as GrepTool
    from toolbench.tools.ipython import IPythonTool as IPythonTool
    from toolbench.tools.presets import default_tools as default_tools
    from toolbench.tools.presets import execute_bash_tool as execute_bash_tool
    from toolbench.tools.presets import register_default_tools as register_default_tools
    from toolbench.tools.request_condensation import (
        CondensationRequestTool as CondensationRequestTool,
    )
    from toolbench.tools.task_tracker import TaskItem as TaskItem
    from toolbench.tools.task_tracker import TaskTrackerAction as TaskTrackerAction
    from toolbench.tools.task_tracker import TaskTrackerObservation as TaskTrackerObservation
    from toolbench.tools.task_tracker import TaskTrackerTool as TaskTrackerTool
    from toolbench.tools.terminal import BashExecutor as BashExecutor
    from toolbench.tools.terminal import BashTool as BashTool
    from toolbench.tools.terminal import ExecuteBashAction as ExecuteBashAction
    from toolbench.tools.terminal import ExecuteBashObservation as ExecuteBashObservation
    from toolbench.tools.terminal import TerminalTool as TerminalTool
    from toolbench.tools.web_read import WebReadTool as WebReadTool

__getattr__, __dir__, __all__ = public_names(__name__)
