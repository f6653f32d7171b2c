"""Make an item of a list for a tool: title, name, icon, and a mark for its effect."""

from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.display.images import icon_source
from toolbench.widgets.kit.search_list import Item


def tool_item(key: str, name: str, tool: ToolDefinition[Any, Any], *, group: str = "") -> Item:
    """Return *tool* as an item with the name *name*.

    A tool without hints has no mark if it is defined in this notebook: its author knows the effect.
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
        icon=icon_source(getattr(tool, "icons", ())),
    )
