"""The tool that reads web pages as Markdown."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.web_read.definition import WebReadAction as WebReadAction
    from toolbench.tools.web_read.definition import (
        WebReadObservation as WebReadObservation,
    )
    from toolbench.tools.web_read.definition import WebReadTool as WebReadTool
    from toolbench.tools.web_read.impl import WebReadExecutor as WebReadExecutor

__getattr__, __dir__, __all__ = public_names(__name__)
