"""What tools are called: the address of each, where it is from, and labels that tell them apart.

The name of a tool can change, for example in a clash with another server; its address does not.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from toolbench.core.tool import ToolDefinition

AnyTool = TypeVar("AnyTool", bound=ToolDefinition[Any, Any])


class ToolAddress(NamedTuple):
    """The place of a tool, written `server.tool`. A clash of names on several servers changes none."""

    server: str
    """The name of the server; empty for a tool of this process."""
    name: str
    """The name of the tool on its server, or in this process."""

    @classmethod
    def of(cls, tool: ToolDefinition[Any, Any]) -> "ToolAddress":
        """Return the address of *tool*."""
        server = tool.source.partition(":")[2]
        return cls(server, getattr(tool, "remote_name", tool.name) if server else tool.name)

    def __str__(self) -> str:
        return f"{self.server}.{self.name}" if self.server else self.name

    @property
    def full_name(self) -> str:
        """The name that a client gives the tool if another server uses its name: server, `_`, name."""
        return f"{self.server}_{self.name}" if self.server else self.name


def tool_at(text: str, tools: Iterable[AnyTool]) -> AnyTool | None:
    """Return the tool of *tools* whose address is *text*; None if there is none.

    A name of a tool may have dots too, so look for the name *text* first. If several servers fit,
    such as `a` and `a.b` in `a.b.c`, the tool is of the one with the longest name.

    Args:
        text: `server.tool`; `server_tool`, the name after a clash, is found at any time too.
        tools: The tools; those of this process have no address.
    """
    of_servers = [(address, tool) for tool in tools if (address := ToolAddress.of(tool)).server]
    found = [pair for pair in of_servers if str(pair[0]) == text]
    found = found or [pair for pair in of_servers if pair[0].full_name == text]
    if not found:
        return None
    return max(found, key=lambda pair: len(pair[0].server))[1]


def kind_of(tool: ToolDefinition[Any, Any]) -> str:
    """Return the origin of *tool*: `function`, the name of its class, or `mcp:` and its server."""
    if tool.source != ToolDefinition.source:
        return tool.source
    own = type(tool)
    return "function" if own is ToolDefinition else own.__name__


def names_apart(tools: Sequence[ToolDefinition[Any, Any]]) -> list[str]:
    """Return a label for each of *tools*: its name.

    If several tools have the same name, their labels also have the origin. If several tools have
    the same name and origin, their labels also have a number.
    """
    names = [tool.name for tool in tools]
    kinds = [f"{tool.name} ({kind_of(tool)})" for tool in tools]
    by_name, by_kind, numbers = Counter(names), Counter(kinds), Counter[str]()
    labels = []
    for name, kind in zip(names, kinds, strict=True):
        numbers[kind] += 1
        label = kind if by_name[name] > 1 else name
        is_alike = by_name[name] > 1 and by_kind[kind] > 1
        labels.append(f"{label[:-1]} {numbers[kind]})" if is_alike else label)
    return labels
