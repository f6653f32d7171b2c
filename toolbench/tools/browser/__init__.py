"""A browser: pages looked at and acted on."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
from toolbench.tools.browser.definition import (
    BrowserAction,
    BrowserObservation,
    BrowserTool,
)

if TYPE_CHECKING:
    from toolbench.tools.browser.impl import BrowserExecutor

__all__ = ["BrowserAction", "BrowserExecutor", "BrowserObservation", "BrowserTool"]

__getattr__, __dir__ = lazily(__name__, {"BrowserExecutor": "impl"})
