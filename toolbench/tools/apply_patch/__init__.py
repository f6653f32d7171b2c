"""Apply patch: change several files at once, all or none."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
from toolbench.tools.apply_patch.definition import (
    ApplyPatchAction,
    ApplyPatchObservation,
    ApplyPatchTool,
)

if TYPE_CHECKING:
    from toolbench.tools.apply_patch.impl import ApplyPatchExecutor

__all__ = [
    "ApplyPatchAction",
    "ApplyPatchExecutor",
    "ApplyPatchObservation",
    "ApplyPatchTool",
]

__getattr__, __dir__ = lazily(__name__, {"ApplyPatchExecutor": "impl"})
