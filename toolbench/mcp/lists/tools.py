"""The list of a server's tools, with the tools that are disabled and the latest changes.

If the description of a tool is invalid, the other tools are still listed.
"""

from collections.abc import Mapping
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, overload

from toolbench.errors import ToolNotFoundError, did_you_mean
from toolbench.mcp.connection.connection import Connection
from toolbench.mcp.lists.listing import DisabledTool, ListedTool, ToolsDiff, read_tools
from toolbench.mcp.lists.remote_list import ItemList, stale_from
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.tool import MCPToolDefinition, MCPToolExecutor
from toolbench.redaction.detect import Secrecy
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession
    from toolbench.mcp.tool_groups import ToolGroup

# Seconds until a failed request for the list is repeated
_AGAIN = 30.0


class ToolList(ItemList[MCPToolDefinition]):
    """The tools of one server, in the server's order: `tools[0]`, `tools["add"]`."""

    def __init__(self, session: "MCPServerSession") -> None:
        """Create an empty list; *session* sends the calls of the tools."""
        self._session = session
        # Always replaced as a whole, so that no thread sees a half-changed list
        self._tools: Mapping[str, MCPToolDefinition] = {}
        # As they were read: those that the server describes the same again are not read again
        self._listed: Mapping[str, ListedTool] = {}
        self._secrecy: dict[str, Secrecy] = {}
        self.disabled: list[DisabledTool] = []
        """The listed tools that cannot be called, each with its reason."""
        self.problem: str | None = None
        """The problem with the last listing; None if there was none."""
        self.last_change: ToolsDiff | None = None
        """The last change of the list; None before the first change."""
        self._was_listed = False
        self._stale_from = inf

    @overload
    def __getitem__(self, index: int | str) -> MCPToolDefinition: ...
    @overload
    def __getitem__(self, index: slice) -> list[MCPToolDefinition]: ...
    def __getitem__(self, index: int | str | slice) -> MCPToolDefinition | list[MCPToolDefinition]:
        """Return a tool by its position, or by its name on the server.

        Raises:
            ToolNotFoundError: If no tool has this name, or it is disabled.
        """
        if isinstance(index, str):
            return self._named(index)
        return self.items()[index]

    def __len__(self) -> int:
        return len(self._tools)

    def items(self) -> list[MCPToolDefinition]:
        """Return the tools as last listed.

        If the server's `ttlMs` is over, the list is requested again in the background.
        """
        self._look_at_time()
        return self.known_items

    @property
    def is_loaded(self) -> bool:
        """Whether the server has listed its tools at least once."""
        return self._was_listed

    @property
    def count_words(self) -> str:
        """The number of tools in words, or `tools not loaded yet`."""
        if not self.is_loaded:
            return "tools not loaded yet"
        return counted(len(self), "tool")

    @property
    def groups(self) -> "dict[str, ToolGroup]":
        """The tools grouped by the beginning of their names; keys are patterns like `issues_*`."""
        from toolbench.mcp.tool_groups import groups_of  # noqa: PLC0415 - only large servers need them

        return {group.name: group for group in groups_of(self)}

    def _look_at_time(self) -> None:
        if monotonic() >= self._stale_from:
            # The next list brings its own lifetime
            self._stale_from = stale_from(_AGAIN)
            self._session.renew_tools()

    @property
    def known_items(self) -> list[MCPToolDefinition]:
        """The tools as last listed, without a request."""
        return list(self._tools.values())

    def present(self, name: str) -> MCPToolDefinition | None:
        """Return the tool *name* from the last list that the server sent, or None if it is missing.

        No request is sent. Each call returns the same object until the server changes the tool's
        description.
        """
        self._look_at_time()
        return self._tools.get(name)

    @property
    def is_approved(self) -> bool:
        """Whether the list is approved, or needs no approval."""
        trust = self._session.trust
        return trust is None or not trust.has_changed

    def refusal_of(self, name: str) -> str:
        """Return why the tool *name* cannot be called now, as a sentence; empty if it can be."""
        trust = self._session.trust
        if trust is not None and (refusal := trust.refusal):
            return refusal
        if name in self._tools:
            return ""
        return self._missing(name)

    @property
    def raw(self) -> dict[str, dict[str, Any]]:
        """The server's descriptions of the tools that can be called, by name."""
        return {name: dict(tool.entry) for name, tool in self._tools.items()}

    def described(self, name: str) -> Mapping[str, Any]:
        """Return the server's description of the tool *name*; empty if the tool is not listed."""
        tool = self._tools.get(name)
        if tool is None:
            return {}
        return tool.entry

    async def list_anew(self, connection: Connection, seconds: float, *, used: float = 0) -> None:
        """Request the list over *connection* within *seconds*, of which *used* are already over.

        If no list arrives, the tools stay unchanged.
        """
        items, self.problem, lifetime = await connection.pages(
            "tools", "tools/list", seconds, used=used
        )
        if self.problem is not None and not items:
            return
        self._stale_from = stale_from(lifetime)
        good, self.disabled = read_tools(items, is_modern=connection.is_modern, before=self._listed)
        self._listed = {tool.name: tool for tool in good}
        if connection.is_modern:
            from toolbench.mcp.wire.sdk_session import header_map  # noqa: PLC0415 - loaded by now

            with_headers = [tool for tool in good if tool.has_headers]
            maps = {tool.name: header_map(tool.schema) for tool in with_headers}
            connection.session.header_maps = maps
        before = self.raw
        self._tools = {tool.name: self._definition(tool) for tool in good}
        change = ToolsDiff.between(before, self.raw)
        is_first, self._was_listed = not self._was_listed, True
        self._secrecy = {}
        if change and not is_first:
            self.last_change = change
            if change.added:
                self._session.report_new_tools(change.added)

    def secrets_in(self, name: str, arguments: Mapping[str, Any]) -> list[str]:
        """Return the secrets in *arguments* for the tool that the server calls *name*."""
        return self._secrecy_of(name).secrets_in(arguments)

    def hide(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Return *arguments* for the tool *name*, with each secret replaced by a placeholder."""
        return self._secrecy_of(name).hide(arguments)[0]

    def _secrecy_of(self, name: str) -> Secrecy:
        # Read in this order: a new list replaces `_tools` first, so no old tool gets into its
        # secrecy
        known, tool = self._secrecy, self._tools.get(name)
        if name not in known:
            schema: Mapping[str, Any] = {}
            if tool is not None:
                schema = tool.schema
            known[name] = Secrecy(schema)
        return known[name]

    def _named(self, name: str) -> MCPToolDefinition:
        tool = self.present(name)
        if tool is None:
            raise ToolNotFoundError(self._missing(name))
        return tool

    def _missing(self, name: str) -> str:
        server = self._session.name
        for disabled in self.disabled:
            if disabled.name == name:
                return f"Tool {name!r} of {server!r} cannot be called: {disabled.reason}."
        near = did_you_mean(name, self._tools)
        return f"Server {server!r} has no tool {name!r}.{near}"

    def _definition(self, tool: ListedTool) -> MCPToolDefinition:
        """Return the definition of *tool*; if it has not changed, the same object as before."""
        version = str(self._session.server_info.get("version") or "")
        known = self._tools.get(tool.name)
        if known is not None and (known.entry, known.server_version) == (tool.raw, version):
            return known
        return MCPToolDefinition(
            name=tool.name,
            description=tool.description,
            observation_type=MCPToolObservation,
            annotations=tool.annotations,
            meta=tool.meta,
            server=self._session.name,
            remote_name=tool.name,
            schema=tool.schema,
            output_schema=tool.output_schema,
            icons=tool.icons,
            entry=tool.raw,
            notes=tool.notes,
            server_version=version,
            executor=MCPToolExecutor(tool.name, self._session, tool.output_schema),
        )
