"""Glob: find files by their paths."""

from typing import TYPE_CHECKING, Any

from toolbench.tools.glob.definition import GlobAction, GlobObservation, GlobTool

if TYPE_CHECKING:
    from toolbench.tools.glob.impl import GlobExecutor

__all__ = ["GlobAction", "GlobExecutor", "GlobObservation", "GlobTool"]


def __getattr__(name: str) -> Any:
    if name != "GlobExecutor":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from toolbench.tools.glob.impl import (  # noqa: PLC0415 - only who asks pays
        GlobExecutor,
    )

    return GlobExecutor
