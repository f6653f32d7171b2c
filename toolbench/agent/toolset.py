"""The tools of one conversation: how they are made, offered to its model, and closed.

If there are too many tools, the model gets a tool that searches them. Source of the search: the
layered tool sets of Manus, as described in OpenHands' notes on function calling.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import isfunction, signature
from typing import Any, Self

from pydantic import Field

from toolbench.core.builtins import FinishTool, ThinkTool
from toolbench.core.declarations import ToolAnnotations
from toolbench.core.executor import ToolExecutor
from toolbench.core.functions import tool as tool_of
from toolbench.core.registry import find_tools
from toolbench.core.schema import Action, Observation
from toolbench.core.spec import Tool
from toolbench.core.state import ConversationState
from toolbench.core.tool import ToolDefinition
from toolbench.errors import RegistrationError
from toolbench.jsonschema.types import Json
from toolbench.llm.formats import to_format
from toolbench.llm.message import Provider
from toolbench.values import clip, copied
from toolbench.wording import counted, words_of

AnyTool = ToolDefinition[Any, Any]

CROWD = 100
"""The most tools that a model is offered. If there are more, it gets a tool that searches them."""
# Characters of a description that the search tool shows
_MAX_DESCRIPTION = 300


def is_one_tool(value: Any) -> bool:
    """Tell whether *value* stands for one tool, rather than a list of tools."""
    is_spec = isinstance(value, ToolDefinition | Tool | str | type)
    return is_spec or isfunction(value) or hasattr(value, "as_tool")


class ToolMaking:
    """Makes tools from everything that `Agent` accepts as tools."""

    def __init__(self, state: ConversationState, parts: Mapping[str, Any]) -> None:
        """Make tools for *state*; functions in *parts* return some arguments of `create`."""
        self._state, self._parts = state, parts
        self._owned: list[AnyTool] = []

    def tools_of(self, spec: Any) -> list[AnyTool]:
        """Return the tools that *spec* describes.

        Args:
            spec: A tool, a class of tools, a `Tool`, the name of a tool, a function, an agent, or
                a list of these.

        Raises:
            RegistrationError: If *spec* is not a tool.
            ToolNotFoundError: If there is no tool of the given name.
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
        """Close the tools that this object made, but not tools that it was given."""
        owned, self._owned = self._owned, []
        for tool in owned:
            getattr(tool.executor, "close", lambda: None)()


# --- the tool that searches ---------------------------------------------------------


class SearchToolsAction(Action):
    """A task to find tools for."""

    query: str = Field(
        description="Words that describe the task or are in the tool's name, such as `read file`."
    )
    limit: int = Field(default=5, ge=1, le=20, description="The maximum number of tools to return.")


class SearchToolsObservation(Observation):
    """The tools that fit best."""

    names: list[str] = Field(
        default=[], description="Their names, best match first; you can call them now."
    )


class SearchToolsExecutor(ToolExecutor[SearchToolsAction, SearchToolsObservation]):
    """Searches the names, titles and descriptions of tools."""

    def __init__(
        self,
        tools: Sequence[ToolDefinition[Any, Any]],
        on_match: Callable[[Iterable[str]], object],
    ) -> None:
        """Search *tools*, and call *on_match* with the names of the matches."""
        self._tools = tools
        self._on_match = on_match

    def __call__(
        self, action: SearchToolsAction, conversation: Any = None
    ) -> SearchToolsObservation:
        """Return the tools that match most words of the query; words in names count three times."""
        query_words = set(words_of(action.query.replace(" ", "_")))
        matches: list[tuple[int, ToolDefinition[Any, Any]]] = []
        for tool in self._tools:
            if tool.is_listed:
                listed = tool.as_listed()
                score = _score(listed, query_words)
                if score > 0:
                    matches.append((score, listed))
        matches.sort(key=lambda match: -match[0])
        best = [tool for _, tool in matches[: action.limit]]
        names = [tool.name for tool in best]
        self._on_match(names)
        if not names:
            return SearchToolsObservation.from_text(
                f"None of {counted(len(self._tools), 'tool')} has to do with "
                f"{action.query!r}. Search with other words."
            )
        text = "You can call these tools now:"
        for tool in best:
            text += f"\n- {tool.name}: {_brief(tool)}"
        return SearchToolsObservation.from_text(text, names=names)


