"""The file editor at work: find the file, change its text, write it back."""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from toolbench.core.content import ImageContent, TextContent
from toolbench.core.executor import ToolExecutor
from toolbench.core.results import contents_of
from toolbench.tools.failure import RunError, count, readable, run_error
from toolbench.tools.file_editor.definition import (
    FileEditorAction,
    FileEditorObservation,
)
from toolbench.tools.file_editor.edits import Change, insertion, replacement
from toolbench.tools.file_editor.excerpt import excerpt, line_count, offset_of
from toolbench.tools.file_editor.history import Edit, History
from toolbench.tools.file_editor.listing import listing
from toolbench.tools.files import disk
from toolbench.tools.files.paths import Places, working_dir_of
from toolbench.tools.files.textfile import BinaryError, TextFile, decode

_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")


class FileEditorExecutor(ToolExecutor[FileEditorAction, FileEditorObservation]):
    """Runs the commands of the file editor, one at a time, and remembers its edits."""

    def __init__(
        self,
        conv_state: Any = None,
        *,
        workspace_root: str | Path | None = None,
    ) -> None:
        """Work for *conv_state*, in the whole file system or only inside *workspace_root*."""
        working_dir = working_dir_of(conv_state, workspace_root)
        self.places = Places(working_dir, working_dir if workspace_root else None)
        self._history = History()
        self._lock = Lock()  # what is read must not change before it is written
        self._commands: dict[
            str, Callable[[FileEditorAction], FileEditorObservation]
        ] = {
            "view": self._view,
            "create": self._create,
            "str_replace": self._str_replace,
            "insert": self._insert,
            "undo_edit": self._undo,
        }

    def __call__(
        self, action: FileEditorAction, conversation: Any = None
    ) -> FileEditorObservation:
        """Run the command of *action*."""
        try:
            with self._lock:
                return self._commands[action.command](action)
        except RunError as failure:
            sentence = str(failure)
        except OSError as error:
            sentence = str(run_error(error, f"{action.command} {action.path}"))
        return FileEditorObservation.from_text(
            sentence, is_error=True, command=action.command, path=readable(action.path)
        )

    # --- looking ------------------------------------------------------------------

    def _view(self, action: FileEditorAction) -> FileEditorObservation:
        path = self._existing(action)
        if path.is_dir():
            if action.view_range:
                msg = f"{action.path} is a directory: leave out view_range, or give a file."
                raise RunError(msg)
            return _shown(action, listing(path))
        snapshot = disk.read(path)
        if path.suffix.lower() in _IMAGES and (image := _image(snapshot.data)):
            text = TextContent(text=f"The image {readable(str(path))}:")
            return FileEditorObservation(
                command="view", path=readable(action.path), content=[text, image]
            )
        return _shown(action, _numbered(action, _text(path, snapshot.data)))

    def _existing(self, action: FileEditorAction) -> Path:
        path = self.places.absolute(action.path)
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise self.places.missing(path) from None
        if path.is_dir() and action.command != "view":
            msg = f"{action.path} is a directory, which only `view` can take. Give the path of a file."
            raise RunError(msg)
        return path

    # --- changing -----------------------------------------------------------------

    def _create(self, action: FileEditorAction) -> FileEditorObservation:
        path = self.places.absolute(action.path)
        if action.file_text is None:
            msg = "`create` needs `file_text`: call it again with the text of the file."
            raise RunError(msg)
        if os.path.lexists(path):
            msg = f"{action.path} exists already. Change it with str_replace or insert, or choose another path."
            raise RunError(msg)
        data = TextFile().encode(action.file_text)
        stamp = disk.write(path, data, None)
        self._history.add(Edit(_real(path), None, None, stamp))
        lines = count(line_count(action.file_text), "line")
        return FileEditorObservation.from_text(
            f"Created {action.path} ({lines}).",
            command="create",
            path=readable(action.path),
            prev_exist=False,
            new_content=action.file_text,
        )

    def _str_replace(self, action: FileEditorAction) -> FileEditorObservation:
        old, new = action.old_str, action.new_str or ""
        if old is None:
            msg = (
                "`str_replace` needs `old_str`: call it again with the text to replace."
            )
            raise RunError(msg)
        return self._edit(action, lambda text: replacement(text, old, new))

    def _insert(self, action: FileEditorAction) -> FileEditorObservation:
        line, new = action.insert_line, action.new_str
        if line is None or new is None:
            msg = "`insert` needs `insert_line` and `new_str`: call it again with both."
            raise RunError(msg)
        return self._edit(action, lambda text: insertion(text, line, new))

    def _edit(
        self, action: FileEditorAction, change: Callable[[TextFile], Change]
    ) -> FileEditorObservation:
        path = self._existing(action)
        snapshot = disk.read(path)
        file = _text(path, snapshot.data)
        made = change(file)
        stamp = disk.write(path, file.encode(made.text), snapshot.stamp)
        self._history.add(Edit(_real(path), snapshot.data, snapshot.stamp, stamp))
        text = f"Edited {action.path}{made.note}:\n{made.surroundings}"
        return self._changed(action, file, made.text, text)

    def _undo(self, action: FileEditorAction) -> FileEditorObservation:
        path = self.places.absolute(action.path)
        edit = self._history.last(_real(path))
        if edit is None:
            msg = f"There is no edit of {action.path} to take back: this editor made none, or forgot it."
            raise RunError(msg)
        if disk.Stamp.of(edit.path) != edit.left:
            msg = (
                f"{action.path} was changed by something else since the last edit, and that would "
                "be lost; nothing was undone. View it, then edit it as it is now."
            )
            raise RunError(msg)
        now = _text(path, disk.read(edit.path).data)
        stamp = disk.put_back(edit.path, edit.before, edit.left)
        self._history.forget(edit, stamp)
        if edit.before is None:
            text = f"Took back the last edit: {action.path} is removed again."
            return self._changed(action, now, None, text)
        text = f"Took back the last edit of {action.path}."
        return self._changed(action, now, decode(edit.before).text, text)

    def _changed(
        self, action: FileEditorAction, file: TextFile, new: str | None, text: str
    ) -> FileEditorObservation:
        clean = readable if file.errors != "strict" else str
        return FileEditorObservation.from_text(
            clean(text),
            command=action.command,
            path=readable(action.path),
            old_content=clean(file.text),
            new_content=None if new is None else clean(new),
        )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _text(path: Path, data: bytes) -> TextFile:
    try:
        return decode(data)
    except BinaryError:
        msg = f"{readable(str(path))} is a binary file ({count(len(data), 'byte')}), not text. Use another tool for it."
        raise RunError(msg) from None


def _image(data: bytes) -> ImageContent | None:
    """Return *data* as an image; `None` if only its name says it is one."""
    found = contents_of(data)[0]
    return found if isinstance(found, ImageContent) else None


def _numbered(action: FileEditorAction, file: TextFile) -> str:
    total = line_count(file.text)
    first, last = action.view_range or (1, -1)
    last = total if last == -1 else last
    if not total and not action.view_range:
        return f"{action.path} is empty."
    if not 1 <= first <= min(last, total):
        msg = (
            f"view_range {action.view_range} does not fit: the file has {count(total, 'line')}. "
            "Give [first, last] counted from 1, last -1 for the end."
        )
        raise RunError(msg)
    head = f"{action.path}, {count(total, 'line')}{file.traits}"
    if last > total:
        head += f" (there are no lines after {total})"
    start = offset_of(file.text, first)
    end = len(file.text)
    if last < total:
        end = offset_of(file.text, last - first + 2, start)
    lines = min(last, total) - first + 1
    return readable(f"{head}:\n{excerpt(file.text, start, end, first, lines)}")


def _shown(action: FileEditorAction, text: str) -> FileEditorObservation:
    return FileEditorObservation.from_text(
        text, command="view", path=readable(action.path)
    )
