"""Find the tools of a notebook: made in its cells, served over MCP, or registered."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from inspect import isclass
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import warn

from toolbench.core.registry import Registered, ToolRegistry, default_registry
from toolbench.core.state import ConversationState
from toolbench.core.tool import ToolDefinition, after_reload
from toolbench.core.tool_advice import class_advice, has_create, remake_advice
from toolbench.core.tool_names import ToolAddress, kind_of, tool_at
from toolbench.errors import ToolNotFoundError, did_you_mean
from toolbench.llm.names import meant_by
from toolbench.mcp.servers import way_to_tool
from toolbench.runs.history import history
from toolbench.tools.tool_names import STEMS

if TYPE_CHECKING:
    from toolbench.mcp.client import MCPClient
    from toolbench.mcp.server_session import MCPServerSession

AnyTool = ToolDefinition[Any, Any]
_RUNTIME = {*STEMS, "execute_ipython_cell"}

# A full stop after two letters ends a sentence; one after a single letter, as in `e.g.`, does not.
_SENTENCE_END = re.compile(r"""(?<=[\w)`'"]{2}[.!?])\s+(?=[^\W\d_a-z]|[`'"])""")


class Entry(NamedTuple):
    """An entry of the catalog, which describes one tool. Call `make` to get the tool itself.

    A registered tool may not exist yet. In this case, the first call of `make` creates it.
    """

    name: str
    source: str
    """Where the tool is from: `notebook`, `registry`, or `mcp:` and the name of a server."""
    description: str
    kind: str
    """The kind of the tool: `function`, the name of its class, or `mcp:` and a server.

    Empty if it is not known.
    """
    make: Callable[[], AnyTool]
    is_made: bool = True
    """Whether the tool exists already; if not, the first call of `make` creates it."""

    @property
    def summary(self) -> str:
        """The first sentence of the description, or its first line if that is shorter."""
        line = self.description.strip().partition("\n")[0]
        return _SENTENCE_END.split(line, maxsplit=1)[0]


class _MadeTools(NamedTuple):
    tools: Sequence[AnyTool]
    recipe: Registered


class Catalog:
    """Finds all tools that a user can name in a notebook.

    It searches the variables of the notebook, then the connected servers, then the registry.
    """

    def __init__(
        self,
        namespace: Mapping[str, Any],
        client: "Callable[[], MCPClient | None]",
        registry: ToolRegistry = default_registry,
    ) -> None:
        """Make a catalog of the tools in *namespace*, on servers, and in *registry*.

        *namespace* has the variables of the notebook, by name. *client* is a function that returns
        the client of the servers, and is called at each search.
        """
        self._namespace = namespace
        self._client = client
        self._registry = registry
        self._tools_by_name: dict[str, _MadeTools] = {}

    def entries(self, pattern: str = "", source: str = "") -> list[Entry]:
        """Return an entry for each tool whose name and source match *pattern* and *source*.

        If *pattern* has a dot, it is also compared with addresses such as `server.tool`. If only
        the address of a tool matches, the name of its entry is the address.
        """
        has_name, has_source = matching(pattern), matching(source)
        entries: dict[str, Entry] = {}
        for entry in self._all():
            entries.setdefault(entry.name, entry)
        if "." in pattern:
            for address, tool in self._addresses().items():
                if not has_name(tool.name):
                    by_address = _entry(tool)._replace(name=str(address))
                    entries.setdefault(by_address.name, by_address)
        return [
            entry for entry in entries.values() if has_name(entry.name) and has_source(entry.source)
        ]

    def clashes(self, entries: Iterable[Entry]) -> list[str]:
        """Return a message for each of *entries* that hides another tool of the same name."""
        by_name: dict[str, list[Entry]] = {}
        for entry in self._all():
            by_name.setdefault(entry.name, []).append(entry)
        notes = []
        for entry in entries:
            namesakes = by_name.get(entry.name, ())
            others = (e for e in namesakes if e.kind not in ("", entry.kind))
            hidden = " or ".join(dict.fromkeys(map(_kind_words, others)))
            if hidden and entry.kind:
                own = _kind_words(entry)
                notes.append(f"{entry.name} is the tool {own}, not the one {hidden}.")
        return notes

    def advice(self, pattern: str = "", source: str = "") -> list[str]:
        """Return advice about each tool class that a cell defines, but from which no tool was made.

        Args:
            pattern: Only classes whose tool's name matches this pattern are included.
            source: The source that the user searches for. If it does not match `notebook`, the
                result is empty.
        """
        if not matching(source)("notebook"):
            return []
        matches = matching(pattern)
        advice = []
        for tool_class in self._classes():
            if has_create(tool_class) and matches(str(tool_class.name)):
                advice.append(class_advice(tool_class))
        return advice

    def outdated(self, entries: Iterable[Entry]) -> list[str]:
        """Return a message for each tool in *entries* that uses an old version of its class."""
        sentences = (remake_advice(entry.make()) for entry in entries if entry.is_made)
        return [sentence for sentence in sentences if sentence]

    def _classes(self) -> Iterator[type[AnyTool]]:
        return classes_without_tools(self._namespace, (entry.kind for entry in self._all()))

    def names(self, beginning: str = "") -> list[str]:
        """Return the names of all tools.

        If *beginning*, which the user has typed, has a dot, also return the tools' addresses.
        """
        names = [entry.name for entry in self.entries()]
        if "." not in beginning:
            return names
        return list(dict.fromkeys([*names, *map(str, self._addresses())]))

    def sources(self) -> list[str]:
        """Return all sources of tools, such as `notebook`, even those that have no tools now."""
        kinds = ("notebook", "registry", "mcp")
        return list(dict.fromkeys([*kinds, *(entry.source for entry in self._all())]))

    def tools(self, pattern: str = "", source: str = "") -> dict[str, AnyTool]:
        """Return the tools that match *pattern* and *source*, as in `entries`, by name.

        If *pattern* is the exact name of a tool, return only this tool. A tool that cannot be
        created is left out, with a warning.
        """
        tools: dict[str, AnyTool] = {}
        entries = self.entries(pattern, source)
        for entry in [e for e in entries if e.name == pattern] or entries:
            try:
                tools[entry.name] = entry.make()
            except Exception as error:  # noqa: BLE001 - a create() may raise anything; the others stay
                reason = f"{type(error).__name__}: {error}"
                warn(f"{entry.name} is left out: {reason}", stacklevel=3)
        return tools

    def find(self, name: str) -> AnyTool:
        """Return the tool that the user means by *name*.

        Args:
            name: The name of the tool, its address, an alias, or another spelling of its name.

        Raises:
            ToolNotFoundError: If there is no such tool; the message suggests a similar name.
        """
        tool = self._named(name) or tool_at(name, self._addresses().values())
        if tool is None:
            tool = self._named(meant_by(name, self.names()))
        if tool is None:
            msg = f"There is no tool called {name!r}.{self._way_to(name)}"
            raise ToolNotFoundError(msg)
        return tool

    def _named(self, name: str | None) -> AnyTool | None:
        for tool in self._made():
            if tool.name == name:
                return tool
        # Not its aliases: a spelling is looked for after the addresses
        if name is not None and name in iter(self._registry):
            return self._make(name)
        return None

    def _way_to(self, name: str) -> str:
        """Return advice to a user who wrote *name*, because there is no such tool."""
        for tool_class in self._classes():
            if name in (str(tool_class.name), tool_class.__name__):
                return f" {class_advice(tool_class)}"
        former: Mapping[str, MCPServerSession] = {}
        client = self._client()
        if client is not None:
            former = client.former
        if way := way_to_tool(former, name, self._addresses().values()):
            return way
        if name in _RUNTIME:
            return " It is a runtime tool: register_default_tools() of toolbench.tools adds these tools."
        if name == "history":
            return " The runs are in toolbench.history(); %tools history shows the last ones."
        near = did_you_mean(name, self.names(name))
        if earlier := _earlier_run(name):
            return f"{earlier}{near}"
        return near or (
            " After a restart of the kernel, run the cell that defines it again. %tools lists them all."
        )

    def close(self) -> None:
        """Close the tools that the catalog made from the registry."""
        for name in list(self._tools_by_name):
            self._forget(name)

    def _addresses(self) -> dict[ToolAddress, AnyTool]:
        """Return all tools of servers by address, even those whose name another tool has too."""
        in_variables = tools_in(list(self._namespace.items()))
        tools: Iterable[Any] = (*(self._client() or ()), *in_variables)
        addresses: dict[ToolAddress, AnyTool] = {}
        for tool in sorted(tools, key=lambda tool: tool.is_disconnected):
            address = ToolAddress.of(tool)
            if address.server:
                addresses.setdefault(address, tool)
        return addresses

    def _all(self) -> Iterator[Entry]:
        yield from map(_entry, self._made())
        yield from map(self._registered, self._registry)

    def _made(self) -> Iterator[AnyTool]:
        """Yield the newest tool of each name in the notebook, and the tools of the servers.

        The tool of a disconnected server is left out if another tool has its name.
        """
        tools, of_client = list(tools_in(list(self._namespace.items()))), self._client() or ()
        if any(tool.is_disconnected for tool in tools):
            names = set(self._registry)
            names |= {t.name for t in (*tools, *of_client) if not t.is_disconnected}
            tools = [t for t in tools if not (t.is_disconnected and t.name in names)]
        yield from _newest(tools)
        yield from of_client

    def _registered(self, name: str) -> Entry:
        recipe, make = self._registry.recipe(name), partial(self._make, name)
        if isinstance(recipe, ToolDefinition):
            return Entry(name, "registry", recipe.description, kind_of(recipe), make)
        kind = ""
        if isclass(recipe):
            kind = recipe.__name__
        description = getattr(recipe, "description", "") or recipe.__doc__ or ""
        return Entry(name, "registry", description, kind, make, is_made=False)

    def _make(self, name: str) -> AnyTool:
        """Return the registered tool *name*, which is created at the first call.

        Later calls return the same tool, so a terminal keeps its shell between two cells. A new
        tool is created only if *name* was registered again, or if a class of the tool was defined
        again.

        Raises:
            ToolNotFoundError: If nothing is created for *name*.
        """
        recipe = self._registry.recipe(name)
        if isinstance(recipe, ToolDefinition):
            return recipe.latest()
        entry = self._tools_by_name.get(name)
        if entry is None or entry.recipe is not recipe or entry.tools[0].is_stale:
            self._forget(name)
            entry = _MadeTools(self._registry.resolve(name, ConversationState()), recipe)
            if not entry.tools:
                msg = f"{name!r} creates no tools here."
                raise ToolNotFoundError(msg)
            self._tools_by_name[name] = entry
        return entry.tools[0]

    def _forget(self, name: str) -> None:
        if name in self._tools_by_name:
            for tool in self._tools_by_name.pop(name).tools:
                if tool.executor is not None:
                    tool.executor.close()


def _earlier_run(name: str) -> str:
    """Return advice if the tool *name* ran earlier but does not exist any more; else empty."""
    for record in reversed(history()):
        address = record.address or ToolAddress("", record.tool)
        if name in (record.tool, str(address), address.full_name):
            way = "run the cell that defines it"
            if address.server:
                way = f"connect its server {address.server!r}"
            return f" It ran before (run {record.id}), and is gone: {way} again."
    return ""


def _entry(tool: AnyTool) -> Entry:
    source = tool.source
    if source == ToolDefinition.source:
        source = "notebook"
    return Entry(tool.name, source, tool.description, kind_of(tool), lambda: tool)


def _kind_words(entry: Entry) -> str:
    """Describe where the tool of *entry* comes from, as in `of a function (notebook)`."""
    if entry.source.startswith("mcp:"):
        address = ToolAddress.of(entry.make())
        return f"of the server {address.server!r} ({address})"
    what = f"of the class {entry.kind}"
    if entry.kind == "function":
        what = "of a function"
    return f"{what} ({entry.source})"


def tools_in(variables: Sequence[tuple[str, Any]]) -> Iterator[AnyTool]:
    """Yield the tools in *variables*, starting with the last variable.

    Tools inside a list or a client are included. If a tool's module was reloaded, or its server was
    restarted, its newest version is yielded.
    """
    for name, value in reversed(variables):
        if name.startswith("_"):
            # IPython's own: _, __, _12
            continue
        if isinstance(value, ToolDefinition):
            yield _newest_of(value)
        elif _holds_tools(value):
            tools = (item for item in value if isinstance(item, ToolDefinition))
            yield from map(_newest_of, tools)


def _newest_of(tool: AnyTool) -> AnyTool:
    return after_reload(tool).as_listed()


def _newest(tools: Iterable[AnyTool]) -> Iterable[AnyTool]:
    """Return the newest tool of each name, in the order in which the names first occur."""
    newest: dict[str, AnyTool] = {}
    for tool in tools:
        known = newest.get(tool.name)
        if known is None or known._number < tool._number:
            newest[tool.name] = tool
    return newest.values()


def _holds_tools(value: Any) -> bool:
    """Tell whether *value* is a client or a list that begins with a tool."""
    if isinstance(value, list | tuple):
        return bool(value) and isinstance(value[0], ToolDefinition)
    return type(value).__name__ == "MCPClient"


def matching(pattern: str) -> Callable[[str], bool]:
    """Return a function that tells whether a string matches *pattern*.

    A *pattern* with `*`, `?` or `[` must match the whole string. Any other *pattern* matches a
    string that contains it, and ignores case.
    """
    if any(c in pattern for c in "*?["):
        return lambda text: fnmatchcase(text, pattern)
    part = pattern.lower()
    return lambda text: part in text.lower()


def classes_without_tools(
    variables: Mapping[str, Any], kinds: Iterable[str]
) -> Iterator[type[ToolDefinition[Any, Any]]]:
    """Yield the tool classes that a cell defines, but from which no tool was made.

    Args:
        variables: The variables of the notebook, by name.
        kinds: The names of the classes of all existing tools.
    """
    known = set(kinds)
    for variable, value in list(variables.items()):
        if not isclass(value) or not issubclass(value, ToolDefinition):
            continue
        is_own = value.__module__ == "__main__" and variable == value.__name__
        if is_own and value.__name__ not in known:
            yield value
