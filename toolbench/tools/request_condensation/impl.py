"""The executor that requests a summary of the conversation."""

from typing import Any

from toolbench.core.executor import ToolExecutor
from toolbench.tools.request_condensation.definition import (
    CondensationRequestAction,
    CondensationRequestObservation,
)


class CondensationRequestExecutor(
    ToolExecutor[CondensationRequestAction, CondensationRequestObservation]
):
    """The executor that asks the conversation to summarise its older part before the next request."""

    def __call__(
        self, action: CondensationRequestAction, conversation: Any = None
    ) -> CondensationRequestObservation:
        """Request the summary; if the conversation has no agent, return an error."""
        if getattr(conversation, "agent", None) is None:
            return CondensationRequestObservation.from_text(
                "There is no conversation with a model here, so nothing to summarise.",
                is_error=True,
            )
        conversation.condense()
        return CondensationRequestObservation.from_text(
            "The older part of the conversation is summarised before your next message."
        )
