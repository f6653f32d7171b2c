"""Import files that were written for the OpenHands SDK, and give them toolbench's classes."""

import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, NoReturn

from pydantic import Field, create_model

from toolbench.core.registry import default_registry
from toolbench.core.schema import Action
from toolbench.core.security import SecurityRisk
from toolbench.errors import ToolbenchError, did_you_mean

TOP = "openhands"
SDK, TOOLS = f"{TOP}.sdk", f"{TOP}.tools"


def openhands() -> AbstractContextManager[None]:
    """Make `openhands.sdk` and `openhands.tools` importable, with toolbench's classes in them.

        openhands()
        import my_tools_for_openhands

    Tools, actions, observations, executors, content, the registry, and the runtime tools of the
    same names come from toolbench. Classes that toolbench does not have (`LLM`, events) can be
    imported, but raise an error when they are used.

    The effect lasts until Python ends, in all threads, functions and cells. You may also write
    `with openhands():` around the imports, but the effect does not end with the block. Other
    packages in the namespace `openhands` can be imported as before.

    Raises:
        ToolbenchError: If the OpenHands SDK is installed. It needs fastmcp below 4, but toolbench
            needs a newer version, so the two cannot share an environment.

    Examples:
        >>> from toolbench import Action
        >>> from toolbench.compat import openhands
        >>> with openhands():
        ...     from openhands.sdk.tool import Action as OpenHandsAction
        >>> OpenHandsAction is Action
        True
    """
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        _check_not_installed()
        # The last one: it answers for what is not installed. Two threads may both add it: the second
        # is never asked
        sys.meta_path.append(_Finder())
    return _Installed()


class _Installed(nullcontext[None]):
    def __repr__(self) -> str:
        return f"{SDK} and {TOOLS} can be imported: they have toolbench's classes."


def _check_not_installed() -> None:
    try:
        spec = find_spec(SDK)
    except ModuleNotFoundError:
        return
    # Another thread may have added ours since
    if spec is not None and not isinstance(spec.loader, _Loader):
        msg = (
            f"The OpenHands SDK is installed here ({spec.origin}), so files would import its "
            "classes, which toolbench cannot run: use an environment without it."
        )
        raise ToolbenchError(msg)


class _Finder(MetaPathFinder):
    """An import finder, which finds toolbench's module for each module of the SDK."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return the spec of toolbench's module in place of the SDK's module *fullname*.

        Return None if *fullname* is not a module of the SDK.

        Raises:
            ModuleNotFoundError: If *fullname* is a module of the SDK, but toolbench has no module
                for it.
        """
        if fullname != TOP and not fullname.startswith(f"{TOP}."):
            return None
        if fullname in MODULES or _tool_module(fullname):
            return ModuleSpec(fullname, _Loader(), is_package=True)
        if not fullname.startswith((f"{SDK}.", f"{TOOLS}.")):
            # A missing package of somebody else, for which others may only look
            return None
        msg = f"toolbench has no module for {fullname}.{did_you_mean(fullname, MODULES)}"
        raise ModuleNotFoundError(msg, name=fullname)


class _Loader(Loader):
    """An import loader, which makes an empty module. A name in the module is looked up when it is used."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return toolbench's module for the module of the SDK that *spec* names."""
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module has no code to run."""


class _StandIn(ModuleType):
    """A module in place of a module of the SDK: it has toolbench's classes under the SDK's names."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        tools = _tool_module(self.__name__)
        if tools:
            return getattr(import_module(tools), name)
        if self.__name__ == TOOLS and hasattr(import_module("toolbench.tools"), name):
            return getattr(import_module("toolbench.tools"), name)
        if name in HOMES:
            return getattr(import_module(HOMES[name]), name)
        if name[:1].isupper() or name in ABSENT_FUNCTIONS:
            return _absent(f"{self.__name__}.{name}")
        msg = f"toolbench has nothing in the place of {self.__name__}.{name}"
        raise AttributeError(msg)


