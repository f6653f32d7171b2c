"""A call as text to paste elsewhere: Python, a %%tool cell, a pytest."""

from collections.abc import Mapping
from json import dumps
from pprint import pformat
from typing import Any

from toolbench.core.tool import ToolDefinition


def as_python(tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any]) -> str:
    """Return the call as Python, for a notebook that knows the tool by its name."""
    return (
        "from toolbench import run_tool\n\n"
        f"observation = run_tool({_variable(tool)}, {_literal(arguments)})\n"
        "print(observation.text)"
    )


def as_cell(tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any]) -> str:
    """Return the call as a %%tool cell."""
    return f"%%tool {tool.name}\n{dumps(dict(arguments), indent=2, ensure_ascii=False)}"


def as_pytest(tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any]) -> str:
    """Return the call as a test that the tool still answers."""
    home = tool.action_type.__module__
    home = "my_tools" if home == "__main__" else home
    return (
        f"from toolbench import run_tool\nfrom {home} import {_variable(tool)}\n\n\n"
        f"def test_{_variable(tool)}():\n"
        f"    observation = run_tool({_variable(tool)}, {_literal(arguments, 4)})\n"
        "    assert not observation.is_error, observation.text"
    )


SNIPPETS = {"Python": as_python, "%%tool cell": as_cell, "pytest": as_pytest}


def _variable(tool: ToolDefinition[Any, Any]) -> str:
    name = "".join(c if c.isalnum() else "_" for c in tool.name)
    return name if name.isidentifier() else f"tool_{name}"


def _literal(arguments: Mapping[str, Any], indent: int = 0) -> str:
    text = pformat(dict(arguments), sort_dicts=False, width=76)
    return text.replace("\n", "\n" + " " * indent)
