"""A workbench for agent tools in Jupyter notebooks: `%load_ext toolbench`."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily

if TYPE_CHECKING:
    from toolbench.core.annotations import ToolAnnotations
    from toolbench.core.content import ImageContent, TextContent
    from toolbench.core.decorator import tool
    from toolbench.core.executor import ToolExecutor
    from toolbench.core.registry import (
        ToolRegistry,
        list_registered_tools,
        register_tool,
        resolve_tool,
    )
    from toolbench.core.schema import Action, Observation, Schema
    from toolbench.core.security import SecurityRisk
    from toolbench.core.spec import Tool
    from toolbench.core.state import Conversation, ConversationState
    from toolbench.core.tool import ExecutableTool, ToolBase, ToolDefinition
    from toolbench.errors import ToolbenchError
    from toolbench.extension import load_ipython_extension, unload_ipython_extension
    from toolbench.runs.current import current_run
    from toolbench.runs.engine import run_tool
    from toolbench.runs.history import history
    from toolbench.widgets.bench import bench

__version__ = "0.1.0"

_HOMES = {
    "Action": "core.schema",
    "Conversation": "core.state",
    "ConversationState": "core.state",
    "ExecutableTool": "core.tool",
    "ImageContent": "core.content",
    "Observation": "core.schema",
    "Schema": "core.schema",
    "SecurityRisk": "core.security",
    "TextContent": "core.content",
    "Tool": "core.spec",
    "ToolAnnotations": "core.annotations",
    "ToolBase": "core.tool",
    "ToolDefinition": "core.tool",
    "ToolExecutor": "core.executor",
    "ToolRegistry": "core.registry",
    "ToolbenchError": "errors",
    "bench": "widgets.bench",
    "current_run": "runs.current",
    "history": "runs.history",
    "list_registered_tools": "core.registry",
    "load_ipython_extension": "extension",
    "register_tool": "core.registry",
    "resolve_tool": "core.registry",
    "run_tool": "runs.engine",
    "tool": "core.decorator",
    "unload_ipython_extension": "extension",
}

__all__ = [
    "Action",
    "Conversation",
    "ConversationState",
    "ExecutableTool",
    "ImageContent",
    "Observation",
    "Schema",
    "SecurityRisk",
    "TextContent",
    "Tool",
    "ToolAnnotations",
    "ToolBase",
    "ToolDefinition",
    "ToolExecutor",
    "ToolRegistry",
    "ToolbenchError",
    "__version__",
    "bench",
    "current_run",
    "history",
    "list_registered_tools",
    "load_ipython_extension",
    "register_tool",
    "resolve_tool",
    "run_tool",
    "tool",
    "unload_ipython_extension",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
