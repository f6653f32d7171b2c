"""The origin of a tool in a word or two, and unique labels for tools with the same name."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from toolbench.core.tool import ToolDefinition

AnyTool = ToolDefinition[Any, Any]


def kind_of(tool: AnyTool) -> str:
    """Return the origin of *tool*: `function`, the name of its class, or `mcp:` and its server."""
    if tool.source != ToolDefinition.source:
        return tool.source
    own = type(tool)
    return "function" if own is ToolDefinition else own.__name__


def names_apart(tools: Sequence[AnyTool]) -> list[str]:
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
