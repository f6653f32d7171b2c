"""The runtime tools. Each tool is imported when its name is first used."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.apply_patch import ApplyPatchAction as ApplyPatchAction
    from toolbench.tools.apply_patch import ApplyPatchExecutor as ApplyPatchExecutor
    from toolbench.tools.apply_patch import (
        ApplyPatchObservation as ApplyPatchObservation,
    )
    from toolbench.tools.apply_patch import ApplyPatchTool as ApplyPatchTool
    from toolbench.tools.ask_human import AskHumanAction as AskHumanAction
    from toolbench.tools.ask_human import AskHumanExecutor as AskHumanExecutor
    from toolbench.tools.ask_human import AskHumanObservation as AskHumanObservation
    from toolbench.tools.ask_human import AskHumanTool as AskHumanTool
    from toolbench.tools.browser import BrowserAction as BrowserAction
    from toolbench.tools.browser import BrowserExecutor as BrowserExecutor
    from toolbench.tools.browser import BrowserObservation as BrowserObservation
    from toolbench.tools.browser import BrowserTool as BrowserTool
    from toolbench.tools.edit_file import EditFileAction as EditFileAction
    from toolbench.tools.edit_file import EditFileExecutor as EditFileExecutor
    from toolbench.tools.edit_file import EditFileObservation as EditFileObservation
    from toolbench.tools.edit_file import EditFileTool as EditFileTool
    from toolbench.tools.file_editor import FileEditorAction as FileEditorAction
    from toolbench.tools.file_editor import FileEditorExecutor as FileEditorExecutor
    from toolbench.tools.file_editor import (
        FileEditorObservation as FileEditorObservation,
    )
    from toolbench.tools.file_editor import FileEditorTool as FileEditorTool
    from toolbench.tools.file_editor import (
        StrReplaceEditorAction as StrReplaceEditorAction,
    )
    from toolbench.tools.file_editor import (
        StrReplaceEditorExecutor as StrReplaceEditorExecutor,
    )
    from toolbench.tools.file_editor import (
        StrReplaceEditorObservation as StrReplaceEditorObservation,
    )
    from toolbench.tools.file_editor import StrReplaceEditorTool as StrReplaceEditorTool
    from toolbench.tools.glob import GlobAction as GlobAction
    from toolbench.tools.glob import GlobExecutor as GlobExecutor
    from toolbench.tools.glob import GlobObservation as GlobObservation
    from toolbench.tools.glob import GlobTool as GlobTool
    from toolbench.tools.grep import GrepAction as GrepAction
    from toolbench.tools.grep import GrepExecutor as GrepExecutor
    from toolbench.tools.grep import GrepObservation as GrepObservation
    from toolbench.tools.grep import GrepTool as GrepTool
    from toolbench.tools.ipython import IPythonAction as IPythonAction
    from toolbench.tools.ipython import IPythonExecutor as IPythonExecutor
    from toolbench.tools.ipython import IPythonObservation as IPythonObservation
    from toolbench.tools.ipython import IPythonTool as IPythonTool
    from toolbench.tools.presets import default_tools as default_tools
    from toolbench.tools.presets import execute_bash_tool as execute_bash_tool
    from toolbench.tools.presets import register_default_tools as register_default_tools
    from toolbench.tools.request_condensation import (
        CondensationRequestAction as CondensationRequestAction,
    )
    from toolbench.tools.request_condensation import (
        CondensationRequestExecutor as CondensationRequestExecutor,
    )
    from toolbench.tools.request_condensation import (
        CondensationRequestObservation as CondensationRequestObservation,
    )
    from toolbench.tools.request_condensation import (
        CondensationRequestTool as CondensationRequestTool,
    )
    from toolbench.tools.task_tracker import TaskItem as TaskItem
    from toolbench.tools.task_tracker import TaskTrackerAction as TaskTrackerAction
    from toolbench.tools.task_tracker import TaskTrackerExecutor as TaskTrackerExecutor
    from toolbench.tools.task_tracker import (
        TaskTrackerObservation as TaskTrackerObservation,
    )
    from toolbench.tools.task_tracker import TaskTrackerTool as TaskTrackerTool
    from toolbench.tools.terminal import BashExecutor as BashExecutor
    from toolbench.tools.terminal import BashTool as BashTool
    from toolbench.tools.terminal import ExecuteBashAction as ExecuteBashAction
    from toolbench.tools.terminal import (
        ExecuteBashObservation as ExecuteBashObservation,
    )
    from toolbench.tools.terminal import TerminalAction as TerminalAction
    from toolbench.tools.terminal import TerminalExecutor as TerminalExecutor
    from toolbench.tools.terminal import TerminalObservation as TerminalObservation
    from toolbench.tools.terminal import TerminalTool as TerminalTool
    from toolbench.tools.web_read import WebReadAction as WebReadAction
    from toolbench.tools.web_read import WebReadExecutor as WebReadExecutor
    from toolbench.tools.web_read import WebReadObservation as WebReadObservation
    from toolbench.tools.web_read import WebReadTool as WebReadTool

__getattr__, __dir__, __all__ = public_names(__name__)
