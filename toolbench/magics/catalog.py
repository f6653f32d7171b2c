"""Every tool a notebook knows: made in its cells, served over MCP, or registered."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import warn

from toolbench.core.registry import Registered, ToolRegistry, default_registry
from toolbench.core.state import ConversationState
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ToolNotFoundError, did_you_mean
from toolbench.llm.calls.tool_lookup import meant_by
from toolbench.tools.tool_names import STEMS

if TYPE_CHECKING:
    from toolbench.mcp.client import MCPClient

AnyTool = ToolDefinition[Any, Any]
_RUNTIME = {*STEMS, "execute_ipython_cell"}

# Two letters before the stop: neither `e.g.` nor an initial ends a sentence.
_SENTENCE_END = re.compile(r"""(?<=[\w)`'"]{2}[.!?])\s+(?=[^\W\d_a-z]|[`'"])""")


@dataclass(frozen=True)
class Entry:
    """A tool by name; one that is only registered is made when first asked for."""

    name: str
    source: str
    """`notebook`, `registry`, or `mcp:` and the name of a server."""
    description: str
    make: Callable[[], AnyTool]

    @property
    def summary(self) -> str:
        """The first sentence of the description, of its first line at most."""
        line = self.description.strip().partition("\n")[0]
        return _SENTENCE_END.split(line, maxsplit=1)[0]


class _MadeTools(NamedTuple):
    tools: Sequence[AnyTool]
    recipe: Registered


class Catalog:
    """Looks in the user's namespace, then at the connected servers, then in the registry."""

    def __init__(
        self,
        namespace: Mapping[str, Any],
        client: "Callable[[], MCPClient | None]",
        registry: ToolRegistry = default_registry,
    ) -> None:
        """Look for tools in these three places; *client* is asked each time."""
        self._namespace = namespace
        self._client = client
        self._registry = registry
        self._tools_by_name: dict[str, _MadeTools] = {}

    def entries(self, pattern: str = "", source: str = "") -> list[Entry]:
        """Return the tools whose name or source contains, or matches, what is given."""
        entries: dict[str, Entry] = {}
        for entry in self._all():
            entries.setdefault(entry.name, entry)
        return [
            entry
            for entry in entries.values()
            if matches(entry.name, pattern) and matches(entry.source, source)
        ]

    def names(self) -> list[str]:
        """Return the names of all tools."""
        return [entry.name for entry in self.entries()]

    def sources(self) -> list[str]:
        """Return where tools can be from, those with no tools too."""
        kinds = ("notebook", "registry", "mcp")
        return list(dict.fromkeys([*kinds, *(entry.source for entry in self._all())]))

    def tools(self, pattern: str = "", source: str = "") -> dict[str, AnyTool]:
        """Return the tools of `entries`; one that cannot be made is left out, with a warning.

        Where *pattern* is the name of one of them, it means that one alone.
        """
        tools: dict[str, AnyTool] = {}
        entries = self.entries(pattern, source)
        for entry in [e for e in entries if e.name == pattern] or entries:
            try:
                tools[entry.name] = entry.make()
            except Exception as error:  # noqa: BLE001 - a create() may do anything; it hides no others
                reason = f"{type(error).__name__}: {error}"
                warn(f"{entry.name} is left out: {reason}", stacklevel=3)
        return tools

    def find(self, name: str) -> AnyTool:
        """Return the tool called *name*; an older name of a runtime tool will do.

        Raises:
            ToolNotFoundError: If there is none; names the nearest.
        """
        entry = (
            self._entry(name)
            or self._by_full_name(name)
            or self._entry(meant_by(name, self.names()))
        )
        if entry is not None:
            return entry.make()
        msg = f"There is no tool called {name!r}.{_way_to(name, self.names())}"
        raise ToolNotFoundError(msg)

    def close(self) -> None:
        """Close the tools that were made here from the registry."""
        for name in list(self._tools_by_name):
            self._forget(name)

    def _by_full_name(self, name: str) -> Entry | None:
        """The tool of a server by `server_tool`, which it has whatever the others are called."""
        for tool in self._client() or ():
            if name == f"{tool.server}_{tool.remote_name}":
                return _entry(tool, tool.source)
        return None

    def _entry(self, name: str | None) -> Entry | None:
        return next((entry for entry in self._all() if entry.name == name), None)

    def _all(self) -> Iterator[Entry]:
        for tool in _newest(_tools_in(list(self._namespace.items()))):
            source = "notebook" if tool.source == "native" else tool.source
            yield _entry(tool, source)
        client = self._client()
        for tool in client or ():
            yield _entry(tool, tool.source)
        for name in self._registry:
            yield Entry(
                name, "registry", self._describe(name), partial(self._make, name)
            )

    def _describe(self, name: str) -> str:
        recipe = self._registry.recipe(name)
        if isinstance(recipe, ToolDefinition):
            return recipe.description
        return getattr(recipe, "description", "") or recipe.__doc__ or ""

    def _make(self, name: str) -> AnyTool:
        """Make a registered tool once: a terminal keeps its shell between two cells."""
        recipe = self._registry.recipe(name)
        if isinstance(recipe, ToolDefinition):
            return recipe.latest()
        entry = self._tools_by_name.get(name)
        if entry is None or entry.recipe is not recipe or entry.tools[0].is_stale:
            self._forget(name)
            entry = _MadeTools(
                self._registry.resolve(name, ConversationState()), recipe
            )
            if not entry.tools:
                msg = f"{name!r} makes no tools here."
                raise ToolNotFoundError(msg)
            self._tools_by_name[name] = entry
        return entry.tools[0]

    def _forget(self, name: str) -> None:
        entry = self._tools_by_name.pop(name, None)
        for tool in entry.tools if entry else ():
            if tool.executor is not None:
                tool.executor.close()


def _way_to(name: str, known: list[str]) -> str:
    """What to do about a tool *name* that is not among the *known*."""
    shared = [repr(other) for other in known if other.endswith(f"_{name}")]
    if len(shared) > 1:  # servers with a tool of one name
        return f" There are {' and '.join(shared)}."
    if name in _RUNTIME:
        return (
            " It is a runtime tool: register_default_tools() of toolbench.tools brings "
            "those."
        )
    return did_you_mean(name, known) or " %tools lists them all."


def _entry(tool: AnyTool, source: str) -> Entry:
    return Entry(tool.name, source, tool.description, lambda: tool)


def _tools_in(variables: Sequence[tuple[str, Any]]) -> Iterator[AnyTool]:
    """The tools that variables hold, themselves or in a list; those of new variables first."""
    for name, value in reversed(variables):
        if name.startswith("_"):
            continue  # IPython's own: _, __, _12
        if isinstance(value, ToolDefinition):
            yield value
        elif _holds_tools(value):
            yield from (item for item in value if isinstance(item, ToolDefinition))


def _newest(tools: Iterable[AnyTool]) -> Iterable[AnyTool]:
    """Of each name the tool made last: a variable that is assigned anew keeps its place."""
    newest: dict[str, AnyTool] = {}
    for tool in tools:
        known = newest.get(tool.name)
        if known is None or known._number < tool._number:
            newest[tool.name] = tool
    return newest.values()


def _holds_tools(value: Any) -> bool:
    """Whether *value* is a list of tools, or a client with some; a long list is not searched."""
    if isinstance(value, list | tuple):
        return bool(value) and isinstance(value[0], ToolDefinition)
    return type(value).__name__ == "MCPClient"


def matches(text: str, pattern: str) -> bool:
    """Whether *text* contains *pattern*; where that has `*`, `?` or `[`, whether it matches."""
    if any(c in pattern for c in "*?["):
        return fnmatchcase(text, pattern)
    return pattern.lower() in text.lower()
