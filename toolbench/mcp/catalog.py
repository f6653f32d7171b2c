"""The tools of one server, as last listed: what can be called, what cannot, what changed."""

from typing import Any

from toolbench.errors import ToolNotFoundError, did_you_mean
from toolbench.mcp.definition import MCPToolDefinition
from toolbench.mcp.executor import Caller, MCPToolExecutor
from toolbench.mcp.listing import DisabledTool, ListedTool, read_tools
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.snapshot import ToolsDiff


class Catalog:
    """The tools of the server called *server*; `read` takes a new list."""

    def __init__(self, server: str, caller: Caller) -> None:
        """Start empty; the tools are called through *caller*."""
        self._server = server
        self._caller = caller
        self._listed: list[ListedTool] = []
        self._tools: list[MCPToolDefinition] | None = None
        self.disabled: list[DisabledTool] = []
        self.problem: str | None = None
        self.last_change: ToolsDiff | None = None

    def __len__(self) -> int:
        return len(self._listed)

    def read(self, items: list[Any], problem: str | None, *, is_modern: bool) -> None:
        """Take what a server listed, and what went wrong with the list.

        A list that did not come at all leaves the tools as they are.
        """
        self.problem = problem
        if problem is not None and not items:
            return
        good, self.disabled = read_tools(items, is_modern=is_modern)
        if self._listed and (change := ToolsDiff.between(self._listed, good)):
            self.last_change = change
        self._listed, self._tools = good, None

    @property
    def tools(self) -> list[MCPToolDefinition]:
        """The tools that can be called; made when first looked at."""
        if self._tools is None:
            self._tools = [self._definition(tool) for tool in self._listed]
        return list(self._tools)

    def find(self, name: str) -> MCPToolDefinition:
        """Return the tool the server calls *name*.

        Raises:
            ToolNotFoundError: If there is none, or it is disabled.
        """
        tools = {tool.remote_name: tool for tool in self.tools}
        if name in tools:
            return tools[name]
        msg = (
            f"Server {self._server!r} has no tool {name!r}.{did_you_mean(name, tools)}"
        )
        for disabled in self.disabled:
            if disabled.name == name:
                msg = f"Tool {name!r} of {self._server!r} cannot be called: {disabled.reason}."
        raise ToolNotFoundError(msg)

    def _definition(self, tool: ListedTool) -> MCPToolDefinition:
        return MCPToolDefinition(
            name=tool.name,
            description=tool.description,
            observation_type=MCPToolObservation,
            annotations=tool.annotations,
            meta=tool.meta,
            server=self._server,
            remote_name=tool.name,
            schema=tool.schema,
            output_schema=tool.output_schema,
            icons=tool.icons,
            notes=tool.notes,
            executor=MCPToolExecutor(self._caller, tool.name, tool.output_schema),
        )
