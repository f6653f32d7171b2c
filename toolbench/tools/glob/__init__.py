"""Glob: find files by their paths."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
from toolbench.tools.glob.definition import GlobAction, GlobObservation, GlobTool

if TYPE_CHECKING:
    from toolbench.tools.glob.impl import GlobExecutor

__all__ = ["GlobAction", "GlobExecutor", "GlobObservation", "GlobTool"]

__getattr__, __dir__ = lazily(__name__, {"GlobExecutor": "impl"})
