"""The file editor: view, create and edit files."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
from toolbench.tools.file_editor.definition import (
    FileEditorAction,
    FileEditorObservation,
    FileEditorTool,
)

if TYPE_CHECKING:
    from toolbench.tools.file_editor.impl import FileEditorExecutor

__all__ = [
    "FileEditorAction",
    "FileEditorExecutor",
    "FileEditorObservation",
    "FileEditorTool",
]

__getattr__, __dir__ = lazily(__name__, {"FileEditorExecutor": "impl"})
