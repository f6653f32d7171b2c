"""The tool grep: find files by their content."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.grep.definition import GrepAction as GrepAction
    from toolbench.tools.grep.definition import GrepObservation as GrepObservation
    from toolbench.tools.grep.definition import GrepTool as GrepTool
    from toolbench.tools.grep.impl import GrepExecutor as GrepExecutor

__getattr__, __dir__, __all__ = public_names(__name__)
