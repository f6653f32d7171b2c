"""An agent: a model, its tools, and limits for its work."""

from collections import Counter
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolbench.agent.condenser import Condenser
from toolbench.agent.delegate import DelegateExecutor, DelegateTool
from toolbench.agent.recovery import RecoverySettings
from toolbench.agent.security_analyzer import SecurityAnalyzer
from toolbench.agent.toolset import CROWD, ToolMaking, Toolset, is_one_tool
from toolbench.core.state import ConversationState
from toolbench.core.tool import ToolDefinition
from toolbench.llm.formats import format_report
from toolbench.llm.message import Provider
from toolbench.llm.models import Model, as_model
from toolbench.llm.wire import WIRES


class Agent:
    """A model with its tools and settings. One agent can serve any number of conversations.

    The class is modelled on `Agent` of the OpenHands SDK.

    Examples:
        >>> from toolbench import Conversation
        >>> from toolbench.agent import Agent
        >>> from toolbench.llm import ScriptedModel
        >>> from toolbench.tools import GrepTool
        >>> model = ScriptedModel(["Three files mention it."])
        >>> agent = Agent(model, [GrepTool], system_prompt="Be brief.", max_steps=5)
        >>> with Conversation(agent=agent) as conversation:
        ...     conversation.send_message("Which files mention the licence?")
        ...     reason = conversation.run()
        >>> conversation.final_text
        'Three files mention it.'
        >>> [tool["function"]["name"] for tool in model.requests[0][1]]
        ['grep']
    """

    def __init__(
        self,
        llm: Any,
        tools: Any = (),
        *,
        system_prompt: str | None = None,
        max_steps: int = 30,
        max_cost: float | None = None,
        mcp_config: Mapping[str, Any] | str | Path | None = None,
        condenser: Condenser | None = None,
        security_analyzer: SecurityAnalyzer | None = None,
        max_parallel: int = 4,
        retry: int = 0,
        degrade: bool = False,
        reflect: bool = False,
    ) -> None:
        """Describe the agent; `Conversation(agent=...)` starts it.

        Args:
            llm: The model: anything that `as_model` takes, such as a function
                `(messages, tools) -> message`, a client object, a URL or a `ScriptedModel`.
            tools: One tool, several tools in a list, or an MCP client. A tool can be given as a
                tool object, a class of tools, a `Tool(...)` spec, the name of a registered tool, a
                function, or another agent. If there are more than 100, the model is offered a
                tool that searches them.
            system_prompt: The instructions for the model; none if left out.
            max_steps: The most steps of one `run`. A step is one answer of the model, together with
                running the calls in this answer.
            max_cost: The most US dollars that a conversation may cost. When they are spent, no
                further request is made. All answers count, including those of models that
                summarise, rate calls, work inside a tool or do delegated tasks. Answers that a fork
                copied count, too. OpenRouter reports the cost of an answer. For other
                providers, give `as_model(..., price=(read, written))`, in dollars for a million
                tokens. An answer without a known cost counts as free; a notice reports this once.
            mcp_config: MCP servers whose tools are added, in any form that `create_mcp_tools`
                takes. They are connected when a conversation begins, and closed when it ends.
                Servers from a configuration file need your approval, as with `create_mcp_tools`.
            condenser: Decides when and how older turns are summarised. If left out, they are
                summarised only on request.
            security_analyzer: Rates each call before the policy looks at it; you are asked before a
                call that is rated HIGH.
            max_parallel: How many calls from one answer may run at the same time.
            retry: How often a call is repeated after a network error or a timeout, if its
                tool is read-only or idempotent.
            degrade: Whether a failed call is repeated with another tool, the backup. The tool names
                its backup in `meta["backup"]`; a server's tool cannot name one.
            reflect: Whether the model is asked to think after the first failure of each tool.

        Raises:
            TypeError: If *max_steps*, *max_parallel* or *retry* is not a whole number, or *condenser*
                or *security_analyzer* does not have the needed methods.
            ValueError: If a limit is too low.
        """
        _check_whole(max_steps=max_steps, max_parallel=max_parallel, retry=retry)
        _check_has("condenser", condenser, "wants", "condense")
        _check_has("security_analyzer", security_analyzer, "security_risk")
        if max_steps < 1 or max_parallel < 1 or retry < 0:
            msg = (
                "max_steps and max_parallel must be at least 1, and retry at least 0, not "
                f"{max_steps=}, {max_parallel=}, {retry=}."
            )
            raise ValueError(msg)
        # NaN is not
        if max_cost is not None and not max_cost > 0:
            msg = f"max_cost must be more than 0 dollars, not {max_cost!r}."
            raise ValueError(msg)
        self.llm: Model = as_model(llm)
        self.tools = (tools,) if is_one_tool(tools) else tuple(tools)
        self.system_prompt = system_prompt
        self.max_steps, self.max_cost = max_steps, max_cost
        self.max_parallel = max_parallel
        self.mcp_config = mcp_config
        self.condenser = condenser
        self.security_analyzer = security_analyzer
        self.recovery = RecoverySettings(retry, degrade=degrade, reflect=reflect)
        self.is_delegate = False
        """Whether this agent is a sub-agent, which cannot delegate its task again."""

    def __repr__(self) -> str:
        return f"<Agent on {self.llm.name}>"

    def toolset(self, state: ConversationState) -> Toolset:
        """Create the agent's tools for a new conversation with *state*.

        Raises:
            RegistrationError: If a tool is not valid, or two tools have the same name.
            ToolNotFoundError: If a tool is given by a name that no tool has.
        """
        return Toolset(
            self.tools,
            state,
            parts=self.parts,
            skips=self._skips,
            mcp_config=self.mcp_config,
        )

    @property
    def parts(self) -> Mapping[str, Callable[[], Any]]:
        """Functions that return the arguments `llm` and `agent` for the `create` of a tool."""
        return {"llm": lambda: self.llm, "agent": self._delegate}

    def _delegate(self) -> "Agent":
        """Return a copy of this agent as a sub-agent, which cannot delegate to itself."""
        other = copy(self)
        other.is_delegate = True
        return other

    def _skips(self, tool: ToolDefinition[Any, Any]) -> bool:
        """Tell whether this agent is a sub-agent and *tool* delegates to a sub-agent."""
        executor = tool.executor
        if not self.is_delegate or not isinstance(executor, DelegateExecutor):
            return False
        return bool(getattr(executor.agent, "is_delegate", False))

    def as_tool(
        self, name: str = "delegate", description: str | None = None
    ) -> ToolDefinition[Any, Any]:
        """Return a tool with which another agent can delegate tasks to this agent.

        Each call of the tool starts a new conversation of this agent.

        Args:
            name: The name of the tool.
            description: The description of the tool, which tells the other agent's model which
                tasks this agent can do. If left out, a general description is used.
        """
        [tool] = DelegateTool.create(None, agent=self)
        return tool.model_copy(
            update={"name": name, "description": description or tool.description}
        )


