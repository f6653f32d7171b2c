"""What to write instead: for a call that does not fit its tool, a class that is no tool, an old tool."""

import re
import sys
from collections.abc import Iterator, Mapping
from inspect import Parameter, signature
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import warn
from weakref import WeakValueDictionary

from toolbench.core.executor import FunctionCall
from toolbench.core.schema import Action
from toolbench.errors import ArgumentsError, Problem, indefinite
from toolbench.redaction.detect import Secrecy
from toolbench.values import sentence

if TYPE_CHECKING:
    from toolbench.core.tool import ToolDefinition


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


_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_STATE = "ConversationState()"
# The module of the classes whose `create` makes nothing
_BASE = "toolbench.core.tool"


class ToolClass(NamedTuple):
    """A class that derives from `ToolDefinition`."""

    name: str
    """The name that its tool will have."""
    kind: "type[ToolDefinition[Any, Any]]"

    @property
    def has_create(self) -> bool:
        """Whether the class says how its tools are made."""
        author = next(c for c in self.kind.__mro__ if "create" in vars(c))
        return author.__module__ != _BASE

    @property
    def code(self) -> str:
        """The code that makes its tool, on one line."""
        title = self.kind.__name__
        if not self.has_create:
            return f"{title}(description=..., action_type=..., executor=...)"
        needed = ", ".join(_needed_arguments(self.kind))
        variable = re.sub(r"\W", "_", self.name)
        line = f"[{variable}] = {title}.create({needed})"
        if _STATE in needed:
            line = f"from toolbench import ConversationState; {line}"
        return line

    @property
    def advice(self) -> str:
        """A sentence with the code that makes its tool."""
        title = self.kind.__name__
        if not self.has_create:
            return f"{title} is a class without create(): `{self.code}` makes its tool."
        return f"{title} is a class, and no tool: `{self.code}` makes its tool."

    def is_called(self, name: str) -> bool:
        """Tell whether *name* means this class, or the tool that it would make."""
        return name in (self.name, self.kind.__name__)


def remake_advice(tool: "ToolDefinition[Any, Any]") -> str:
    """Return a sentence for a tool whose class was defined again, if no tool was made of it since.

    The sentence has the code that makes the tool. It is empty if *tool*, or a later tool at its
    place (see `latest`), is made of the newest classes. It is empty for the tool of a function too:
    its class is made with it, and `a-b` and `a_b` share the name of their classes.
    """
    if not tool.is_stale or not tool.latest().is_stale:
        return ""
    if isinstance(tool.executor, FunctionCall):
        return ""
    classes: list[Any] = [type(tool), tool.action_type, tool.observation_type]
    outdated = (c for c in classes if c is not None and c.newest() is not c)
    old = next(outdated, type(tool.executor))
    newest: Any = type(tool).newest()
    made_by = ToolClass(tool.name, newest)
    way = f"run the cell that makes {tool.name} again"
    if made_by.has_create:
        way = f"run `{_import_of(newest)}{made_by.code}`"
    return (
        f"{old.__name__} was defined again, and {tool.name} still uses the earlier one: "
        f"{way} to use the new one."
    )


def _import_of(kind: type) -> str:
    """Return code that imports *kind*, to stand before other code; a class of a cell needs none."""
    if kind.__module__ == "__main__":
        return ""
    return f"from {kind.__module__} import {kind.__name__}; "


_replaced: "WeakValueDictionary[int, ToolDefinition[Any, Any]]" = WeakValueDictionary()
"""The tools whose module replaced them, by their ids: a tool may have no hash."""


def after_reload(tool: "ToolDefinition[Any, Any]") -> "ToolDefinition[Any, Any]":
    """Return the tool that replaced *tool* when its module was loaded again; without one, *tool*.

    `%autoreload` renews the code of a function that was imported by name, but it cannot renew a tool.
    As such a function, a tool that left its module has the last code that it had there.
    """
    if not tool.is_stale:
        return tool
    newest = tool.latest()
    modules = {type(tool).__module__, tool.action_type.__module__} - {"__main__"}
    held = [value for name in modules for value in vars(sys.modules.get(name, object)).values()]
    # A module may make two tools of one function: the first of them was not replaced
    is_held = any(value is tool for value in held)
    if is_held:
        return tool
    if any(value is newest for value in held):
        _replaced[id(tool)] = tool
    return newest if _replaced.get(id(tool)) is tool else tool


def call_after_reload(tool: "ToolDefinition[Any, Any]", call: Any) -> Any:
    """Return *call*; if it is an action of an earlier class of the tool's module, return its arguments.

    When a module is loaded again, a class that was imported by name stays the earlier one.
    """
    kind = type(call)
    if isinstance(call, tool.action_type) or kind.__module__ == "__main__":
        return call
    newest = getattr(kind, "newest", None)
    if newest is None or newest() is not tool.action_type:
        return call
    # Not as JSON, which has no secrets
    return call.model_dump(by_alias=True, exclude_unset=True)


_warned: "WeakValueDictionary[int, ToolDefinition[Any, Any]]" = WeakValueDictionary()
"""The tools that `warn_of_earlier_class` warned of, by their ids: a tool may have no hash."""


def warn_of_earlier_class(tool: "ToolDefinition[Any, Any]", *, stacklevel: int = 1) -> None:
    """Warn, once for each tool, with the sentence of `remake_advice` if there is one.

    Args:
        tool: The tool that is called.
        stacklevel: The place of the warning: 1 is the caller of this function, 2 its caller.
    """
    if not tool.is_stale or _warned.get(id(tool)) is tool:
        return
    if advice := remake_advice(tool):
        _warned[id(tool)] = tool
        warn(advice, stacklevel=stacklevel + 1)


def _needed_arguments(kind: "type[ToolDefinition[Any, Any]]") -> Iterator[str]:
    """Yield the arguments that `create` of *kind* requires; the first is the state of a conversation."""
    parameters = signature(kind.create).parameters.values()
    for place, parameter in enumerate(parameters):
        is_rest = parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        if is_rest or parameter.default is not Parameter.empty:
            continue
        if place == 0 and parameter.kind in _POSITIONAL:
            yield _STATE
        else:
            yield f"{parameter.name}=..."
