"""The two tools every agent has: finish and think."""

from collections.abc import Sequence
from typing import Any, Self

from pydantic import Field
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.declarations import ToolAnnotations
from toolbench.core.executor import ToolExecutor
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition

_HARMLESS = ToolAnnotations(
    readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False
)


class FinishAction(Action):
    """The end of a task."""

    message: str = Field(description="The message to the user: the result, and what is left to do.")

    @property
    def visualize(self) -> RenderableType:
        """The message to the user, after the word "Finish"."""
        return Text.assemble(("Finish: ", "bold blue"), self.message)


class FinishObservation(Observation):
    """The message to the user, returned unchanged."""


class ThinkAction(Action):
    """A thought that changes nothing."""

    thought: str = Field(description="What to think through before you continue.")

    @property
    def visualize(self) -> RenderableType:
        """The thought, in italics."""
        return Text.assemble("🤔 ", (self.thought, "italic"))


class ThinkObservation(Observation):
    """A confirmation that the thought was logged."""


class FinishExecutor(ToolExecutor[FinishAction, FinishObservation]):
    """The executor of `FinishTool`: it returns the message."""

    def __call__(self, action: FinishAction, conversation: Any = None) -> FinishObservation:
        """Return the message of *action* as the observation."""
        return FinishObservation.from_text(action.message)


class ThinkExecutor(ToolExecutor[ThinkAction, ThinkObservation]):
    """The executor of `ThinkTool`: it does nothing."""

    def __call__(self, action: ThinkAction, conversation: Any = None) -> ThinkObservation:
        """Return the sentence that the reference SDK (OpenHands) returns: the thought was logged."""
        return ThinkObservation.from_text("Your thought has been logged.")


class FinishTool(ToolDefinition[FinishAction, FinishObservation]):
    """The tool with which a model ends its task.

    Source: OpenHands SDK, `FinishTool`.

    Examples:
        >>> from toolbench.core.builtins import FinishTool
        >>> [finish] = FinishTool.create()
        >>> finish(message="The bill is split: 21 euros each.").text
        'The bill is split: 21 euros each.'
    """

    @classmethod
    def create(cls, conv_state: Any = None) -> Sequence[Self]:
        """Return a sequence with this tool; *conv_state* is not used."""
        return [
            cls(
                description=(
                    "Ends the task with a message to the user. Call it once the task is done, "
                    "or when nothing more can be done without the user. Do not call it in the "
                    "middle of work."
                ),
                action_type=FinishAction,
                observation_type=FinishObservation,
                annotations=_HARMLESS.model_copy(update={"title": "Finish"}),
                executor=FinishExecutor(),
            )
        ]


class ThinkTool(ToolDefinition[ThinkAction, ThinkObservation]):
    """The tool with which a model notes a thought.

    Source: OpenHands SDK, `ThinkTool`.

    Examples:
        >>> from toolbench.core.builtins import ThinkTool
        >>> [think] = ThinkTool.create()
        >>> think(thought="The test fails only on Windows: a path separator?").text
        'Your thought has been logged.'
    """

    @classmethod
    def create(cls, conv_state: Any = None) -> Sequence[Self]:
        """Return a sequence with this tool; *conv_state* is not used."""
        return [
            cls(
                description=(
                    "Notes a thought and changes nothing. Use it to work out a plan, weigh "
                    "causes of a failure, or check a conclusion before acting. It returns no "
                    "new information."
                ),
                action_type=ThinkAction,
                observation_type=ThinkObservation,
                annotations=_HARMLESS.model_copy(update={"title": "Think"}),
                executor=ThinkExecutor(),
            )
        ]
