"""The runtime tools, each imported when its name is first asked for."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
from toolbench.tools.tool_names import FOR_AGENTS as _FOR_AGENTS
from toolbench.tools.tool_names import OLDER as _OLDER
from toolbench.tools.tool_names import STEMS as _STEMS

if TYPE_CHECKING:
    from toolbench.tools.apply_patch import (
        ApplyPatchAction,
        ApplyPatchExecutor,
        ApplyPatchObservation,
        ApplyPatchTool,
    )
    from toolbench.tools.ask_human import (
        AskHumanAction,
        AskHumanExecutor,
        AskHumanObservation,
        AskHumanTool,
    )
    from toolbench.tools.browser import (
        BrowserAction,
        BrowserExecutor,
        BrowserObservation,
        BrowserTool,
    )
    from toolbench.tools.edit_file import (
        EditFileAction,
        EditFileExecutor,
        EditFileObservation,
        EditFileTool,
    )
    from toolbench.tools.file_editor import (
        FileEditorAction,
        FileEditorExecutor,
        FileEditorObservation,
        FileEditorTool,
    )
    from toolbench.tools.glob import (
        GlobAction,
        GlobExecutor,
        GlobObservation,
        GlobTool,
    )
    from toolbench.tools.grep import (
        GrepAction,
        GrepExecutor,
        GrepObservation,
        GrepTool,
    )
    from toolbench.tools.ipython import (
        IPythonAction,
        IPythonExecutor,
        IPythonObservation,
        IPythonTool,
    )
    from toolbench.tools.presets import default_tools, register_default_tools
    from toolbench.tools.request_condensation import (
        CondensationRequestAction,
        CondensationRequestExecutor,
        CondensationRequestObservation,
        CondensationRequestTool,
    )
    from toolbench.tools.task_tracker import (
        TaskItem,
        TaskTrackerAction,
        TaskTrackerExecutor,
        TaskTrackerObservation,
        TaskTrackerTool,
    )
    from toolbench.tools.terminal import (
        TerminalAction,
        TerminalExecutor,
        TerminalObservation,
        TerminalTool,
    )
    from toolbench.tools.web_read import (
        WebReadAction,
        WebReadExecutor,
        WebReadObservation,
        WebReadTool,
    )

    BashExecutor = TerminalExecutor
    BashTool = TerminalTool
    ExecuteBashAction = TerminalAction
    ExecuteBashObservation = TerminalObservation
    StrReplaceEditorAction = FileEditorAction
    StrReplaceEditorExecutor = FileEditorExecutor
    StrReplaceEditorObservation = FileEditorObservation
    StrReplaceEditorTool = FileEditorTool
    execute_bash_tool: TerminalTool

_HOMES = {
    f"{stem}{part}": package
    for package, stem in (*_STEMS.items(), *_FOR_AGENTS.items())
    for part in ("Action", "Executor", "Observation", "Tool")
}
_HOMES |= {"TaskItem": "task_tracker", "execute_bash_tool": "presets"}
_HOMES |= {"default_tools": "presets", "register_default_tools": "presets"}

__all__ = [
    "ApplyPatchAction",
    "ApplyPatchExecutor",
    "ApplyPatchObservation",
    "ApplyPatchTool",
    "AskHumanAction",
    "AskHumanExecutor",
    "AskHumanObservation",
    "AskHumanTool",
    "BashExecutor",
    "BashTool",
    "BrowserAction",
    "BrowserExecutor",
    "BrowserObservation",
    "BrowserTool",
    "CondensationRequestAction",
    "CondensationRequestExecutor",
    "CondensationRequestObservation",
    "CondensationRequestTool",
    "EditFileAction",
    "EditFileExecutor",
    "EditFileObservation",
    "EditFileTool",
    "ExecuteBashAction",
    "ExecuteBashObservation",
    "FileEditorAction",
    "FileEditorExecutor",
    "FileEditorObservation",
    "FileEditorTool",
    "GlobAction",
    "GlobExecutor",
    "GlobObservation",
    "GlobTool",
    "GrepAction",
    "GrepExecutor",
    "GrepObservation",
    "GrepTool",
    "IPythonAction",
    "IPythonExecutor",
    "IPythonObservation",
    "IPythonTool",
    "StrReplaceEditorAction",
    "StrReplaceEditorExecutor",
    "StrReplaceEditorObservation",
    "StrReplaceEditorTool",
    "TaskItem",
    "TaskTrackerAction",
    "TaskTrackerExecutor",
    "TaskTrackerObservation",
    "TaskTrackerTool",
    "TerminalAction",
    "TerminalExecutor",
    "TerminalObservation",
    "TerminalTool",
    "WebReadAction",
    "WebReadExecutor",
    "WebReadObservation",
    "WebReadTool",
    "default_tools",
    "execute_bash_tool",
    "register_default_tools",
]

__getattr__, __dir__ = lazily(__name__, _HOMES, _OLDER)
