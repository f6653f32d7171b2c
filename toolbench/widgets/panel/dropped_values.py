"""Find the values in a form that the new definition of its tool does not accept."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.html.css import PRE
from toolbench.display.page import notice
from toolbench.plain import clip

_MAX_VALUE = 1_000_000  # characters; nearly all of a value, as it is shown only here


def dropped(
    old: ToolDefinition[Any, Any],
    new: ToolDefinition[Any, Any],
    arguments: Mapping[str, Any],
) -> list[str]:
    """Return the names in *arguments* that the *old* tool has and the *new* one refuses as unknown.

    A person enters a name that even *old* does not have on purpose, so it is not returned.
    """
    lost = _names(old) - _names(new)
    refused = {p.path[0] for p in new.problems(arguments) if len(p.path) == 1}
    return [name for name in arguments if name in lost and name in refused]


def dropped_html(names: Sequence[str], masked: Mapping[str, Any]) -> Html:
    """Return a notice with the arguments that were left out and their *masked* values."""
    if not names:
        return Html("")
    which = ", ".join(repr(name) for name in names)
    remark = notice(f"The changed tool does not take {which}. Left out:", "warning")
    present = [name for name in names if name in masked]
    values = "\n".join(f"{name} = {clip(masked[name], _MAX_VALUE)}" for name in present)
    style = f"{PRE};max-height:16em;white-space:pre-wrap;overflow-wrap:anywhere"
    return Html(f'{remark}<pre {NO_MATHS} style="{style}">{escape(values)}</pre>')


def _names(tool: ToolDefinition[Any, Any]) -> set[str]:
    return set(tool.input_node.names)
