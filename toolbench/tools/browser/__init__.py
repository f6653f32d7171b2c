"""A browser: pages looked at and acted on."""

from typing import TYPE_CHECKING, Any

from toolbench.tools.browser.definition import (
    BrowserAction,
    BrowserObservation,
    BrowserTool,
)

if TYPE_CHECKING:
    from toolbench.tools.browser.impl import BrowserExecutor

__all__ = ["BrowserAction", "BrowserExecutor", "BrowserObservation", "BrowserTool"]


def __getattr__(name: str) -> Any:
    if name != "BrowserExecutor":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from toolbench.tools.browser.impl import (  # noqa: PLC0415 - only who asks pays
        BrowserExecutor,
    )

    return BrowserExecutor
