"""The served tools, each in its latest definition."""

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from inspect import signature
from threading import RLock
from typing import Any

from pydantic_core import to_json

from toolbench.core.registry import default_registry, resolve_tool
from toolbench.core.spec import Tool
from toolbench.core.state import ConversationState
from toolbench.core.tool import ToolDefinition
from toolbench.errors import RegistrationError, ToolbenchError
from toolbench.serving.call_results import output_schema_of
from toolbench.values import clip, sendable

_log = logging.getLogger(__name__)
AnyTool = ToolDefinition[Any, Any]
Source = Callable[[], Iterable[AnyTool]]
"""A function that returns the current tools of one part of an offer."""


class Offer:
    """The served tools by name, which are looked up again after any tool was defined."""

    def __init__(self, specs: Any) -> None:
        """Find the tools that *specs* describes, except those that are not meant for models.

        Args:
            specs: A tool, a class of tools, a `Tool` spec, the name of a tool, or a list of these.
                It may also be a function that returns tools, which is called each time the tools
                are looked up.

        Raises:
            RegistrationError: If an item of *specs* is not a tool, or two tools have the same name.
            ToolNotFoundError: If no tool has one of the given names.
        """
        self._lock = RLock()
        self._owned: list[AnyTool] = []
        self._sources = [*self._sources_of(specs)]
        self._is_stale = False
        self.version = 0
        """How often the answer to `tools/list` has changed."""
        self._tools: dict[str, AnyTool] = {}
        self._described: dict[str, dict[str, Any]] = {}
        for tool in (tool for source in self._sources for tool in source()):
            if not tool.is_for_models:
                continue
            if tool.name in self._tools:
                msg = f"Two tools are called {tool.name!r}: serve one of them."
                raise RegistrationError(msg)
            tool.as_executable()
            self._tools[tool.name] = tool
        if not self._sources:
            msg = "There is no tool to serve: serve([add]), with a tool that @tool made."
            raise RegistrationError(msg)
        self._described = _described(self._tools)

    @property
    def tools(self) -> Mapping[str, AnyTool]:
        """The tools by name, each in its latest definition."""
        self.renew()
        return self._tools

    @property
    def described(self) -> Mapping[str, dict[str, Any]]:
        """The entry of each tool in `tools/list`."""
        self.renew()
        return self._described

    def outdate(self) -> None:
        """Note that the tools may have changed, so that they are looked up again when next used."""
        self._is_stale = True

    def renew(self) -> None:
        """Look up the tools if `outdate` was called since the last look-up."""
        if not self._is_stale:
            return
        with self._lock:
            self._is_stale = False
            tools = {tool.name: tool for tool in self._current() if _is_served(tool)}
            described = _described(tools)
            self.version += _text(described) != _text(self._described)
            self._tools, self._described = tools, described

    def close(self) -> None:
        """Close the tools that this offer created from names, specs or classes."""
        for tool in self._owned:
            if tool.executor is not None:
                tool.executor.close()

    def _current(self) -> Iterable[AnyTool]:
        for source in self._sources:
            try:
                yield from source()
            except Exception as error:  # noqa: BLE001 - a create() may raise any error
                _log.warning("A tool is no longer served: %s", error)

    def _sources_of(self, spec: Any) -> Iterable[Source]:
        if isinstance(spec, ToolDefinition):
            return [_followed(spec)]
        if isinstance(spec, str):
            return [_Name(spec, self._keep)]
        if isinstance(spec, Tool):
            return [_constant(self._keep(resolve_tool(spec)))]
        if isinstance(spec, type) and issubclass(spec, ToolDefinition):
            recipe: Any = spec.newest()
            return [_constant(self._keep(recipe.create(ConversationState())))]
        if isinstance(spec, Iterable):
            return [source for part in spec for source in self._sources_of(part)]
        if callable(spec):
            return [_asked(spec)]
        msg = f"serve() takes tools and names of tools, not {clip(spec)}."
        raise RegistrationError(msg)

    def _keep(self, tools: Iterable[AnyTool]) -> list[AnyTool]:
        tools = list(tools)
        self._owned += tools
        return tools


class _Name:
    """A `Source` that looks up a tool by its name in the notebook, or else in the registry."""

    def __init__(self, name: str, keep: Callable[[Iterable[AnyTool]], list[AnyTool]]) -> None:
        self._name, self._keep = name, keep
        self._recipe: Any = None
        self._tools: list[AnyTool] = []

    def __call__(self) -> list[AnyTool]:
        if default_registry.find_in_notebook is not None:
            return [default_registry.find_in_notebook(self._name)]
        recipe = default_registry.recipe(self._name)
        if isinstance(recipe, ToolDefinition):
            return [recipe.latest()]
        if recipe is not self._recipe:
            self._tools = self._keep(resolve_tool(self._name))
            self._recipe = recipe
        return self._tools


def _asked(function: Callable[[], Any]) -> Source:
    """Return a source that calls *function* at each look-up."""
    name = getattr(function, "__name__", None) or clip(function)
    try:
        signature(function).bind()
    except (TypeError, ValueError):
        msg = (
            f"{name} is a function that takes arguments, not a tool: make a tool from it with @tool, "
            "or serve a function without arguments that returns tools."
        )
        raise RegistrationError(msg) from None

    def tools() -> list[AnyTool]:
        returned = function()
        if isinstance(returned, ToolDefinition):
            several = [returned]
        else:
            several = returned
        if isinstance(several, Iterable):
            several = list(several)
            if all(isinstance(tool, ToolDefinition) for tool in several):
                return several
        msg = (
            f"{name} is a function that returns {clip(returned)}, not tools: make a tool of it "
            "with @tool, or have it return tools."
        )
        raise RegistrationError(msg)

    return tools


def _constant(tools: list[AnyTool]) -> Source:
    return lambda: [tool.latest() for tool in tools]


def _followed(tool: AnyTool) -> Source:
    """Return a function that returns the latest definition of *tool*.

    If *tool* is the tool that its name refers to in the notebook or the registry, the function
    looks up this name at each call.
    """
    if _named_as(tool.name) is not tool.latest():
        return lambda: [tool.latest()]
    return lambda: [_named_as(tool.name) or tool.latest()]


def _named_as(name: str) -> AnyTool | None:
    """Return the tool called *name* in the notebook or the registry; None if there is none."""
    # Raised if there is no such tool, or several
    with suppress(ToolbenchError):
        if default_registry.find_in_notebook is not None:
            return default_registry.find_in_notebook(name)
        recipe = default_registry.recipe(name)
        if isinstance(recipe, ToolDefinition):
            return recipe.latest()
        return None
    return None


def _is_served(tool: AnyTool) -> bool:
    return bool(tool.executor) and tool.is_for_models and tool.is_listed


def _described(tools: Mapping[str, AnyTool]) -> dict[str, dict[str, Any]]:
    return {name: sendable(_description(tool)) for name, tool in tools.items()}


def _description(tool: AnyTool) -> dict[str, Any]:
    entry: Mapping[str, Any] | None = getattr(tool, "entry", None)
    # The entry in the tool list of its own server
    if entry:
        described = {**entry, "name": tool.name}
    else:
        described = tool.to_mcp_tool()
        if tool.title != tool.name:
            described.setdefault("title", tool.title)
        schema = output_schema_of(tool)
        if schema is not None:
            described["outputSchema"] = schema
    # Results that are cut do not fit the schema
    if tool.max_result_tokens is not None:
        described.pop("outputSchema", None)
    return described


def _text(described: Mapping[str, Any]) -> bytes:
    return to_json(described, fallback=str)
