"""The tool that runs Python cells, in the namespace of this kernel or in a new one."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.ipython.definition import IPythonAction as IPythonAction
    from toolbench.tools.ipython.definition import (
        IPythonObservation as IPythonObservation,
    )
    from toolbench.tools.ipython.definition import IPythonTool as IPythonTool
    from toolbench.tools.ipython.impl import IPythonExecutor as IPythonExecutor

__getattr__, __dir__, __all__ = public_names(__name__)