def _score(tool: ToolDefinition[Any, Any], query_words: set[str]) -> int:
    in_name = query_words & {
        *words_of(tool.name),
        *words_of(tool.title.replace(" ", "_")),
    }
    in_text = query_words & {*words_of(tool.description.replace(" ", "_"))}
    return 3 * len(in_name) + len(in_text)


def _brief(tool: ToolDefinition[Any, Any]) -> str:
    text = " ".join(tool.description.split())
    if len(text) > _MAX_DESCRIPTION:
        return f"{text[: _MAX_DESCRIPTION - 1]}…"
    return text


class SearchToolsTool(ToolDefinition[SearchToolsAction, SearchToolsObservation]):
    """A tool with which the model searches for other tools. The model can then call those it found.

    Examples:
        >>> from toolbench.agent.tools import SearchToolsTool
        >>> from toolbench.tools import GlobTool, GrepTool
        >>> tools = [*GlobTool.create(), *GrepTool.create()]
        >>> [search] = SearchToolsTool.create(tools=tools, on_match=print)
        >>> result = search(query="a line that matches an expression")
        ['grep', 'glob']
    """

    @classmethod
    def create(
        cls,
        conv_state: Any = None,
        *,
        tools: Sequence[ToolDefinition[Any, Any]] = (),
        on_match: Callable[[Iterable[str]], object] = lambda names: None,
    ) -> Sequence[Self]:
        """Return the tool in a list.

        Args:
            conv_state: Not used.
            tools: The tools to search.
            on_match: Called with the names of the matches.
        """
        return [
            cls(
                description=(
                    f"Searches {len(tools)} tools, of which you see only a few. Before you say "
                    "that something cannot be done, search for a tool that does it. You can call "
                    "the tools that are found from your next message on."
                ),
                action_type=SearchToolsAction,
                observation_type=SearchToolsObservation,
                annotations=ToolAnnotations(
                    title="Search tools",
                    readOnlyHint=True,
                    idempotentHint=True,
                    openWorldHint=False,
                ),
                executor=SearchToolsExecutor(tools, on_match),
            )
        ]


# --- the tools of a conversation ----------------------------------------------------


class Toolset:
    """The tools of a conversation, by name."""

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
            parts: Functions that return the values for some parameters of `create`, by parameter
                name.
            skips: Returns True for a tool to leave out.
            mcp_config: MCP servers whose tools are added.

        Raises:
            RegistrationError: If something is not a tool, or two tools have the same name.
        """
        self._making = ToolMaking(state, parts)
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
            if len(self._tools) > CROWD:
                [self._search] = SearchToolsTool.create(
                    state, tools=[*self._tools.values()], on_match=self.reveal
                )
                self._add(self._search)
        except BaseException:
            # Even after an interrupt, no server may stay open
            self.close()
            raise

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
        """All tools by name, in their latest definitions, without tools that a server removed."""
        return {name: tool.latest() for name, tool in self._tools.items() if tool.is_listed}

    def offered(self, provider: Provider, *, security_risk: bool = False) -> list[Json]:
        """Return the tools that the model may call now, in the format of *provider*.

        Args:
            provider: The provider of the model.
            security_risk: Whether the model must rate the risk of its calls. If so, each tool
                that is not read-only gets an argument `security_risk` for the rating.
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
            exported = to_format(tool, provider, security_risk=security_risk)
            known = self._formatted[key] = (tool, exported)
        # A model may change what it gets
        own: Json = copied(known[1])
        return own

    def reveal(self, names: Iterable[str]) -> None:
        """Offer the tools *names* to the model from now on, as if a search had found them."""
        self._matches.update(names)

    def close(self) -> None:
        """Close the tools that were made for the conversation, but not tools that it was given."""
        self._making.close()
        client, self._client = self._client, None
        if client is not None:
            client.sync_close()
