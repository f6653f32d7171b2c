"""The tools of one server. The list also knows the disabled tools, and the last change."""

from collections.abc import Callable, Mapping
from typing import Any, overload

from toolbench.errors import ToolNotFoundError, did_you_mean
from toolbench.mcp.connection.connection import Connection
from toolbench.mcp.connection.freshness import LEAST, Freshness
from toolbench.mcp.definition import MCPToolDefinition
from toolbench.mcp.executor import Caller, MCPToolExecutor
from toolbench.mcp.features.item_list import ItemList
from toolbench.mcp.features.listing import (
    DisabledTool,
    ListedTool,
    ToolsDiff,
    read_tools,
)
from toolbench.mcp.results import MCPToolObservation
from toolbench.redaction.detection.secrecy import Secrecy

# Seconds until a failed request for the list is repeated
_AGAIN = 30.0


class ToolList(ItemList[MCPToolDefinition]):
    """The tools of one server, in the server's order: `tools[0]`, `tools["add"]`."""

    def __init__(self, caller: Caller) -> None:
        """Make an empty list. *caller* sends the calls of the tools."""
        self._caller = caller
        self._rows: list[ListedTool] = []
        self._tools: list[MCPToolDefinition] | None = None
        self._described: dict[str, Mapping[str, Any]] = {}
        self._secrecy: dict[str, Secrecy] = {}
        self.disabled: list[DisabledTool] = []
        """The listed tools that cannot be called, each with its reason."""
        self.problem: str | None = None
        """The problem of the last listing; None if there was none."""
        self.last_change: ToolsDiff | None = None
        """The last change of the tools; None before the first change."""
        self.on_added: Callable[[tuple[str, ...]], object] = lambda names: None
        """A function for the background loop: called with the names of tools that a later list adds."""
        self.on_stale: Callable[[], object] = lambda: None
        """A function for any thread: called at a use of the list after its `ttlMs`; it must not wait."""
        self._was_listed = False
        self._freshness = Freshness()

    @overload
    def __getitem__(self, index: int | str) -> MCPToolDefinition: ...
    @overload
    def __getitem__(self, index: slice) -> list[MCPToolDefinition]: ...
    def __getitem__(self, index: int | str | slice) -> MCPToolDefinition | list[MCPToolDefinition]:
        """Return a tool by its position, or by its name on the server.

        Raises:
            ToolNotFoundError: If no tool has this name, or it is disabled.
        """
        return self._named(index) if isinstance(index, str) else self.items()[index]

    def __len__(self) -> int:
        return len(self._rows)

    def items(self) -> list[MCPToolDefinition]:
        """Return the tools of the last listing; the objects are made at the first use.

        If the server's `ttlMs` is over, the list is requested again in the background.
        """
        if self._freshness.is_over:
            # The next list has a time of its own
            self._freshness = Freshness(_AGAIN)
            self.on_stale()
        return self.known_items

    @property
    def known_items(self) -> list[MCPToolDefinition]:
        """The tools of the last listing."""
        if self._tools is None:
            self._tools = [self._definition(tool) for tool in self._rows]
        return list(self._tools)

    @property
    def raw(self) -> dict[str, dict[str, Any]]:
        """The server's descriptions of the tools that can be called, by name."""
        return {tool.name: dict(tool.raw) for tool in self._rows}

    def described(self, name: str) -> Mapping[str, Any]:
        """Return the server's description of the tool *name*; empty if the tool is not listed."""
        return self._described.get(name, {})

    async def list_anew(self, connection: Connection, seconds: float) -> None:
        """Request the list over *connection*, within *seconds*.

        If no list arrives, the tools stay as they are.
        """
        items, self.problem, lifetime = await connection.pages(
            "tools",
            lambda session, params: session.list_tools(params=params),
            seconds,
        )
        if self.problem is not None and not items:
            return
        self._freshness = Freshness(lifetime and max(lifetime, LEAST))
        good, self.disabled = read_tools(items, is_modern=connection.is_modern)
        change, is_first = ToolsDiff.between(self._rows, good), not self._was_listed
        self._rows, self._tools, self._was_listed = good, None, True
        self._described = {tool.name: tool.raw for tool in reversed(good)}
        self._secrecy = {}
        if change and not is_first:
            self.last_change = change
            if change.added:
                self.on_added(change.added)

    def secrets_in(self, name: str, arguments: Mapping[str, Any]) -> list[str]:
        """Return the secrets in *arguments* of the tool that the server calls *name*."""
        return self._secrecy_of(name).secrets_in(arguments)

    def hide(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Return *arguments* of the tool *name* with each secret replaced by a mark."""
        return self._secrecy_of(name).hide(arguments)[0]

    def _secrecy_of(self, name: str) -> Secrecy:
        if name not in self._secrecy:
            schemas = (tool.schema for tool in self._rows if tool.name == name)
            self._secrecy[name] = Secrecy(next(schemas, {}))
        return self._secrecy[name]

    def _named(self, name: str) -> MCPToolDefinition:
        tools = {tool.remote_name: tool for tool in self.items()}
        if name in tools:
            return tools[name]
        server = self._caller.name
        msg = f"Server {server!r} has no tool {name!r}.{did_you_mean(name, tools)}"
        for disabled in self.disabled:
            if disabled.name == name:
                msg = f"Tool {name!r} of {server!r} cannot be called: {disabled.reason}."
        raise ToolNotFoundError(msg)

    def _definition(self, tool: ListedTool) -> MCPToolDefinition:
        return MCPToolDefinition(
            name=tool.name,
            description=tool.description,
            observation_type=MCPToolObservation,
            annotations=tool.annotations,
            meta=tool.meta,
            server=self._caller.name,
            remote_name=tool.name,
            schema=tool.schema,
            output_schema=tool.output_schema,
            icons=tool.icons,
            entry=tool.raw,
            notes=tool.notes,
            server_version=str(self._caller.server_info.get("version") or ""),
            executor=MCPToolExecutor(self._caller, tool.name, tool.output_schema),
        )
