"""Check tools before the first request: list the parts that a model's provider cannot take.

Source: OpenHands, `check_tools`. That function changed the tools; this one only reports the
changes that are made when the tools are sent.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from toolbench.agent.agent import Agent
from toolbench.agent.toolset import CROWD, ToolMaking
from toolbench.core.state import ConversationState
from toolbench.core.tool import ToolDefinition
from toolbench.llm.formats import format_report
from toolbench.llm.providers import Provider, tool_name


@dataclass(frozen=True)
class ToolProblem:
    """A part of a tool that a provider refuses, or that is changed when it is sent."""

    tool: str
    where: str
    """The name of an argument; `name`, `description`, or `arguments` for all arguments."""
    message: str
    refused: bool
    """Whether the provider refuses a request with this part; if not, the part is changed when it is
    sent."""

    def __str__(self) -> str:
        weight = "refused" if self.refused else "changed when it is sent"
        return f"{self.tool}, {self.where}: {self.message} ({weight})"


def check_tools(tools: Any, model: Any) -> list[ToolProblem]:
    """Return the parts of *tools* that the provider of *model* does not accept; refused parts first.

    Args:
        tools: The tools: anything that `Agent` takes as tools, such as classes, specs and names.
        model: The model: anything `as_model` takes.

    Raises:
        RegistrationError: If an object is not a tool.
        ToolNotFoundError: If a tool is given by a name that no tool has.
    """
    agent = Agent(model, tools)
    making = ToolMaking(ConversationState(), agent.parts)
    try:
        tools_made = [tool for spec in agent.tools for tool in making.tools_of(spec)]
        tool_list = [tool for tool in tools_made if tool.is_for_models]
        return _problems(tool_list, agent.llm.provider)
    finally:
        making.close()


def _problems(tool_list: list[ToolDefinition[Any, Any]], provider: Provider) -> list[ToolProblem]:
    problems = [
        ToolProblem(tool.name, change.where, change.message, refused=False)
        for tool in tool_list
        for change in format_report(tool, provider).changes
    ]
    names = Counter(tool_name(tool.name, provider) for tool in tool_list)
    problems += [
        ToolProblem(name, "name", f"{count} tools have this name", refused=True)
        for name, count in names.items()
        if count > 1
    ]
    if len(tool_list) > CROWD:
        message = (
            f"{len(tool_list)} tools are more than {CROWD}: an agent gives the model a tool that "
            "searches them. Give fewer tools to offer each of them"
        )
        problems.append(ToolProblem("", "tools", message, refused=False))
    return sorted(problems, key=lambda problem: not problem.refused)
