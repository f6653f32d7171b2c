"""Web pages as Markdown."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
from toolbench.tools.web_read.definition import (
    WebReadAction,
    WebReadObservation,
    WebReadTool,
)

if TYPE_CHECKING:
    from toolbench.tools.web_read.impl import WebReadExecutor

__all__ = ["WebReadAction", "WebReadExecutor", "WebReadObservation", "WebReadTool"]

__getattr__, __dir__ = lazily(__name__, {"WebReadExecutor": "impl"})
