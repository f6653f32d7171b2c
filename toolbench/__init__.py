"""A workbench for agent tools in Jupyter notebooks: `%load_ext toolbench`."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench._version import __version__ as __version__
    from toolbench.agent.conversation import Conversation as Conversation
    from toolbench.core.content import ImageContent as ImageContent
    from toolbench.core.content import TextContent as TextContent
    from toolbench.core.declarations import (
        ToolAnnotations as ToolAnnotations,
    )
    from toolbench.core.executor import ToolExecutor as ToolExecutor
    from toolbench.core.functions import tool as tool
    from toolbench.core.registry import ToolRegistry as ToolRegistry
    from toolbench.core.registry import list_registered_tools as list_registered_tools
    from toolbench.core.registry import register_tool as register_tool
    from toolbench.core.registry import resolve_tool as resolve_tool
    from toolbench.core.schema import Action as Action
    from toolbench.core.schema import Observation as Observation
    from toolbench.core.schema import Schema as Schema
    from toolbench.core.secrets import Secret as Secret
    from toolbench.core.secrets import secret as secret
    from toolbench.core.security import SecurityRisk as SecurityRisk
    from toolbench.core.spec import Tool as Tool
    from toolbench.core.state import ConversationState as ConversationState
    from toolbench.core.tool import ExecutableTool as ExecutableTool
    from toolbench.core.tool import ToolBase as ToolBase
    from toolbench.core.tool import ToolDefinition as ToolDefinition
    from toolbench.errors import ToolbenchError as ToolbenchError
    from toolbench.extension import load_ipython_extension as load_ipython_extension
    from toolbench.extension import unload_ipython_extension as unload_ipython_extension
    from toolbench.runs.current_run import current_run as current_run
    from toolbench.runs.parallel import run_tools as run_tools
    from toolbench.runs.perform import history as history
    from toolbench.runs.perform import run_tool as run_tool
    from toolbench.runs.policy import policy as policy
    from toolbench.runs.questions import answering as answering
    from toolbench.widgets.bench import bench as bench

_PACKAGES = (
    "agent",
    "checks",
    "compat",
    "core",
    "display",
    "evals",
    "export",
    "llm",
    "mcp",
    "runs",
    "serving",
    "testing",
    "tools",
    "widgets",
)

__getattr__, __dir__, __all__ = public_names(__name__, packages=_PACKAGES)
