"""The tool glob: find files by their paths."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.glob.definition import GlobAction as GlobAction
    from toolbench.tools.glob.definition import GlobObservation as GlobObservation
    from toolbench.tools.glob.definition import GlobTool as GlobTool
    from toolbench.tools.glob.impl import GlobExecutor as GlobExecutor

__getattr__, __dir__, __all__ = public_names(__name__)
