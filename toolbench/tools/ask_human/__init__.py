"""The tool with which a model asks the user."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.ask_human.definition import AskHumanAction as AskHumanAction
    from toolbench.tools.ask_human.definition import (
        AskHumanObservation as AskHumanObservation,
    )
    from toolbench.tools.ask_human.definition import AskHumanTool as AskHumanTool
    from toolbench.tools.ask_human.impl import AskHumanExecutor as AskHumanExecutor

__getattr__, __dir__, __all__ = public_names(__name__)
