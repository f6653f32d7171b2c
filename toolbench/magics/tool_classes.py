"""Tool classes of a notebook of which no tool was made yet, and the line that makes one."""

import re
from collections.abc import Iterable, Iterator, Mapping
from inspect import Parameter, isclass, signature
from typing import Any, NamedTuple

from toolbench.core.tool import ToolDefinition

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_STATE = "ConversationState()"


class ToolClass(NamedTuple):
    """A class that derives from `ToolDefinition`, written in a cell."""

    name: str
    """The name that its tool will have."""
    kind: type[ToolDefinition[Any, Any]]

    @property
    def has_create(self) -> bool:
        """Whether the class says how its tools are made."""
        author = next(c for c in self.kind.__mro__ if "create" in vars(c))
        return author is not ToolDefinition

    @property
    def advice(self) -> str:
        """A sentence with the code that makes its tool."""
        title = self.kind.__name__
        if not self.has_create:
            call = f"{title}(description=..., action_type=..., executor=...)"
            return f"{title} is a class without create(): `{call}` makes its tool."
        needed = ", ".join(_needed_arguments(self.kind))
        variable = re.sub(r"\W", "_", self.name)
        line = f"[{variable}] = {title}.create({needed})"
        if _STATE in needed:
            line = f"from toolbench import ConversationState; {line}"
        return f"{title} is a class, and no tool yet: `{line}` makes its tool."

    def is_called(self, name: str) -> bool:
        """Tell whether *name* means this class, or the tool that it would make."""
        return name in (self.name, self.kind.__name__)


def classes_without_tools(
    variables: Mapping[str, Any], kinds: Iterable[str]
) -> Iterator[ToolClass]:
    """Yield the tool classes among *variables* that a cell defines, and of which there is no tool.

    Args:
        variables: The variables of the notebook.
        kinds: The names of the classes of all tools.
    """
    known = set(kinds)
    for variable, value in list(variables.items()):
        if not isclass(value) or not issubclass(value, ToolDefinition):
            continue
        is_own = value.__module__ == "__main__" and variable == value.__name__
        if is_own and value.__name__ not in known:
            yield ToolClass(str(value.name), value)


def _needed_arguments(kind: type[ToolDefinition[Any, Any]]) -> Iterator[str]:
    """Yield the arguments that `create` of *kind* requires, and the state of a conversation.

    The state is the first argument. Its default is often None, and the body uses it all the same.
    """
    parameters = signature(kind.create).parameters.values()
    for place, parameter in enumerate(parameters):
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            continue
        is_first = place == 0 and parameter.kind in _POSITIONAL
        if is_first and _has_no_value(parameter):
            yield _STATE
        elif parameter.default is Parameter.empty:
            yield f"{parameter.name}=..."


def _has_no_value(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty or parameter.default is None
