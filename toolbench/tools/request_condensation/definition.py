"""The definition of the tool that asks for a summary: action, observation, description."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from toolbench.core.declarations import DeclaredResources, ToolAnnotations
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition


class CondensationRequestAction(Action):
    """A request to summarise the older part of the conversation."""


class CondensationRequestObservation(Observation):
    """A note that the summary will be made."""


class CondensationRequestTool(
    ToolDefinition[CondensationRequestAction, CondensationRequestObservation]
):
    """A tool with which a model asks for a summary of the older part of a conversation.

    The tool has the same name as in OpenHands, `request_condensation`.

    Examples:
        >>> from toolbench.agent.tools import CondensationRequestTool
        >>> [request] = CondensationRequestTool.create()
        >>> request.name, request.annotations.readOnlyHint
        ('request_condensation', True)
    """

    name: ClassVar[str] = "request_condensation"  # type: ignore[misc]  # as in a subclass

    def declared_resources(self, action: CondensationRequestAction) -> DeclaredResources:
        """Return no resources: the call only adds a request to the conversation."""
        return DeclaredResources()

    @classmethod
    def create(cls, conv_state: Any = None) -> Sequence[Self]:
        """Return a list with this tool; *conv_state* is not used."""
        from toolbench.tools.request_condensation.impl import (  # noqa: PLC0415 - as in OpenHands
            CondensationRequestExecutor,
        )

        return [
            cls(
                description=(
                    "Asks for a summary of the older part of this conversation, to make room. "
                    "Before your next message the older messages are replaced by the summary; "
                    "the latest ones stay. Use it when the conversation has grown long and its "
                    "details are not needed any more."
                ),
                action_type=CondensationRequestAction,
                observation_type=CondensationRequestObservation,
                annotations=ToolAnnotations(
                    title="Request condensation",
                    readOnlyHint=True,
                    destructiveHint=False,
                    idempotentHint=True,
                    openWorldHint=False,
                ),
                executor=CondensationRequestExecutor(),
            )
        ]
