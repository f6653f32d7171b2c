"""Web pages as Markdown."""

from typing import TYPE_CHECKING, Any

from toolbench.tools.web_read.definition import (
    WebReadAction,
    WebReadObservation,
    WebReadTool,
)

if TYPE_CHECKING:
    from toolbench.tools.web_read.impl import WebReadExecutor

__all__ = ["WebReadAction", "WebReadExecutor", "WebReadObservation", "WebReadTool"]


def __getattr__(name: str) -> Any:
    if name != "WebReadExecutor":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from toolbench.tools.web_read.impl import (  # noqa: PLC0415 - only who asks pays
        WebReadExecutor,
    )

    return WebReadExecutor
