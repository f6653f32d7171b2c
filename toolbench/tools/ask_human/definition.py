"""The definition of the tool that asks the user: action, observation, description."""

from collections.abc import Sequence
from typing import Any, Self

from pydantic import Field

from toolbench.core.declarations import ToolAnnotations
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition


class AskHumanAction(Action):
    """A question for the user."""

    question: str = Field(
        min_length=1,
        description="One question that can be understood without context: what it is about, and "
        "why you ask.",
    )
    choices: list[str] | None = Field(
        default=None,
        min_length=2,
        description="The answers to choose from, if no others are possible.",
    )


class AskHumanObservation(Observation):
    """The user's answer."""

    answer: str | None = Field(default=None, description="The answer; None if the user gave none.")


class AskHumanTool(ToolDefinition[AskHumanAction, AskHumanObservation]):
    """A tool with which a model asks the user a question.

    The name `ask_human` is taken from OpenHands' descriptions of its tools.

    Examples:
        >>> from toolbench import answering, run_tool
        >>> from toolbench.agent.tools import AskHumanTool
        >>> [ask] = AskHumanTool.create()
        >>> with answering("The blue one."):
        ...     run_tool(ask, question="Which theme do you prefer?").text
        'The blue one.'
    """

    @classmethod
    def create(cls, conv_state: Any = None) -> Sequence[Self]:
        """Return a list with this tool; *conv_state* is not used."""
        from toolbench.tools.ask_human.impl import (  # noqa: PLC0415 - as in OpenHands
            AskHumanExecutor,
        )

        return [
            cls(
                description=(
                    "Asks the user one question and waits for the answer. Use it when you "
                    "cannot decide, or need something that only the user knows. Do not ask "
                    "for what you can find out with another tool, and do not ask for passwords."
                ),
                action_type=AskHumanAction,
                observation_type=AskHumanObservation,
                annotations=ToolAnnotations(
                    title="Ask the user",
                    readOnlyHint=True,
                    destructiveHint=False,
                    openWorldHint=False,
                ),
                executor=AskHumanExecutor(),
            )
        ]