def _tool_module(name: str) -> str:
    """Return the name of toolbench's module for *name*, a module of the SDK's tools; empty if none."""
    _, is_tool, rest = name.partition(f"{TOOLS}.")
    ours = f"toolbench.tools.{rest}"
    try:
        is_ours = bool(is_tool) and find_spec(ours) is not None
    except ModuleNotFoundError:
        # The parent of the module does not exist
        is_ours = False
    if is_ours:
        return ours
    return ""


def _absent(place: str) -> type:
    """Return a class in place of *place*, which is a name of the SDK that toolbench does not have.

    Code can import the class. A call of the class raises a ToolbenchError, and so does
    the definition of a class that derives from it.
    """

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        msg = (
            f"toolbench has nothing in the place of {place}: load the file that defines the "
            "tools, without the part that runs an agent."
        )
        raise ToolbenchError(msg)

    name = place.rpartition(".")[2]
    return type(name, (), {"__new__": refuse, "__init_subclass__": classmethod(refuse)})


# --- functions of the SDK that authors of tools call, and nothing else here needs -------

DEFAULT_TEXT_CONTENT_LIMIT = 50_000
"""How many characters of a text a model gets at most, in the SDK."""
DEFAULT_TRUNCATE_NOTICE = "[... This text was too long: its middle is left out here. ...]"
"""What `maybe_truncate` puts in place of the middle of a text."""
_ONE_CLASS_EACH = RLock()

get_logger = logging.getLogger


def is_tool_usable(name: str) -> bool:
    """Tell whether a tool is registered as *name* and can work on this machine."""
    return bool(default_registry.is_usable(name))


def create_action_type_with_risk(action_type: type[Action]) -> type[Action]:
    """Return the subclass of *action_type* with the field `security_risk`, the same one each time."""
    name = f"{action_type.__name__}WithRisk"
    with _ONE_CLASS_EACH:
        for made in action_type.__subclasses__():
            if made.__name__ == name:
                return made
        rating = Field(default=SecurityRisk.UNKNOWN, description="How risky this call is.")
        return create_model(
            name,
            __base__=action_type,
            __module__=action_type.__module__,
            security_risk=(SecurityRisk, rating),
        )


