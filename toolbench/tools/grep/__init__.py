"""Grep: find files by what is in them."""

from typing import TYPE_CHECKING, Any

from toolbench.tools.grep.definition import GrepAction, GrepObservation, GrepTool

if TYPE_CHECKING:
    from toolbench.tools.grep.impl import GrepExecutor

__all__ = ["GrepAction", "GrepExecutor", "GrepObservation", "GrepTool"]


def __getattr__(name: str) -> Any:
    if name != "GrepExecutor":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from toolbench.tools.grep.impl import (  # noqa: PLC0415 - only who asks pays
        GrepExecutor,
    )

    return GrepExecutor
