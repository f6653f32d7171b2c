"""Tool classes of a notebook of which no tool was made yet."""

from collections.abc import Iterable, Iterator, Mapping
from inspect import isclass
from typing import Any

from toolbench.core.tool import ToolDefinition


def classes_without_tools(
    variables: Mapping[str, Any], kinds: Iterable[str]
) -> Iterator[type[ToolDefinition[Any, Any]]]:
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
            yield value
