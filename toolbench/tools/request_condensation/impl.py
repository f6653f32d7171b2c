"""The request for a summary at work: it leaves a note with the conversation."""

from typing import Any

from toolbench.core.executor import ToolExecutor
from toolbench.tools.request_condensation.definition import (
    CondensationRequestAction,
    CondensationRequestObservation,
)


class CondensationRequestExecutor(
    ToolExecutor[CondensationRequestAction, CondensationRequestObservation]
):
    """Has the conversation condense before the next request."""

    def __call__(
        self, action: CondensationRequestAction, conversation: Any = None
    ) -> CondensationRequestObservation:
        """Leave the note; where no model takes part there is nothing to summarise."""
        if getattr(conversation, "agent", None) is None:
            return CondensationRequestObservation.from_text(
                "There is no conversation with a model here, so nothing to summarise.",
                is_error=True,
            )
        conversation.condense()
        return CondensationRequestObservation.from_text(
            "The older part of the conversation is summarised before your next message."
        )
