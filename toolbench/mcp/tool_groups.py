"""Groups of a server's tools whose names begin alike, with the cost and effects of each."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args, overload

from toolbench.core.declarations import Effect
from toolbench.core.tool_names import by_first_words
from toolbench.llm.tokens import TokenCount
from toolbench.mcp.review import TokenBill
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.wording import counted, listed

# The most groups; the last has all other tools
_MOST = 20
OTHERS = "other names"
"""The name of the group of all other tools."""


@dataclass(frozen=True)
class ToolGroup(Sequence[MCPToolDefinition]):
    """A sequence of the tools of one server whose names have the same beginning.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("tracker")
        >>> for action in ("list", "add", "close"):
        ...     server.answer(f"issues_{action}", "done")
        ...     server.answer(f"users_{action}", "done")
        >>> with create_mcp_tools(server) as client:
        ...     issues = client.servers["tracker"].tools.groups["issues_*"]
        ...     [tool.name for tool in issues]
        ['issues_list', 'issues_add', 'issues_close']
    """

    name: str
    """The pattern of the names on the server, such as `issues_*`; `other names` for the rest."""
    tools: tuple[MCPToolDefinition, ...]

    @overload
    def __getitem__(self, index: int) -> MCPToolDefinition: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[MCPToolDefinition]: ...
    def __getitem__(self, index: int | slice) -> MCPToolDefinition | Sequence[MCPToolDefinition]:
        """Return a tool by its position, or several tools by a slice."""
        return self.tools[index]

    def __len__(self) -> int:
        return len(self.tools)

    @property
    def cost(self) -> TokenCount:
        """The tokens that the group adds to each request to a model."""
        return TokenBill.of(self.tools).total

    @property
    def effects(self) -> dict[Effect, int]:
        """The number of tools for each effect that at least one tool has."""
        counts = Counter(tool.hints.effect for tool in self.tools)
        return {effect: counts[effect] for effect in get_args(Effect) if counts[effect]}

    def __repr__(self) -> str:
        effects = [f"{count} {effect}" for effect, count in self.effects.items()]
        tools = counted(len(self), "tool")
        return f"<ToolGroup {self.name}: {tools}, {self.cost}, {listed(effects, len(effects))}>"


def groups_of(tools: Iterable[MCPToolDefinition]) -> list[ToolGroup]:
    """Group the *tools* of one server by the beginning of their names, largest group first.

    If all tools have the same beginning, it is ignored. There are at most twenty groups. If there
    would be more, the twentieth group contains all remaining tools.
    """
    by_name = {tool.remote_name: tool for tool in tools}
    grouped, others = by_first_words(list(by_name), _MOST)
    if others:
        grouped.append((OTHERS, others))
    return [ToolGroup(name, tuple(by_name[each] for each in names)) for name, names in grouped]
