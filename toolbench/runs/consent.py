"""Write the two labels of a consent question, such as `Delete volume 3` and `Keep it`."""

from collections.abc import Mapping
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import shorten
from toolbench.display.escape import visible
from toolbench.runs.questions import Consent
from toolbench.wording import words_of

_LONGEST = 60  # characters of a label
_VALUE = 40  # characters of an argument in a label
_REMOVALS = {"delete", "remove", "erase", "drop", "purge", "clear", "wipe", "destroy"}


def consent_to(
    tool: ToolDefinition[Any, Any],
    arguments: Mapping[str, Any],
    *,
    can_be_remembered: bool,
) -> Consent:
    """Return the words of the question: may this call of *tool* run?

    Args:
        tool: The tool.
        arguments: Its arguments, secrets hidden.
        can_be_remembered: Whether a yes may count for the whole session.
    """
    words = words_of(tool.name)
    verb = next(iter(words), "")
    return Consent(
        act=act(tool, arguments),
        refusal="Keep it" if verb in _REMOVALS else "Do not run",
        is_dangerous=tool.hints.effect == "destructive",
        can_be_remembered=can_be_remembered,
    )


def act(tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any]) -> str:
    """Return a phrase for a call: `Delete volume 3` for `delete_volume(volume=3)`."""
    title = tool.title
    if title == tool.name:
        title = " ".join(words_of(tool.name)).capitalize() or tool.name
    text = " ".join((title, *_object_of(arguments)))
    return shorten(visible(" ".join(text.split())), _LONGEST)


def _object_of(arguments: Mapping[str, Any]) -> list[str]:
    """Return the first argument if it can stand in a label: short text or an integer."""
    first = next(iter(arguments.values()), None)
    if isinstance(first, bool) or not isinstance(first, str | int):
        return []
    text = str(first)
    return [text] if 0 < len(text) <= _VALUE and text.isprintable() else []
