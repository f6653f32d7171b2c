"""The tool that delegates a task to another agent, in a separate conversation.

Source: OpenHands, `AgentDelegateAction` and `delegate_to_browsing_agent`.
"""

from collections.abc import Sequence
from typing import Any, Self

from pydantic import Field, PrivateAttr

from toolbench.core.declarations import ToolAnnotations
from toolbench.core.executor import ToolExecutor
from toolbench.core.schema import Action, Observation
from toolbench.core.state import ConversationState
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ToolbenchError
from toolbench.runs.current_run import active_run, current_run
from toolbench.runs.run import Run

# How deep a conversation can be inside of others
_DEEPEST = 5
_DONE = ("answered", "finished")


class DelegateAction(Action):
    """A task for the other agent."""

    task: str = Field(
        description="The whole task: the other agent knows nothing of this conversation. Say "
        "what you want, what is already known, and what to report."
    )


class DelegateObservation(Observation):
    """The report of the other agent."""

    reason: str = Field(default="", description="Why the other agent stopped.")
    transcript: list[dict[str, Any]] = Field(
        default=[],
        description="The events of the other agent's conversation, as JSON.",
        repr=False,
    )
    _conversation: Any = PrivateAttr(default=None)

    @property
    def conversation(self) -> Any:
        """The conversation of the other agent; None if the observation was loaded from a file."""
        return self._conversation


class DelegateExecutor(ToolExecutor[DelegateAction, DelegateObservation]):
    """Gives each task to another agent, in a new conversation."""

    def __init__(self, agent: Any, conv_state: Any = None) -> None:
        """Give tasks to *agent*, in the workspace of the caller's conversation.

        A call without a conversation uses the workspace of *conv_state*.
        """
        self.agent = agent
        """The agent that gets the tasks."""
        self._state = conv_state

    def __call__(self, action: DelegateAction, conversation: Any = None) -> DelegateObservation:
        """Let the agent do the task, and return its last text.

        If the agent did not finish the task, the observation is an error.
        """
        from toolbench.agent.conversation import (  # noqa: PLC0415 - it shows what this tool returns
            Conversation,
        )

        state = getattr(conversation, "state", None) or self._state
        depth = getattr(conversation, "depth", 0) + 1
        if depth > _DEEPEST:
            text = f"Tasks are delegated {_DEEPEST} times at most: do this one yourself."
            return DelegateObservation.from_text(text, is_error=True, reason="error")
        with Conversation(state or ConversationState(), agent=self.agent) as sub:
            sub.depth = depth
            if isinstance(conversation, Conversation):
                sub.parent = conversation
            sub.send_message(action.task)
            forget = current_run().on_cancel(sub.interrupt)
            try:
                reason = sub.run()
            finally:
                forget()
                if isinstance(run := active_run(), Run):
                    run.secrets.include(sub.known_secrets)
        text = sub.final_text
        if reason not in _DONE:
            text = f"The other agent did not finish ({reason}). Its last text: {text or 'none'}"
        summary = DelegateObservation.from_text(
            text,
            is_error=reason not in _DONE,
            reason=reason,
            transcript=sub.written(),
        )
        summary._conversation = sub
        return summary


class DelegateTool(ToolDefinition[DelegateAction, DelegateObservation]):
    """The tool that delegates a task to another agent.

    Examples:
        >>> from toolbench.agent import Agent
        >>> from toolbench.llm import ScriptedModel
        >>> from toolbench.agent.tools import DelegateTool
        >>> researcher = Agent(ScriptedModel(["Emma was published in 1815."]))
        >>> [delegate] = DelegateTool.create(agent=researcher)
        >>> delegate(task="When was Emma published?").text
        'Emma was published in 1815.'
    """

    @classmethod
    def create(cls, conv_state: Any = None, *, agent: Any = None) -> Sequence[Self]:
        """Create the tool, and return it in a list.

        Args:
            conv_state: The state that supplies the workspace when the tool is called outside a
                conversation.
            agent: The agent that gets the tasks. If you pass this class to an `Agent` as a tool,
                a copy of that agent gets the tasks. The copy cannot delegate them again.

        Raises:
            ToolbenchError: If there is no *agent*.
        """
        if agent is None:
            msg = (
                "DelegateTool needs an agent to give tasks to: DelegateTool.create(state, "
                "agent=Agent(...)), or agent.as_tool()."
            )
            raise ToolbenchError(msg)
        return [
            cls(
                description=(
                    "Gives a task to another agent, which works on it alone with its own tools "
                    "and reports the result. Use it for work that takes many steps whose details "
                    "do not matter here. The other agent sees nothing of this conversation: put "
                    "everything it needs into the task."
                ),
                action_type=DelegateAction,
                observation_type=DelegateObservation,
                # the policy checks each call of the other agent
                annotations=ToolAnnotations(
                    title="Delegate", destructiveHint=False, openWorldHint=True
                ),
                executor=DelegateExecutor(agent, conv_state),
            )
        ]
