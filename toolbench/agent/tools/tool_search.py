"""The tool that searches tools; it is offered when there are too many tools.

Source: the layered tool sets of Manus, as described in OpenHands' notes on function calling.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from pydantic import Field

from toolbench.core.declarations import ToolAnnotations
from toolbench.core.executor import ToolExecutor
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.wording import counted, words_of

# Characters of a description
_MAX_DESCRIPTION = 300


class SearchToolsAction(Action):
    """A task to find tools for."""

    query: str = Field(
        description="Words for the task of the tool, or from its name, such as `read file`."
    )
    limit: int = Field(default=5, ge=1, le=20, description="How many tools to return at most.")


class SearchToolsObservation(Observation):
    """The tools that fit best."""

    names: list[str] = Field(
        default=[], description="Their names, the best first; they can be called now."
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
        """Return the tools that have the most words of the query; a word in a name counts three times."""
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
    """The tool that finds other tools, which the model can then call."""

    @classmethod
    def create(
        cls,
        conv_state: Any = None,
        *,
        tools: Sequence[ToolDefinition[Any, Any]] = (),
        on_match: Callable[[Iterable[str]], object] = lambda names: None,
    ) -> Sequence[Self]:
        """Return the tool.

        Args:
            conv_state: Not used.
            tools: The tools to search.
            on_match: Called with the names of the matches.
        """
        return [
            cls(
                description=(
                    f"Finds tools among {len(tools)}. You see only a few of them: before you "
                    "say that something cannot be done, search for a tool that does it. What is "
                    "found can be called from the next message on."
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
