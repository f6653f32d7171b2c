"""Advice in error messages about misfitting calls, classes used as tools, and outdated tools."""

import re
from collections.abc import Mapping
from inspect import Parameter, signature
from keyword import iskeyword
from typing import TYPE_CHECKING, Any
from warnings import warn

from toolbench.core.executor import FunctionCall
from toolbench.core.schema import Action
from toolbench.errors import ArgumentsError, Problem, indefinite
from toolbench.redaction.detect import Secrecy
from toolbench.values import sentence

if TYPE_CHECKING:
    from toolbench.core.tool import ToolDefinition

_STATE = "ConversationState()"


# --- for a call -------------------------------------------------------------------------


def no_action(tool_name: str, action_type: type[Action], argument: Any) -> TypeError:
    """Return the error for a call with *argument*, which is neither an action nor a mapping."""
    name, class_name = type(argument).__name__, action_type.__name__
    takes = f"{tool_name} takes {indefinite(class_name)} or a dict of its arguments"
    msg = f"{takes}, not {indefinite(name)}."
    call = _call_by_keywords(tool_name, action_type)
    if call:
        msg = f"{msg} Or use keywords: {call}."
    if name == class_name:
        msg += " The class was defined again since: make the action or the tool again."
    return TypeError(msg)


def _call_by_keywords(tool_name: str, action_type: type[Action]) -> str:
    """Return code of an example call, with the required arguments as keywords.

    If no argument is required, the first one is used. The result is empty if the name of an
    argument is not valid in Python.
    """
    first: list[str] = []
    required: list[str] = []
    for attribute, field in action_type.model_fields.items():
        name = field.alias or attribute
        if field.is_required():
            required.append(name)
        if not first:
            first.append(name)
    names = required or first
    if not names or not all(name.isidentifier() and not iskeyword(name) for name in names):
        return ""
    return f"{tool_name}({'=..., '.join(names)}=...)"


def two_forms(tool_name: str, action: Any, arguments: Mapping[str, Any]) -> TypeError:
    """Return the error for a call that passes both an *action* and keyword *arguments*."""
    return TypeError(
        f"{tool_name} takes its arguments in one form: give either "
        f"{indefinite(type(action).__name__)} or the keywords {', '.join(arguments)}, not both."
    )


def misfits(secrecy: Secrecy, error: Exception, arguments: Mapping[str, Any]) -> list[Problem]:
    """List the problems of *arguments*, whose check raised *error*; *secrecy* masks secrets."""
    if isinstance(error, ArgumentsError):
        return list(error.problems)
    message = f"could not be checked, {type(error).__name__}: {sentence(error)}"
    redactor = secrecy.redactor(arguments)
    return redactor.problems([Problem((), message)])


# --- for a class of tools ---------------------------------------------------------------


def has_create(tool_class: type["ToolDefinition[Any, Any]"]) -> bool:
    """Tell whether *tool_class*, a subclass of `ToolDefinition`, defines `create`."""
    author = next(base for base in tool_class.__mro__ if "create" in vars(base))
    return author.__module__ != "toolbench.core.tool"


def class_advice(tool_class: type["ToolDefinition[Any, Any]"]) -> str:
    """Return a sentence for users who mistake *tool_class* for a tool, with code that makes one."""
    title = tool_class.__name__
    code = _making_code(tool_class, str(tool_class.name))
    if not has_create(tool_class):
        return f"{title} is a class without create(): `{code}` makes its tool."
    return f"{title} is a class, not a tool: `{code}` makes its tool."


def _making_code(tool_class: type["ToolDefinition[Any, Any]"], name: str) -> str:
    """Return one line of code that makes a tool called *name* from *tool_class*."""
    title = tool_class.__name__
    if not has_create(tool_class):
        return f"{title}(description=..., action_type=..., executor=...)"
    needed = []
    for place, parameter in enumerate(signature(tool_class.create).parameters.values()):
        is_rest = parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        if is_rest or parameter.default is not Parameter.empty:
            continue
        if place == 0 and parameter.kind is not Parameter.KEYWORD_ONLY:
            needed.append(_STATE)
        else:
            needed.append(f"{parameter.name}=...")
    variable = re.sub(r"\W", "_", name)
    code = f"[{variable}] = {title}.create({', '.join(needed)})"
    if _STATE in needed:
        code = f"from toolbench import ConversationState; {code}"
    return code


# --- for a tool of an earlier class -----------------------------------------------------


def remake_advice(tool: "ToolDefinition[Any, Any]") -> str:
    """Return one sentence on how to rebuild *tool* after one of its classes was redefined.

    The result is empty if *tool* already uses the newest classes, or if there is a newer tool that
    does (see `ToolDefinition.latest`). It is also empty for a tool made by `@tool`.
    """
    # The action class of a FunctionCall is made together with the tool. A newer class of that name
    # belongs to another tool, such as `a_b` instead of `a-b`
    if not tool.is_stale or not tool.latest().is_stale or isinstance(tool.executor, FunctionCall):
        return ""
    old: Any = type(tool.executor)
    classes: list[Any] = [tool.observation_type, tool.action_type, type(tool)]
    for one in classes:
        if one is not None and one.newest() is not one:
            old = one
    newest: Any = type(tool).newest()
    way = f"run the cell that makes {tool.name} again"
    if has_create(newest):
        code = _making_code(newest, tool.name)
        # A class of a cell is there
        if newest.__module__ != "__main__":
            code = f"from {newest.__module__} import {newest.__name__}; {code}"
        way = f"run `{code}`"
    return (
        f"{old.__name__} was defined again, and {tool.name} still uses the earlier one: "
        f"{way} to use the new one."
    )


def warn_of_earlier_class(tool: "ToolDefinition[Any, Any]", *, stacklevel: int = 1) -> None:
    """Warn once if *tool* still uses a class that has been redefined; see `remake_advice`.

    Args:
        tool: The tool that is called.
        stacklevel: The stack frame that the warning names. 1 is the caller of this function, and 2
            is the caller of that function.
    """
    if tool._is_warned_of or not tool.is_stale:
        return
    advice = remake_advice(tool)
    if advice:
        object.__setattr__(tool, "_is_warned_of", True)
        warn(advice, stacklevel=stacklevel + 1)