def maybe_truncate(
    content: str,
    truncate_after: int | None = None,
    truncate_notice: str = DEFAULT_TRUNCATE_NOTICE,
    save_dir: str | None = None,
    tool_prefix: str = "output",
) -> str:
    """Return *content*. If it is too long, replace its middle by a notice.

    Args:
        content: The text.
        truncate_after: The maximum length of the result, in characters. None or 0 means no limit.
        truncate_notice: The notice.
        save_dir: A directory in which the whole text is saved, so that the notice can name the
            file. It is created if it is missing. If the text cannot be saved, *truncate_notice* is
            used.
        tool_prefix: The beginning of the file's name.
    """
    if not truncate_after or truncate_after < 0 or len(content) <= truncate_after:
        return content
    notice = truncate_notice
    if save_dir:
        line = content.count("\n", 0, max(0, truncate_after - len(notice)) // 2) + 1
        notice = _saved(content, Path(save_dir), tool_prefix, line) or notice
    kept = truncate_after - len(notice)
    if kept <= 0:
        return notice[:truncate_after]
    end = kept // 2
    return content[: kept - end] + notice + content[len(content) - end :]


def _saved(content: str, folder: Path, prefix: str, line: int) -> str:
    """Return a notice that the whole *content* is in a file in *folder*; empty if it is not."""
    data = content.encode(errors="backslashreplace")
    path = folder / f"{prefix}_output_{sha256(data).hexdigest()[:8]}.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError:
        return ""
    return f"[... This text was too long: from about line {line} on, read it in {path}. ...]"


# --- the names of the SDK -----------------------------------------------------------------

HOMES: Mapping[str, str] = {
    **dict.fromkeys(
        [
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
            "ToolDefinition",
            "ToolExecutor",
            "list_registered_tools",
            "register_tool",
            "resolve_tool",
        ],
        "toolbench",
    ),
    **dict.fromkeys(
        [
            "DEFAULT_TEXT_CONTENT_LIMIT",
            "DEFAULT_TRUNCATE_NOTICE",
            "create_action_type_with_risk",
            "get_logger",
            "is_tool_usable",
            "maybe_truncate",
        ],
        __name__,
    ),
    **dict.fromkeys(
        [
            "FinishAction",
            "FinishExecutor",
            "FinishObservation",
            "FinishTool",
            "ThinkAction",
            "ThinkExecutor",
            "ThinkObservation",
            "ThinkTool",
        ],
        "toolbench.core.builtins",
    ),
    "Agent": "toolbench.agent",
    "DeclaredResources": "toolbench.core.declarations",
    "create_mcp_tools": "toolbench.mcp",
    "list_usable_tools": "toolbench.core.registry",
}
"""The module of toolbench for each name of the SDK. The same for each module of the SDK."""
_OF_SDK = [
    "agent",
    "agent.base",
    "context",
    "context.condenser",
    "context.condenser.base",
    "conversation",
    "conversation.base",
    "conversation.conversation_stats",
    "conversation.goal",
    "conversation.impl",
    "conversation.impl.local_conversation",
    "conversation.impl.remote_conversation",
    "conversation.state",
    "conversation.types",
    "conversation.visualizer",
    "critic",
    "critic.base",
    "event",
    "event.hook_execution",
    "event.llm_convertible",
    "event.llm_convertible.action",
    "hooks",
    "llm",
    "llm.llm",
    "llm.llm_profile_store",
    "llm.message",
    "llm.router",
    "llm.streaming",
    "logger",
    "marketplace",
    "mcp",
    "plugin",
    "secret",
    "security",
    "security.confirmation_policy",
    "security.llm_analyzer",
    "security.risk",
    "settings",
    "skills",
    "subagent",
    "tool",
    "tool.builtins",
    "tool.builtins.finish",
    "tool.builtins.think",
    "tool.client_tool",
    "tool.defaults",
    "tool.registry",
    "tool.schema",
    "tool.spec",
    "tool.tool",
    "utils",
    "utils.async_utils",
    "utils.models",
    "utils.truncate",
    "workspace",
    "workspace.remote",
    "workspace.remote.base",
]
_OF_TOOLS = [
    "browser_use",
    "browser_use.definition",
    "delegate",
    "gemini",
    "preset",
    "preset.default",
    "preset.gpt5",
    "preset.planning",
    "task",
    "tom_consult",
    "workflow",
]
MODULES = frozenset(
    {TOP, SDK, TOOLS, f"{TOP}.workspace"}
    | {f"{SDK}.{name}" for name in _OF_SDK}
    | {f"{TOOLS}.{name}" for name in _OF_TOOLS}
)
"""The modules that the examples and the tools of the SDK import."""
ABSENT_FUNCTIONS = frozenset(
    [
        "agent_definition_to_factory",
        "content_to_str",
        "default_tool_specs",
        "disable_plugin",
        "disable_skill",
        "discover_skill_resources",
        "enable_plugin",
        "enable_skill",
        "get_default_agent",
        "get_default_condenser",
        "get_default_tools",
        "get_gpt5_agent",
        "get_planning_agent",
        "install_plugin",
        "install_skill",
        "install_skills_from_marketplace",
        "list_installed_plugins",
        "list_installed_skills",
        "load_installed_plugins",
        "load_installed_skills",
        "load_skills_from_dir",
        "py_type",
        "register_agent",
        "register_agent_if_absent",
        "register_builtins_agents",
        "run_goal",
        "setup_logging",
        "uninstall_plugin",
        "uninstall_skill",
    ]
)
"""Functions that the SDK's examples and tools import, and that toolbench does not have."""
