"""What to say to somebody who calls a tool with something that is no action of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolbench.errors import indefinite

if TYPE_CHECKING:
    from toolbench.core.tool import ToolDefinition

_LONGEST = 200  # characters of a call that is shown


def no_action(tool: "ToolDefinition[Any, Any]", given: Any) -> TypeError:
    """Return the error of calling *tool* with *given*, which it does not take."""
    name, wanted = type(given).__name__, tool.action_type.__name__
    takes = f"{tool.name} takes {indefinite(wanted)} or a dict of its arguments"
    if given is ...:  # what the parameter is where nothing is given
        return TypeError(f"{takes}; without any, {tool.name}({{}}).")
    msg = f"{takes}, not {indefinite(name)}."
    if name == wanted:
        msg += " The class was defined again since: make the action, or the tool, anew."
    return TypeError(msg)


def keywords(
    tool: "ToolDefinition[Any, Any]", arguments: Mapping[str, Any]
) -> TypeError:
    """Return the error of calling *tool* with *arguments* by keyword, as its function is."""
    call = f"{tool.name}({tool.secrecy.hide(arguments)[0]!r})"
    if len(call) > _LONGEST:
        call = f"{tool.name}({{{', '.join(f'{name!r}: ...' for name in arguments)}}})"
    msg = f"{tool.name} takes its arguments in a dict: {call}."
    return TypeError(msg)
