"""The two tools every agent has: finish and think."""

from pydantic import Field
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.annotations import ToolAnnotations
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition

_HARMLESS = ToolAnnotations(
    readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False
)


class FinishAction(Action):
    """The end of a task."""

    message: str = Field(
        description="What the user is told: the result, and what is left."
    )

    @property
    def visualize(self) -> RenderableType:
        """The message."""
        return Text.assemble(("Finish: ", "bold blue"), self.message)


class FinishObservation(Observation):
    """The message, handed back."""


class ThinkAction(Action):
    """A thought that changes nothing."""

    thought: str = Field(description="What to think through before going on.")

    @property
    def visualize(self) -> RenderableType:
        """The thought."""
        return Text.assemble("🤔 ", (self.thought, "italic"))


class ThinkObservation(Observation):
    """That the thought was noted."""


def _finish(action: FinishAction) -> FinishObservation:
    return FinishObservation.from_text(action.message)


def _think(action: ThinkAction) -> ThinkObservation:
    return ThinkObservation.from_text("Your thought has been logged.")


FinishTool: ToolDefinition[FinishAction, FinishObservation] = ToolDefinition(
    name="finish",
    description=(
        "Ends the task with a message to the user. Call it once the task is done, or when "
        "nothing more can be done without the user. Do not call it in the middle of work."
    ),
    action_type=FinishAction,
    observation_type=FinishObservation,
    annotations=_HARMLESS.model_copy(update={"title": "Finish"}),
    executor=_finish,
)

ThinkTool: ToolDefinition[ThinkAction, ThinkObservation] = ToolDefinition(
    name="think",
    description=(
        "Notes a thought and changes nothing. Use it to work out a plan, weigh causes of a "
        "failure, or check a conclusion before acting. It returns no new information."
    ),
    action_type=ThinkAction,
    observation_type=ThinkObservation,
    annotations=_HARMLESS.model_copy(update={"title": "Think"}),
    executor=_think,
)
