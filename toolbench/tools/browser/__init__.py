"""The browser tool: open web pages, look at them and act on them."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.browser.definition import BrowserAction as BrowserAction
    from toolbench.tools.browser.definition import (
        BrowserObservation as BrowserObservation,
    )
    from toolbench.tools.browser.definition import BrowserTool as BrowserTool
    from toolbench.tools.browser.impl import BrowserExecutor as BrowserExecutor

__getattr__, __dir__, __all__ = public_names(__name__)
