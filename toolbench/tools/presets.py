"""Register all runtime tools, or make a set of tools for a conversation."""

from importlib import import_module
from typing import Any
from warnings import warn

from toolbench.core.builtins import FinishTool, ThinkTool
from toolbench.core.registry import ToolRegistry, default_registry
from toolbench.core.tool import ToolDefinition
from toolbench.errors import did_you_mean
from toolbench.tools.tool_names import FOR_AGENTS, STEMS

_OLDER = {
    "terminal": ("BashTool", "execute_bash"),
    "file_editor": ("StrReplaceEditorTool", "str_replace_editor"),
    "ipython": ("ipython",),
}
"""Older names of the tools, by package. An older name can be resolved, but is not listed."""


def register_default_tools(registry: ToolRegistry | None = None) -> list[str]:
    """Register toolbench's own tools, and return their names.

    Tools that cannot be used on this machine are left out.

    Args:
        registry: The registry to use. By default, it is the registry that `register_tool` uses.

    Examples:
        >>> from toolbench import ToolRegistry
        >>> from toolbench.tools import register_default_tools
        >>> registry = ToolRegistry()
        >>> "grep" in register_default_tools(registry)
        True
        >>> registry.resolve("grep")[0].title
        'Grep'
    """
    registry = default_registry if registry is None else registry
    names = []
    for package in STEMS:
        tool = _tool(package)
        if tool.is_usable():
            registry.register(tool.name, tool, aliases=_aliases(package))
            names.append(tool.name)
    return names


def default_tools(
    conv_state: Any = None,
    *,
    terminal: bool = True,
    file_editor: bool = True,
    task_tracker: bool = True,
    glob: bool = True,
    grep: bool = True,
    apply_patch: bool = False,
    ipython: bool = True,
    web_read: bool = False,
    browser: bool = False,
    think: bool = True,
    finish: bool = True,
    request_condensation: bool = False,
    ask_human: bool = False,
    edit_file: bool = False,
    llm: Any = None,
    **enable: bool,
) -> list[ToolDefinition[Any, Any]]:
    """Create a set of tools for a conversation.

    Each argument with the name of a tool says whether the result contains this tool. If a tool
    cannot be used on this machine, it is left out, and a warning gives the reason.

    Args:
        conv_state: The state of the conversation for which the tools are made.
        terminal: The tool that runs commands.
        file_editor: The tool that views and edits files. It is left out if `enable_llm_editor` is
            true.
        task_tracker: The tool that keeps a list of tasks (plan mode).
        glob: The tool that finds files by name.
        grep: The tool that finds files by text.
        apply_patch: The tool that applies patches.
        ipython: The tool that runs Python.
        web_read: The tool that reads web pages.
        browser: The tool that drives a browser.
        think: The tool with which the model writes down its thoughts.
        finish: The tool that ends the task.
        request_condensation: The tool that asks for a summary of the conversation.
        ask_human: The tool that asks the user.
        edit_file: The tool that edits files from drafts. The agent's model writes a draft of a
            change, and the model *llm* applies it to the file.
        llm: The model that applies drafts: any value that `as_model` accepts.
        **enable: The same choices under the names in OpenHands: `enable_cmd`, `enable_editor`,
            `enable_llm_editor`, `enable_jupyter`, `enable_browsing`, `enable_think`,
            `enable_finish`, `enable_condensation_request`, `enable_plan_mode`. They override the
            arguments above.

    Raises:
        TypeError: If *enable* has an unknown name.
        ToolbenchError: If *edit_file* is true and *llm* is missing.

    Examples:
        >>> from toolbench.tools import default_tools
        >>> tools = default_tools(terminal=False, ipython=False, task_tracker=False)
        >>> [tool.name for tool in tools]
        ['file_editor', 'glob', 'grep', 'think', 'finish']
    """
    switches = {_switch(name): is_wanted for name, is_wanted in enable.items()}
    if switches.get("edit_file") and "file_editor" not in switches:
        # As in OpenHands: one or the other
        switches["file_editor"] = False
    usable = {
        "terminal": terminal,
        "file_editor": file_editor,
        "task_tracker": task_tracker,
        "glob": glob,
        "grep": grep,
        "apply_patch": apply_patch,
        "ipython": ipython,
        "web_read": web_read,
        "browser": browser,
        "request_condensation": request_condensation,
        "ask_human": ask_human,
        "edit_file": edit_file,
        "think": think,
        "finish": finish,
    } | switches
    tools: list[ToolDefinition[Any, Any]] = [
        tool
        for name, is_wanted in usable.items()
        if is_wanted
        for tool in _tools_of(name, conv_state, llm)
    ]
    return tools


_BUILTINS: dict[str, type[ToolDefinition[Any, Any]]] = {
    "think": ThinkTool,
    "finish": FinishTool,
}
_SWITCHES = {
    "enable_cmd": "terminal",
    "enable_editor": "file_editor",
    "enable_llm_editor": "edit_file",
    "enable_jupyter": "ipython",
    "enable_browsing": "browser",
    "enable_plan_mode": "task_tracker",
    "enable_condensation_request": "request_condensation",
    "enable_think": "think",
    "enable_finish": "finish",
}
"""The switches of OpenHands, each with the name of its tool."""


def _switch(name: str) -> str:
    if name not in _SWITCHES:
        near = did_you_mean(name, _SWITCHES)
        msg = f"default_tools() has no switch {name!r}.{near}"
        raise TypeError(msg)
    return _SWITCHES[name]


def _tools_of(name: str, conv_state: Any, llm: Any) -> list[ToolDefinition[Any, Any]]:
    if name in _BUILTINS:
        return list(_BUILTINS[name].create(conv_state))
    tool = _tool(name)
    if name == "edit_file":
        return list(tool.create(conv_state, llm=llm))
    usable = tool.is_usable()
    if not usable:
        warn(f"{tool.name} is left out: {usable}", stacklevel=4)
        return []
    return list(tool.create(conv_state))


def _aliases(package: str) -> list[str]:
    """Return the other names of the tool in *package*: that of its class, and older names."""
    return [f"{STEMS[package]}Tool", *_OLDER.get(package, ())]


def _tool(name: str) -> type[ToolDefinition[Any, Any]]:
    """Import the package *name* and return its tool class."""
    module = import_module(f"toolbench.tools.{name}")
    stem = (STEMS | FOR_AGENTS)[name]
    tool_class: type[ToolDefinition[Any, Any]] = getattr(module, f"{stem}Tool")
    return tool_class


def __getattr__(name: str) -> Any:
    if name != "execute_bash_tool":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    [tool] = _tool("terminal").create()
    tool.executor.close()
    # The user sets an executor
    return tool.set_executor(None)
