"""The file editor: view, create and edit files."""

from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name != "FileEditorExecutor":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from toolbench.tools.file_editor.impl import (  # noqa: PLC0415 - only who asks pays
        FileEditorExecutor,
    )

    return FileEditorExecutor
