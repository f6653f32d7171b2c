"""The file editor: view, create and edit files."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.file_editor.definition import (
        FileEditorAction as FileEditorAction,
    )
    from toolbench.tools.file_editor.definition import (
        FileEditorObservation as FileEditorObservation,
    )
    from toolbench.tools.file_editor.definition import FileEditorTool as FileEditorTool
    from toolbench.tools.file_editor.definition import (
        StrReplaceEditorAction as StrReplaceEditorAction,
    )
    from toolbench.tools.file_editor.definition import (
        StrReplaceEditorObservation as StrReplaceEditorObservation,
    )
    from toolbench.tools.file_editor.definition import (
        StrReplaceEditorTool as StrReplaceEditorTool,
    )
    from toolbench.tools.file_editor.impl import (
        FileEditorExecutor as FileEditorExecutor,
    )
    from toolbench.tools.file_editor.impl import (
        StrReplaceEditorExecutor as StrReplaceEditorExecutor,
    )

__getattr__, __dir__, __all__ = public_names(__name__)
