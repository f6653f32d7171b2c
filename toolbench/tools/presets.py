"""All runtime tools at once: registered, or made for a conversation."""

from importlib import import_module
from typing import Any
from warnings import warn

from toolbench.core.builtins import FinishTool, ThinkTool
from toolbench.core.registry import ToolRegistry, default_registry
from toolbench.core.tool import ToolDefinition
from toolbench.tools.names import OLDER, STEMS

_OLDER = {
    "terminal": "execute_bash",
    "file_editor": "str_replace_editor",
    "ipython": "ipython",
}
"""What the seeds call the tools themselves, by package: it resolves, and is not listed."""


def register_default_tools(registry: ToolRegistry | None = None) -> list[str]:
    """Register the runtime tools that can work here, and return their names.

    Args:
        registry: Where to; the one behind `register_tool` if left out.
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
) -> list[ToolDefinition[Any, Any]]:
    """Return a set of tools made for a conversation; each can be left out or added.

    One that cannot work here is left out, with a warning that says why.
    Source: the `enable_*` settings of OpenHands' function calling agent.
    """
    wanted = {
        "terminal": terminal,
        "file_editor": file_editor,
        "task_tracker": task_tracker,
        "glob": glob,
        "grep": grep,
        "apply_patch": apply_patch,
        "ipython": ipython,
        "web_read": web_read,
        "browser": browser,
    }
    tools = [
        tool
        for name, is_wanted in wanted.items()
        if is_wanted
        for tool in _made(name, conv_state)
    ]
    return tools + [ThinkTool] * think + [FinishTool] * finish


def _made(name: str, conv_state: Any) -> list[ToolDefinition[Any, Any]]:
    tool = _tool(name)
    usable = tool.is_usable()
    if not usable:
        warn(f"{tool.name} is left out: {usable}", stacklevel=4)
        return []
    return list(tool.create(conv_state))


def _aliases(package: str) -> list[str]:
    """Other names of the tool: of its class, and those of the seeds."""
    own = f"{STEMS[package]}Tool"
    older = [old for old, new in OLDER.items() if new == own]
    return [own, *older, *([_OLDER[package]] if package in _OLDER else [])]


def _tool(name: str) -> type[ToolDefinition[Any, Any]]:
    """Import the tool called *name* now, not before it is wanted."""
    module = import_module(f"toolbench.tools.{name}")
    found: type[ToolDefinition[Any, Any]] = getattr(module, f"{STEMS[name]}Tool")
    return found


def __getattr__(name: str) -> Any:
    if name != "execute_bash_tool":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    [tool] = _tool("terminal").create()
    tool.executor.close()
    return tool.set_executor(None)  # whoever takes it sets one of their own
