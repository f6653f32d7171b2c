"""Python cells: code in the namespace of this kernel, or in one of its own."""

from typing import TYPE_CHECKING, Any

from toolbench.tools.ipython.definition import (
    IPythonAction,
    IPythonObservation,
    IPythonTool,
)

if TYPE_CHECKING:
    from toolbench.tools.ipython.impl import IPythonExecutor

__all__ = ["IPythonAction", "IPythonExecutor", "IPythonObservation", "IPythonTool"]


def __getattr__(name: str) -> Any:
    if name != "IPythonExecutor":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from toolbench.tools.ipython.impl import (  # noqa: PLC0415 - only who asks pays
        IPythonExecutor,
    )

    return IPythonExecutor
