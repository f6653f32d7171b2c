"""A tool as an item of a list: its title, its name, and a mark for what it may do."""

from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.widgets.kit.search_list import Item


def tool_item(
    key: str, name: str, tool: ToolDefinition[Any, Any], *, group: str = ""
) -> Item:
    """Return *tool* as an item called *name*.

    A tool of this notebook that declares nothing has no mark: its author is the person who looks.
    """
    effect = tool.hints.effect
    is_silent = effect == "undeclared" and tool.source == ToolDefinition.source
    return Item(
        key,
        name,
        tool.description,
        also=group,
        title=tool.title,
        mark="" if is_silent else effect,
        group=group,
    )
