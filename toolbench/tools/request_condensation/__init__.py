"""The tool that asks for a summary of a conversation that has grown long."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
from toolbench.tools.request_condensation.definition import (
    CondensationRequestAction,
    CondensationRequestObservation,
    CondensationRequestTool,
)

if TYPE_CHECKING:
    from toolbench.tools.request_condensation.impl import CondensationRequestExecutor

__all__ = [
    "CondensationRequestAction",
    "CondensationRequestExecutor",
    "CondensationRequestObservation",
    "CondensationRequestTool",
]

__getattr__, __dir__ = lazily(__name__, {"CondensationRequestExecutor": "impl"})
