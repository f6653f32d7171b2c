"""Python cells: code in the namespace of this kernel, or in one of its own."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
from toolbench.tools.ipython.definition import (
    IPythonAction,
    IPythonObservation,
    IPythonTool,
)

if TYPE_CHECKING:
    from toolbench.tools.ipython.impl import IPythonExecutor

__all__ = ["IPythonAction", "IPythonExecutor", "IPythonObservation", "IPythonTool"]

__getattr__, __dir__ = lazily(__name__, {"IPythonExecutor": "impl"})
