"""What a user of toolbench writes, for `mypy --strict`: a tool of a function and one of four classes."""

from collections.abc import Sequence

from toolbench import (
    Action,
    Observation,
    ToolDefinition,
    ToolExecutor,
    run_tool,
    tool,
)


@tool(read_only=True)
def split_bill(total: float, people: int = 2) -> str:
    """Split a restaurant bill evenly."""
    return f"Everybody pays {total / people:.2f} euros."


class MeasureAction(Action):
    """A text to measure."""

    text: str


class MeasureObservation(Observation):
    """How long it is."""

    words: int


class MeasureExecutor(ToolExecutor[MeasureAction, MeasureObservation]):
    """Counts words."""

    def __call__(self, action: MeasureAction, conversation: object = None) -> MeasureObservation:
        """Count the words of the action's text."""
        words = len(action.text.split())
        return MeasureObservation.from_text(f"{words} words", words=words)


measure = ToolDefinition[MeasureAction, MeasureObservation](
    name="measure",
    description="Count words.",
    action_type=MeasureAction,
    observation_type=MeasureObservation,
    executor=MeasureExecutor(),
)


def answers() -> Sequence[str]:
    """Return what the tools answer."""
    observation: Observation = run_tool(split_bill, {"total": 84.0})
    measured = measure(MeasureAction(text="a b c"))
    return [observation.text, measured.text]
