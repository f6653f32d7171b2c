"""The patch tool: change several files at once, either all of them or none."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.apply_patch.definition import (
        ApplyPatchAction as ApplyPatchAction,
    )
    from toolbench.tools.apply_patch.definition import (
        ApplyPatchObservation as ApplyPatchObservation,
    )
    from toolbench.tools.apply_patch.definition import ApplyPatchTool as ApplyPatchTool
    from toolbench.tools.apply_patch.impl import (
        ApplyPatchExecutor as ApplyPatchExecutor,
    )

__getattr__, __dir__, __all__ = public_names(__name__)
