"""How a list of a server differs from the one before, in words."""

from collections.abc import Mapping
from typing import Any

from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.mcp.snapshot import ToolsDiff


def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> ToolsDiff:
    """Return how *after* differs from *before*, by the keys of both."""
    return ToolsDiff(
        added=tuple(key for key in after if key not in before),
        removed=tuple(key for key in before if key not in after),
        changed=tuple(k for k in after if k in before and before[k] != after[k]),
    )


def changes_html(change: ToolsDiff | None) -> Html:
    """Return *change* as a notice; nothing where there is none."""
    return notice(f"The list changed: {change}.", "info") if change else Html("")
