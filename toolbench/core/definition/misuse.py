"""The errors of calling a tool with something that is no action of it."""

from collections.abc import Mapping
from typing import Any

from toolbench.core.schema import Action
from toolbench.errors import ArgumentsError, Problem, indefinite
from toolbench.redaction.detection.secrecy import Secrecy


def no_action(tool_name: str, action_type: type[Action], argument: Any) -> TypeError:
    """Return the error of calling a tool with *argument*, which it does not take."""
    name, class_name = type(argument).__name__, action_type.__name__
    takes = f"{tool_name} takes {indefinite(class_name)} or a dict of its arguments"
    if argument is ...:  # what the parameter is where nothing is given
        return TypeError(f"{takes}; without any, {tool_name}({{}}).")
    msg = f"{takes}, not {indefinite(name)}."
    if name == class_name:
        msg += " The class was defined again since: make the action, or the tool, anew."
    return TypeError(msg)


def misfits(
    secrecy: Secrecy, error: Exception, arguments: Mapping[str, Any]
) -> list[Problem]:
    """List why *arguments* make no action, which raised *error*; *secrecy* hides what is secret."""
    if isinstance(error, ArgumentsError):
        return list(error.problems)
    message = f"could not be checked, {type(error).__name__}: {error}"
    redactor = secrecy.redactor(arguments)
    return redactor.problems([Problem((), message)])
