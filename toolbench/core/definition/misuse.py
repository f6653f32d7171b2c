"""The errors for calls with an argument that does not fit the tool."""

from collections.abc import Mapping
from keyword import iskeyword
from typing import Any

from toolbench.core.schema import Action
from toolbench.errors import ArgumentsError, Problem, indefinite
from toolbench.redaction.detect import Secrecy
from toolbench.values import sentence


def no_action(tool_name: str, action_type: type[Action], argument: Any) -> TypeError:
    """Return the error for a call whose *argument* is neither an action of the tool nor a mapping."""
    name, class_name = type(argument).__name__, action_type.__name__
    takes = f"{tool_name} takes {indefinite(class_name)} or a dict of its arguments"
    msg = f"{takes}, not {indefinite(name)}."
    if call := _call_by_keywords(tool_name, action_type):
        msg = f"{msg} Or use keywords: {call}."
    if name == class_name:
        msg += " The class was defined again since: make the action or the tool again."
    return TypeError(msg)


def _call_by_keywords(tool_name: str, action_type: type[Action]) -> str:
    """Return a call of the tool with its required arguments, or else with its first one, as keywords.

    The result is empty if Python allows no such call.
    """
    fields = [(f.alias or name, f) for name, f in action_type.model_fields.items()]
    names = [name for name, field in fields if field.is_required()]
    names = names or [name for name, _ in fields[:1]]
    can_be_called = names and all(n.isidentifier() and not iskeyword(n) for n in names)
    keywords = ", ".join(f"{name}=..." for name in names)
    return f"{tool_name}({keywords})" if can_be_called else ""


def misfits(secrecy: Secrecy, error: Exception, arguments: Mapping[str, Any]) -> list[Problem]:
    """List the problems of *arguments*, whose check raised *error*; *secrecy* masks secrets in them."""
    if isinstance(error, ArgumentsError):
        return list(error.problems)
    message = f"could not be checked, {type(error).__name__}: {sentence(error)}"
    redactor = secrecy.redactor(arguments)
    return redactor.problems([Problem((), message)])
