"""The errors of calling a tool with something that is no action of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolbench.errors import ArgumentsError, Problem, indefinite

if TYPE_CHECKING:
    from toolbench.core.tool import ToolDefinition


def no_action(tool: "ToolDefinition[Any, Any]", argument: Any) -> TypeError:
    """Return the error of calling *tool* with *argument*, which it does not take."""
    name, class_name = type(argument).__name__, tool.action_type.__name__
    takes = f"{tool.name} takes {indefinite(class_name)} or a dict of its arguments"
    if argument is ...:  # what the parameter is where nothing is given
        return TypeError(f"{takes}; without any, {tool.name}({{}}).")
    msg = f"{takes}, not {indefinite(name)}."
    if name == class_name:
        msg += " The class was defined again since: make the action, or the tool, anew."
    return TypeError(msg)


def misfits(
    tool: "ToolDefinition[Any, Any]", error: Exception, arguments: Mapping[str, Any]
) -> list[Problem]:
    """List why *arguments* make no action of *tool*, which raised *error*; no secret in any."""
    if isinstance(error, ArgumentsError):
        return list(error.problems)
    message = f"could not be checked, {type(error).__name__}: {error}"
    redactor = tool.secrecy.redactor(arguments)
    return redactor.problems([Problem((), message)])
