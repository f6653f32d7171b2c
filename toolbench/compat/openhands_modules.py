"""Files of tools that were written for the OpenHands SDK, loaded with ours: `openhands()`."""

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

from toolbench.errors import ToolbenchError, did_you_mean

_TOP = "openhands"
_SDK, _TOOLS = f"{_TOP}.sdk", f"{_TOP}.tools"
_OURS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("Action", "ConversationState", "ImageContent", "Observation", "Schema"),
            *(
                "SecurityRisk",
                "TextContent",
                "Tool",
                "ToolAnnotations",
                "ToolDefinition",
            ),
            *(
                "ExecutableTool",
                "ToolExecutor",
                "list_registered_tools",
                "register_tool",
            ),
            *("Conversation", "resolve_tool"),
        ),
        "toolbench",
    ),
    "Agent": "toolbench.agent",
    "DeclaredResources": "toolbench.core.definition.declarations",
    "FinishTool": "toolbench.core.builtins",
    "ThinkTool": "toolbench.core.builtins",
    "create_mcp_tools": "toolbench.mcp",
}
"""Where we have what the SDK calls so, in whichever of its modules."""
_MODULES = frozenset(
    {
        *(_TOP, _SDK, _TOOLS),
        *(
            f"{_SDK}.{name}"
            for name in ("agent", "conversation", "llm", "logger", "security")
        ),
        *(
            f"{_SDK}.{name}"
            for name in ("conversation.state", "llm.message", "security.risk")
        ),
        *(
            f"{_SDK}.{name}"
            for name in ("mcp", "tool", "tool.builtins", "tool.registry")
        ),
        *(f"{_SDK}.{name}" for name in ("tool.schema", "tool.spec", "tool.tool")),
        *(f"{_SDK}.{name}" for name in ("conversation.base", "conversation.impl")),
    }
)


@contextmanager
def openhands() -> Iterator[None]:
    """Let modules that import from `openhands.sdk` and `openhands.tools` import ours, inside of `with`.

        with openhands():
            import my_tools_for_openhands

    Tools, actions, observations, executors, content and the registry are ours, and so are the
    runtime tools of the same names. What we do not have (`LLM`, events) can be imported, and
    says so when it is used. Outside of `with` nothing is changed: an SDK that is installed is
    found again. Other threads that import in the meantime see the same.
    """
    hidden = {name: sys.modules.pop(name) for name in _loaded()}
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in _loaded():
            del sys.modules[name]
        sys.modules.update(hidden)


def _loaded() -> list[str]:
    return [name for name in sys.modules if name == _TOP or name.startswith(f"{_TOP}.")]


class _Finder(MetaPathFinder):
    """Finds the modules of the SDK that we stand in for."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return how *fullname* is loaded, if it is one of the SDK's.

        Raises:
            ModuleNotFoundError: If it is one that we do not stand in for.
        """
        if fullname != _TOP and not fullname.startswith(f"{_TOP}."):
            return None
        if fullname in _MODULES or _tool_module(fullname):
            return ModuleSpec(fullname, _Loader(), is_package=True)
        msg = f"toolbench does not stand in for {fullname}.{did_you_mean(fullname, _MODULES)}"
        raise ModuleNotFoundError(msg, name=fullname)


class _Loader(Loader):
    """Makes a module whose names are looked up when they are imported."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module."""
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is no code."""


class _StandIn(ModuleType):
    """A module of the SDK's name, with what we have of it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if tools := _tool_module(self.__name__):
            return getattr(import_module(tools), name)
        if self.__name__.startswith(_SDK):
            if name == "get_logger":
                return logging.getLogger
            if name in _OURS:
                return getattr(import_module(_OURS[name]), name)
            if name[:1].isupper():
                return _absent(f"{self.__name__}.{name}")
        msg = f"toolbench has nothing in the place of {self.__name__}.{name}"
        raise AttributeError(msg)


def _tool_module(name: str) -> str:
    """Return which module of ours is in the place of *name*, one of the SDK's runtime tools."""
    _, is_tool, rest = name.partition(f"{_TOOLS}.")
    ours = f"toolbench.tools.{rest}"
    try:
        return ours if is_tool and find_spec(ours) is not None else ""
    except ModuleNotFoundError:  # it is below one that we do not have
        return ""


def _absent(place: str) -> type:
    """Return a class in the place of one that we do not have: it can be named, not used."""

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        msg = (
            f"toolbench has nothing in the place of {place}: load the file that defines the "
            "tools, without the part that runs an agent."
        )
        raise ToolbenchError(msg)

    name = place.rpartition(".")[2]
    return type(name, (), {"__new__": refuse, "__init_subclass__": classmethod(refuse)})
