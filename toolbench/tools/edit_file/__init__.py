"""The editor that has a model apply a draft to a part of a file."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
from toolbench.tools.edit_file.definition import (
    EditFileAction,
    EditFileObservation,
    EditFileTool,
)

if TYPE_CHECKING:
    from toolbench.tools.edit_file.impl import EditFileExecutor

__all__ = ["EditFileAction", "EditFileExecutor", "EditFileObservation", "EditFileTool"]

__getattr__, __dir__ = lazily(__name__, {"EditFileExecutor": "impl"})
