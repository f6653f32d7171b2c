"""The tools of one conversation: made for it, offered to its model, closed at its end."""

from collections.abc import Callable, Iterable, Mapping
from inspect import isfunction, signature
from typing import Any

from toolbench.agent.tools.tool_search import SearchToolsTool
from toolbench.core.builtins import FinishTool, ThinkTool
from toolbench.core.functions import tool as tool_of
from toolbench.core.registry import find_tools
from toolbench.core.spec import Tool
from toolbench.core.state import ConversationState
from toolbench.core.tool import ToolDefinition
from toolbench.errors import RegistrationError
from toolbench.jsonschema.types import Json
from toolbench.llm.formats import FORMATS
from toolbench.llm.providers import Provider
from toolbench.values import clip, copied

AnyTool = ToolDefinition[Any, Any]

CROWD = 100
"""The most tools that are offered to a model. If there are more, the model gets a search tool."""


def is_one_tool(value: Any) -> bool:
    """Tell whether *value* stands for one tool, not for a list of tools."""
    is_spec = isinstance(value, ToolDefinition | Tool | str | type)
    return is_spec or isfunction(value) or hasattr(value, "as_tool")


class ToolMaking:
    """Makes tools from everything that `Agent` accepts as tools."""

    def __init__(self, state: ConversationState, parts: Mapping[str, Any]) -> None:
        """Make tools for *state*; *parts* has functions for the values of some parameters of `create`."""
        self._state, self._parts = state, parts
        self._owned: list[AnyTool] = []

    def tools_of(self, spec: Any) -> list[AnyTool]:
        """Return the tools of *spec*: a tool, a class, a `Tool`, a name, a function, or a list of these.

        Raises:
            RegistrationError: If *spec* is not a tool.
            ToolNotFoundError: If there is no tool of the name.
        """
        if isinstance(spec, ToolDefinition):
            return [spec]
        if isinstance(spec, type) and issubclass(spec, ToolDefinition):
            return self._keep(self._created(spec.newest()))
        if isinstance(spec, str | Tool):
            tools, are_new = find_tools(spec, self._state)
            if are_new:
                self._keep(tools)
            return tools
        if hasattr(spec, "as_tool"):
            return [spec.as_tool()]
        if isfunction(spec):
            return [tool_of(spec)]
        if isinstance(spec, Iterable):
            return [tool for part in spec for tool in self.tools_of(part)]
        msg = (
            f"An agent takes tools, classes of tools, Tool(...), names of tools and "
            f"functions, not {clip(spec)}."
        )
        raise RegistrationError(msg)

    def _created(self, recipe: Any) -> list[AnyTool]:
        create: Callable[..., Iterable[AnyTool]] = recipe.create
        names = signature(create).parameters
        arguments = {n: value() for n, value in self._parts.items() if n in names}
        return list(create(self._state, **arguments))

    def _keep(self, tools: list[AnyTool]) -> list[AnyTool]:
        self._owned += tools
        return tools

    def close(self) -> None:
        """Close the tools that this object made; other tools belong to the caller."""
        owned, self._owned = self._owned, []
        for tool in owned:
            getattr(tool.executor, "close", lambda: None)()


class Toolset:
    """The tools of a conversation by name."""

    def __init__(
        self,
        specs: Iterable[Any],
        state: ConversationState,
        *,
        parts: Mapping[str, Any],
        skips: Callable[[AnyTool], bool] = lambda tool: False,
        mcp_config: Any = None,
    ) -> None:
        """Make the tools of *specs*; tools that are not for models are left out.

        Args:
            specs: Tools, classes of tools, `Tool` specs, names, functions, or lists of these.
            state: The state of the conversation for which the tools are made.
            parts: For some parameters of `create`, by name: a function that returns the value.
            skips: Returns True for a tool to leave out.
            mcp_config: MCP servers whose tools are added.

        Raises:
            RegistrationError: If something is not a tool, or two tools have the same name.
        """
        self._making, self._state = ToolMaking(state, parts), state
        self._tools: dict[str, AnyTool] = {}
        self._matches: set[str] = set()
        self._search: AnyTool | None = None
        self._formatted: dict[tuple[str, bool], tuple[AnyTool, Json]] = {}
        self._client: Any = None
        try:
            if mcp_config is not None:
                from toolbench.mcp import (  # noqa: PLC0415 - fastmcp, only for servers
                    create_mcp_tools,
                )

                self._client = create_mcp_tools(mcp_config)
                specs = [*specs, self._client]
            for spec in specs:
                for tool in self._making.tools_of(spec):
                    if tool.is_for_models and not skips(tool):
                        self._add(tool)
            self._search = self._search_of([*self._tools.values()])
        except BaseException:
            # Even after an interrupt, no server may stay open
            self.close()
            raise

    def _search_of(self, tools: list[AnyTool]) -> AnyTool | None:
        if len(tools) <= CROWD:
            return None
        on_match = self._matches.update
        [search] = SearchToolsTool.create(self._state, tools=tools, on_match=on_match)
        if search.name in self._tools:
            msg = (
                f"There are more than {CROWD} tools, so the agent adds a tool called {search.name!r} "
                "to search them. One of your tools has that name: rename it."
            )
            raise RegistrationError(msg)
        return search

    def _add(self, tool: AnyTool) -> None:
        other = self._tools.get(tool.name)
        if other is not None and other is not tool:
            msg = (
                f"Two tools are called {tool.name!r}: a model cannot distinguish them. Leave "
                "one out, or rename one."
            )
            raise RegistrationError(msg)
        self._tools[tool.name] = tool

    @property
    def tools(self) -> dict[str, AnyTool]:
        """All tools by name, in their latest definitions, without those that left their servers."""
        current = {name: tool.latest() for name, tool in self._tools.items() if tool.is_listed}
        if self._search is None:
            return current
        return {self._search.name: self._search} | current

    def offered(self, provider: Provider, *, security_risk: bool = False) -> list[Json]:
        """Return the offered tools in the format of *provider*.

        Args:
            provider: The provider of the model.
            security_risk: Whether the model must rate each of its calls.
        """
        return [
            self._format(tool, provider, security_risk=security_risk)
            for tool in self.tools.values()
            if self._is_offered(tool)
        ]

    def _is_offered(self, tool: AnyTool) -> bool:
        if self._search is None or tool is self._search or tool.name in self._matches:
            return True
        return isinstance(tool, FinishTool | ThinkTool)

    def _format(self, tool: AnyTool, provider: Provider, *, security_risk: bool) -> Json:
        key = (tool.name, security_risk)
        known = self._formatted.get(key)
        if known is None or known[0] is not tool:
            exported = FORMATS[provider](tool, security_risk=security_risk)
            known = self._formatted[key] = (tool, exported)
        # A model may change what it gets
        own: Json = copied(known[1])
        return own

    def reveal(self, names: Iterable[str]) -> None:
        """Offer the tools *names* to the model from now on, as if a search had found them."""
        self._matches.update(names)

    def close(self) -> None:
        """Close the tools that were made for the conversation; other tools belong to the caller."""
        self._making.close()
        client, self._client = self._client, None
        if client is not None:
            client.sync_close()