def _check_whole(**limits: Any) -> None:
    for name, limit in limits.items():
        if not isinstance(limit, int) or isinstance(limit, bool):
            msg = f"{name} must be a whole number, not {limit!r}."
            raise TypeError(msg)


def _check_has(name: str, part: Any, *methods: str) -> None:
    if part is not None and not all(callable(getattr(part, m, None)) for m in methods):
        words = " and ".join(f"{method}()" for method in methods)
        msg = f"{name} must be an object with {words}, not {part!r}."
        raise TypeError(msg)


# --- check tools before the first request -------------------------------------------


@dataclass(frozen=True)
class ToolProblem:
    """A problem that a provider has with one part of a tool.

    The provider may refuse the part (`refused`). Otherwise, the agent changes the part
    automatically when it sends the tool.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.agent import check_tools
        >>> @tool
        ... def book(room: tuple[str, int]) -> str:
        ...     "Book a room: its building and number."
        ...     return "booked"
        >>> [problem] = check_tools([book], "https://api.openai.com/v1#gpt-5")
        >>> problem.where, problem.refused, problem.message
        ('room', False, 'a list must describe its items')
    """

    tool: str
    where: str
    """The name of an argument, or `name`, `description`, or `arguments` for all arguments."""
    message: str
    refused: bool
    """Whether the provider refuses a request with this part. If False, the part is changed
    automatically when the tool is sent."""

    def __str__(self) -> str:
        weight = "refused" if self.refused else "changed when it is sent"
        return f"{self.tool}, {self.where}: {self.message} ({weight})"


def check_tools(tools: Any, model: Any) -> list[ToolProblem]:
    """Return the problems that the provider of *model* has with *tools*.

    Problems that make the provider refuse a request come first. An agent solves the other problems
    automatically when it sends the tools. The tools themselves are not changed.

    Args:
        tools: The tools, in any form that `Agent` accepts, such as classes, specs and names.
        model: The model, in any form that `as_model` accepts.

    Raises:
        RegistrationError: If an object is not a tool.
        ToolNotFoundError: If a tool is given by a name that no tool has.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.agent import check_tools
        >>> @tool(name="weather.in_city")
        ... def weather(city: str) -> str:
        ...     "The weather in a city."
        ...     return "sunny"
        >>> for problem in check_tools([weather], "https://api.openai.com/v1#gpt-5"):
        ...     print(problem.where, "-", problem.message)
        name - to 'weather_in_city_0c46be': at most 64 letters, digits, '_' and '-'
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
    names = Counter(WIRES[provider].tool_name(tool.name) for tool in tool_list)
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
