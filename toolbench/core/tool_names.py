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
        if not server:
            return cls("", tool.name)
        return cls(server, getattr(tool, "remote_name", tool.name))

    def __str__(self) -> str:
        if not self.server:
            return self.name
        return f"{self.server}.{self.name}"

    @property
    def full_name(self) -> str:
        """The name that a client gives the tool if another server uses its name: server, `_`, name."""
        if not self.server:
            return self.name
        return f"{self.server}_{self.name}"


def tool_at(text: str, tools: Iterable[AnyTool]) -> AnyTool | None:
    """Return the tool of *tools* whose address is *text*; None if there is none.

    A name of a tool may have dots too, so look for the name *text* first. If several servers fit,
    such as `a` and `a.b` in `a.b.c`, the tool is of the one with the longest name.

    Args:
        text: `server.tool`; `server_tool`, the name after a clash, is found at any time too.
        tools: The tools; those of this process have no address.
    """
    exact, clashing = [], []
    for tool in tools:
        address = ToolAddress.of(tool)
        if address.server and str(address) == text:
            exact.append(tool)
        elif address.server and address.full_name == text:
            clashing.append(tool)
    return max(exact or clashing, key=lambda tool: len(tool.source), default=None)


def kind_of(tool: ToolDefinition[Any, Any]) -> str:
    """Return the origin of *tool*: `function`, the name of its class, or `mcp:` and its server."""
    if tool.source != ToolDefinition.source:
        return tool.source
    if type(tool) is ToolDefinition:
        return "function"
    return type(tool).__name__


def names_apart(tools: Sequence[ToolDefinition[Any, Any]]) -> list[str]:
    """Return a label for each of *tools*: its name.

    If several tools have the same name, their labels also have the origin. If several tools have
    the same name and origin, their labels also have a number.
    """
    by_name = Counter(tool.name for tool in tools)
    by_kind = Counter((tool.name, kind_of(tool)) for tool in tools)
    numbers = Counter[tuple[str, str]]()
    labels = []
    for tool in tools:
        kind = kind_of(tool)
        numbers[tool.name, kind] += 1
        if by_name[tool.name] == 1:
            labels.append(tool.name)
        elif by_kind[tool.name, kind] == 1:
            labels.append(f"{tool.name} ({kind})")
        else:
            labels.append(f"{tool.name} ({kind} {numbers[tool.name, kind]})")
    return labels
