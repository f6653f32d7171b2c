"""The tool by which a model asks the person."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
from toolbench.tools.ask_human.definition import (
    AskHumanAction,
    AskHumanObservation,
    AskHumanTool,
)

if TYPE_CHECKING:
    from toolbench.tools.ask_human.impl import AskHumanExecutor

__all__ = ["AskHumanAction", "AskHumanExecutor", "AskHumanObservation", "AskHumanTool"]

__getattr__, __dir__ = lazily(__name__, {"AskHumanExecutor": "impl"})
