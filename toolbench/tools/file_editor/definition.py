"""The definition of the file editor: its action, observation and description."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.declarations import DeclaredResources, ToolAnnotations
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.text_diff import diff
from toolbench.tools.files.paths import resource_of

Command = Literal["view", "create", "str_replace", "insert", "undo_edit"]


class FileEditorAction(Action):
    """One command on one file."""

    command: Command = Field(description="What to do.")
    path: str = Field(description="Absolute path of the file; `view` also takes a directory.")
    file_text: str | None = Field(
        default=None, description="For `create`: the whole text of the new file."
    )
    old_str: str | None = Field(
        default=None,
        description="For `str_replace`: the text to replace, exactly as it is in the "
        "file, with enough lines around it to occur only once.",
    )
    new_str: str | None = Field(
        default=None,
        description="For `str_replace`: the replacement; if left out, the text is "
        "deleted. For `insert`: the lines to insert.",
    )
    insert_line: int | None = Field(
        default=None,
        ge=0,
        description="For `insert`: the number of the line to insert after; 0 for the top.",
    )
    view_range: list[int] | None = Field(
        default=None,
        min_length=2,
        max_length=2,
        description="For `view` of a file: the first and last line to show, counted from "
        "1, as in [11, 20]. The last may be -1: the end of the file.",
    )

    @property
    def visualize(self) -> RenderableType:
        """The command, its path, and the requested change."""
        view = Text.assemble((self.command, "bold"), " ", (self.path, "cyan"))
        if self.view_range:
            view.append(f" lines {self.view_range[0]} to {self.view_range[1]}")
        if self.insert_line is not None:
            view.append(f" after line {self.insert_line}")
        before, after = self.old_str or "", self.new_str or self.file_text or ""
        if before or after:
            view.append("\n").append_text(diff(before, after))
        return view


class FileEditorObservation(Observation):
    """The result of a command: the text of a file, or a change."""

    command: Command = Field(description="The command that ran.")
    path: str | None = Field(default=None, description="The file it ran on.")
    prev_exist: bool = Field(default=True, description="Whether the file was there before.")
    old_content: str | None = Field(default=None, description="The text before the edit.")
    new_content: str | None = Field(default=None, description="The text after it.")

    @property
    def visualize(self) -> RenderableType:
        """The change, line by line; if there is no change, the text of the result."""
        changed = self.old_content != self.new_content
        if self.is_error or not changed:
            return super().visualize
        head = Text.assemble((self.command, "bold"), " ", (self.path or "", "cyan"), "\n")
        return head.append_text(diff(self.old_content or "", self.new_content or ""))


TOOL_DESCRIPTION = """\
Reads and edits text files, one command per call; edits stay until they are undone.

Commands:
- `view`: a file with line numbers (`view_range` for a part), a directory two levels deep \
without hidden entries, or an image (png, jpg, gif, webp, bmp) as an image.
- `create`: a new file with `file_text`, and the directories it needs. An existing file is \
refused: edit it instead.
- `str_replace`: replaces `old_str`, which must occur exactly once in the file, with `new_str`. \
Copy it from a view, with its white space but without line numbers, and with enough lines \
around it to be unique.
- `insert`: puts `new_str` on lines of its own after line `insert_line`.
- `undo_edit`: undoes the last edit of that file; up to 10, one per call.

Limits: paths are absolute. Files over 10 MB and binary files are refused. A view is cut in \
the middle at about 16,000 characters and says which lines are missing. Encoding, byte order \
mark, line ends, owner, group, mode, extended attributes and hard links stay as they are. A \
failed edit changes nothing.

Do not use it to run programs, to search many files, or to move and delete files.

Examples:
{"command": "view", "path": "/repo/app.py", "view_range": [1, 40]}
{"command": "str_replace", "path": "/repo/app.py", "old_str": "    return a - b\\n", \
"new_str": "    return a + b\\n"}
{"command": "insert", "path": "/repo/app.py", "insert_line": 0, "new_str": "import os"}"""


class FileEditorTool(ToolDefinition[FileEditorAction, FileEditorObservation]):
    r"""A tool that views, creates and edits files.

    The tool and its arguments have the same names as in OpenHands' `file_editor`.

    Examples:
        >>> from pathlib import Path
        >>> from toolbench.tools import FileEditorTool
        >>> [editor] = FileEditorTool.create(workspace_root=".")
        >>> path = str(Path("notes.txt").resolve())
        >>> result = editor(command="create", path=path, file_text="tea\nbread\n")
        >>> result = editor(command="str_replace", path=path, old_str="tea", new_str="coffee")
        >>> Path("notes.txt").read_text()
        'coffee\nbread\n'
    """

    def declared_resources(self, action: FileEditorAction) -> DeclaredResources:
        """Return the file: calls of any tool that use the same file run one after another.

        Source: OpenHands SDK, `FileEditorTool`.
        """
        return DeclaredResources((resource_of(action.path),))

    @classmethod
    def create(
        cls,
        conv_state: Any = None,
        *,
        workspace_root: str | Path | None = None,
    ) -> Sequence[Self]:
        """Return a list with this tool.

        Args:
            conv_state: The state of the conversation. If a model sends a relative path, the error
                suggests a path in the working directory of this state.
            workspace_root: The only directory that the tool may use; links that lead out of the
                directory are refused. If left out, the tool may use the whole file system.
        """
        from toolbench.tools.file_editor.impl import (  # noqa: PLC0415 - as in OpenHands: a definition does not import its implementation
            FileEditorExecutor,
        )

        executor = FileEditorExecutor(conv_state, workspace_root=workspace_root)
        where = f"\n\nThe working directory is `{executor.places.working_dir}`."
        if executor.places.root:
            where = f"\n\nOnly files inside `{executor.places.root}` can be used."
        return [
            cls(
                description=TOOL_DESCRIPTION + where,
                action_type=FileEditorAction,
                observation_type=FileEditorObservation,
                annotations=ToolAnnotations(
                    title="File editor",
                    destructiveHint=True,
                    idempotentHint=False,
                    openWorldHint=False,
                ),
                executor=executor,
            )
        ]


# The names in OpenHands
StrReplaceEditorAction = FileEditorAction
StrReplaceEditorObservation = FileEditorObservation
StrReplaceEditorTool = FileEditorTool
