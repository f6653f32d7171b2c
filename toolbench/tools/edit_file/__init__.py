"""The tool `edit_file`: a model writes a draft of a change, and another model applies the draft."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.edit_file.definition import EditFileAction as EditFileAction
    from toolbench.tools.edit_file.definition import (
        EditFileObservation as EditFileObservation,
    )
    from toolbench.tools.edit_file.definition import EditFileTool as EditFileTool
    from toolbench.tools.edit_file.impl import EditFileExecutor as EditFileExecutor

__getattr__, __dir__, __all__ = public_names(__name__)
