"""The address of a tool: its server, and its name there. Names can change; an address does not."""

from typing import Any, NamedTuple

from toolbench.core.tool import ToolDefinition


class ToolAddress(NamedTuple):
    """The place of a tool. If several servers use the same name, only the addresses differ."""

    server: str
    """The name of the server; empty for a tool of this process."""
    name: str
    """The name of the tool on its server, or in this process."""

    @classmethod
    def of(cls, tool: ToolDefinition[Any, Any]) -> "ToolAddress":
        """Return the address of *tool*."""
        server = tool.source.partition(":")[2]
        return cls(server, getattr(tool, "remote_name", tool.name) if server else tool.name)

    @property
    def full_name(self) -> str:
        """The name that finds the tool also if other servers use its name: server, `_`, name."""
        return f"{self.server}_{self.name}" if self.server else self.name
