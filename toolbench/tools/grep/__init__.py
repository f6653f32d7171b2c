"""Grep: find files by what is in them."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
from toolbench.tools.grep.definition import GrepAction, GrepObservation, GrepTool

if TYPE_CHECKING:
    from toolbench.tools.grep.impl import GrepExecutor

__all__ = ["GrepAction", "GrepExecutor", "GrepObservation", "GrepTool"]

__getattr__, __dir__ = lazily(__name__, {"GrepExecutor": "impl"})
