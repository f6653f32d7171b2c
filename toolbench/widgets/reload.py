"""What a form holds that its tool, defined again, takes no longer."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.core.validation import clip
from toolbench.display.css import PRE
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import notice

_SHOWN = 1_000_000  # characters of a value: all of it, as nothing else has it any more


def dropped(
    old: ToolDefinition[Any, Any],
    new: ToolDefinition[Any, Any],
    arguments: Mapping[str, Any],
) -> list[str]:
    """Name those of *arguments* that *old* has, and *new* refuses because it has none such.

    What *old* did not have either was given on purpose.
    """
    lost = _names(old) - _names(new)
    refused = {p.path[0] for p in new.problems(arguments) if len(p.path) == 1}
    return [name for name in arguments if name in lost and name in refused]


def dropped_html(names: Sequence[str], masked: Mapping[str, Any]) -> Html:
    """Say which arguments were left out, and show all of their *masked* values."""
    if not names:
        return Html("")
    which = ", ".join(repr(name) for name in names)
    said = notice(f"The tool takes no {which} any more. This was left out:", "warning")
    held = [name for name in names if name in masked]
    values = "\n".join(f"{name} = {clip(masked[name], _SHOWN)}" for name in held)
    style = f"{PRE};max-height:16em;white-space:pre-wrap;overflow-wrap:anywhere"
    return Html(f'{said}<pre {NO_MATHS} style="{style}">{escape(values)}</pre>')


def _names(tool: ToolDefinition[Any, Any]) -> set[str]:
    declared = tool.input_schema.get("properties")
    return set(declared) if isinstance(declared, dict) else set()
