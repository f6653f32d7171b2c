"""Apply patch: change several files at once, all or none."""

from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name != "ApplyPatchExecutor":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from toolbench.tools.apply_patch.impl import (  # noqa: PLC0415 - only who asks pays
        ApplyPatchExecutor,
    )

    return ApplyPatchExecutor
