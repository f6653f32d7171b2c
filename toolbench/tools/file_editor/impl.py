"""The executor of the file editor: view, create and edit files, and undo edits."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from toolbench.core.coercion import contents_of
from toolbench.core.content import ImageContent, TextContent
from toolbench.core.executor import ToolExecutor
from toolbench.tools.failure_sentence import RunError, readable, run_error
from toolbench.tools.file_editor.definition import (
    FileEditorAction,
    FileEditorObservation,
)
from toolbench.tools.file_editor.edits import Change, insertion, replacement
from toolbench.tools.file_editor.excerpt import Lines, excerpt, line_count, lines_of
from toolbench.tools.files import disk
from toolbench.tools.files.disk import Stamp
from toolbench.tools.files.entry import Entry
from toolbench.tools.files.locks import file_locks
from toolbench.tools.files.paths import Places, working_dir_of
from toolbench.tools.files.textfile import BinaryError, TextFile, decode
from toolbench.tools.undisturbed_work import undisturbed
from toolbench.wording import counted

DEPTH = 10
"""The number of edits of one file that can be undone."""
MAX_BYTES = 64 * 1024 * 1024
"""The limit, in bytes, for the old contents of all files; the oldest edits are dropped first."""
MAX_ENTRIES = 1_000
"""The most entries that the view of a directory lists."""
_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """One edit of a file, with the data that is needed to undo the edit.

    `before` is the content before the edit. `stamp_before` and `left` are the file's stamps before
    and after the edit. They show whether another program has changed the file. If the edit created
    the file, `before` and `stamp_before` are `None`.
    """

    path: Path
    before: bytes | None
    stamp_before: Stamp | None
    left: Stamp | None
    action: object = None
    """The action that asked for the edit."""


class History:
    """The edits of one editor, oldest first, for the lifetime of the editor."""

    def __init__(self) -> None:
        """Make an empty history."""
        self._edits: list[Edit] = []
        self._lock = Lock()

    def add(self, edit: Edit) -> None:
        """Add *edit*, and drop the oldest edits if there are more than DEPTH or MAX_BYTES allow."""
        with self._lock:
            self._edits.append(edit)
            of_file = [e for e in self._edits if e.path == edit.path]
            for old in of_file[:-DEPTH]:
                self._edits.remove(old)
            while sum(len(e.before or b"") for e in self._edits) > MAX_BYTES:
                del self._edits[0]

    def last(self, path: Path) -> Edit | None:
        """Return the last edit of the file at *path*; None if there is none."""
        with self._lock:
            return self._last(path)

    def _last(self, path: Path) -> Edit | None:
        return next((e for e in reversed(self._edits) if e.path == path), None)

    def forget(self, edit: Edit, stamp: Stamp | None) -> None:
        """Remove *edit* from the history after it was undone.

        *stamp* is the stamp of the file after the undo. It is stored in the previous edit of the
        file, so that this edit can be undone next. If another program changed the file between the
        two edits, the previous edit cannot be undone.
        """
        with self._lock:
            # Later edits of other files may have removed it
            if edit in self._edits:
                self._edits.remove(edit)
            previous = self._last(edit.path)
            if previous is not None and previous.left == edit.stamp_before:
                at = self._edits.index(previous)
                self._edits[at] = replace(previous, left=stamp)


class FileEditorExecutor(ToolExecutor[FileEditorAction, FileEditorObservation]):
    """The executor of the file editor. It locks a file during an edit, and can undo edits."""

    def __init__(
        self,
        conv_state: Any = None,
        *,
        workspace_root: str | Path | None = None,
    ) -> None:
        """Make an executor for files in *workspace_root*; by default, in the whole file system.

        You can also pass the path of the directory as *conv_state*.
        """
        if isinstance(conv_state, str | Path):
            conv_state, workspace_root = None, workspace_root or conv_state
        working_dir = working_dir_of(conv_state, workspace_root)
        self.places = Places(working_dir, working_dir if workspace_root else None)
        self._history = History()
        self._commands: dict[str, Callable[[FileEditorAction], FileEditorObservation]] = {
            "view": self._view,
            "create": self._create,
            "str_replace": self._str_replace,
            "insert": self._insert,
            "undo_edit": self._undo,
        }

    def __call__(self, action: FileEditorAction, conversation: Any = None) -> FileEditorObservation:
        """Run the command of *action* on its file."""
        return self._result_of(action, partial(self._commands[action.command], action))

    def _result_of(
        self, action: FileEditorAction, work: Callable[[], FileEditorObservation]
    ) -> FileEditorObservation:
        """Return the result of `work()`; if it fails, an observation with the error."""
        try:
            # In another thread: a cancelled edit still runs to its end.
            return undisturbed(work, lambda: None)
        except RunError as failure:
            sentence = str(failure)
        except OSError as error:
            sentence = str(run_error(error, f"{action.command} {action.path}"))
        return FileEditorObservation.from_text(
            sentence, is_error=True, command=action.command, path=readable(action.path)
        )

    def undoes(self, action: FileEditorAction) -> bool:
        """Tell whether *action* asks for an edit: only edits can be undone."""
        return action.command in ("create", "str_replace", "insert")

    def undo(self, action: FileEditorAction) -> FileEditorObservation:
        """Undo the edit that *action* asked for, if the file was not edited again."""
        return self.take_back(action.path, action)

    def take_back(self, path: str, asked_by: object) -> FileEditorObservation:
        """Undo the last edit of the file at *path*, if its `asked_by` was the same object."""
        undo = FileEditorAction(command="undo_edit", path=path)
        return self._result_of(undo, partial(self._undo, undo, asked_by))

    # --- looking ------------------------------------------------------------------

    def _view(self, action: FileEditorAction) -> FileEditorObservation:
        entry = self._existing(action)
        path = entry.raw_path
        if entry.is_directory():
            if action.view_range:
                msg = f"{action.path} is a directory: leave out view_range, or give a file."
                raise RunError(msg)
            return _view_of(action, _listing(entry))
        data = disk.read(entry).data
        if path.suffix.lower() in _IMAGES and (image := _image(data)):
            head = TextContent(text=f"The image {readable(str(path))}:")
            return FileEditorObservation(
                command="view", path=readable(action.path), content=[head, image]
            )
        file = _text(path, data)
        first, last = action.view_range or (1, -1)
        return _view_of(action, _numbered(action, lines_of(file.text, first, last), file.traits))

    def exists(self, action: FileEditorAction) -> bool:
        """Tell whether the path of *action* exists."""
        try:
            return self.places.entry(self.places.absolute(action.path)).stat() is not None
        except (FileNotFoundError, NotADirectoryError):
            return False

    def read(self, action: FileEditorAction) -> TextFile:
        """Return the text of the file at the path of *action*.

        Raises:
            RunError: If the file does not exist, or is not text.
        """
        entry = self._existing(action)
        return _text(entry.raw_path, disk.read(entry).data)

    def _existing(self, action: FileEditorAction) -> Entry:
        path = self.places.absolute(action.path)
        try:
            entry = self.places.entry(path)
        except (FileNotFoundError, NotADirectoryError):
            raise self.places.missing(path) from None
        if entry.stat() is None:
            raise self.places.missing(path)
        if entry.is_directory() and action.command != "view":
            msg = f"{action.path} is a directory, which only `view` can take. Give the path of a file."
            raise RunError(msg)
        return entry

    # --- changing -----------------------------------------------------------------

    def create(self, action: FileEditorAction, asked_by: object) -> FileEditorObservation:
        """Create the file of *action*. To undo this, pass *asked_by* to `take_back`."""
        return self._result_of(action, partial(self._create, action, asked_by))

    def _create(self, action: FileEditorAction, asked_by: object = None) -> FileEditorObservation:
        path = self.places.absolute(action.path)
        if action.file_text is None:
            msg = "`create` needs `file_text`: call it again with the text of the file."
            raise RunError(msg)
        data = TextFile().encode(action.file_text)
        try:
            entry = self.places.entry(path, follow=False, is_new=True)
            self._write_new(entry, data, asked_by or action)
        except OSError as error:
            raise run_error(error, f"write {readable(action.path)}") from None
        lines = counted(line_count(action.file_text), "line")
        return FileEditorObservation.from_text(
            f"Created {action.path} ({lines}).",
            command="create",
            path=readable(action.path),
            prev_exist=False,
            new_content=action.file_text,
        )

    def _write_new(self, entry: Entry, data: bytes, asked_by: object) -> None:
        with file_locks(entry.path):
            if entry.stat() is not None:
                msg = f"{readable(str(entry.raw_path))} exists already. Change it with str_replace or insert, or choose another path."
                raise RunError(msg)
            stamp = disk.write(entry, data, None)
            self._history.add(Edit(entry.path, None, None, stamp, asked_by))

    def _str_replace(self, action: FileEditorAction) -> FileEditorObservation:
        old, new = action.old_str, action.new_str or ""
        if old is None:
            msg = "`str_replace` needs `old_str`: call it again with the text to replace."
            raise RunError(msg)
        return self.edit(action, lambda text: replacement(text, old, new))

    def _insert(self, action: FileEditorAction) -> FileEditorObservation:
        line, new = action.insert_line, action.new_str
        if line is None or new is None:
            msg = "`insert` needs `insert_line` and `new_str`: call it again with both."
            raise RunError(msg)
        return self.edit(action, lambda text: insertion(text, line, new))

    def edit(
        self,
        action: FileEditorAction,
        change: Callable[[TextFile], Change],
        asked_by: object = None,
    ) -> FileEditorObservation:
        """Change the text of the file that *action* names, and add the edit to the history.

        Args:
            action: The action with the path of the file.
            change: A function that gets the file's text and returns the changed text.
            asked_by: The action to pass to `take_back` to undo this edit later. By default, it is
                *action*. Another tool that edits through this executor passes its own action.

        Raises:
            RunError: If the file does not exist or cannot be changed. In this case, the file stays
                as it is.
        """
        entry = self._existing(action)
        with file_locks(entry.path):
            disk_file = disk.read(entry)
            file = _text(entry.raw_path, disk_file.data)
            edited = change(file)
            stamp = disk.write(entry, file.encode(edited.text), disk_file.stamp)
            before, stamp_before = disk_file.data, disk_file.stamp
            self._history.add(Edit(entry.path, before, stamp_before, stamp, asked_by or action))
        text = f"Edited {action.path}{edited.note}:\n{edited.surroundings}"
        return self._changed(action, file, edited.text, text)

    def _undo(self, action: FileEditorAction, asked_by: object = None) -> FileEditorObservation:
        path = self.places.absolute(action.path)
        entry = self.places.entry(path)
        with file_locks(entry.path):
            return self._taken_back(action, entry, asked_by)

    def _taken_back(
        self, action: FileEditorAction, entry: Entry, asked_by: object
    ) -> FileEditorObservation:
        edit = self._history.last(entry.path)
        if edit is None and asked_by is not None:
            msg = (
                f"This edit of {action.path} cannot be undone: it was made in an earlier session "
                "or another conversation, was undone already, or is too old. View the file, then "
                "edit it as it is now."
            )
            raise RunError(msg)
        if edit is None:
            msg = (
                f"There is no edit of {action.path} to undo: this editor made none, or dropped it."
            )
            raise RunError(msg)
        if asked_by is not None and edit.action != asked_by:
            msg = (
                f"The last edit of {action.path} is another edit: this edit was undone already, "
                "or other edits followed; nothing was undone."
            )
            raise RunError(msg)
        if Stamp.of(entry.path) != edit.left:
            msg = (
                f"{action.path} was changed by something else after the last edit, and this change "
                "would be lost; nothing was undone. View the file, then edit it as it is now."
            )
            raise RunError(msg)
        now = _text(entry.raw_path, disk.read(entry).data)
        stamp = disk.put_back(entry, edit.before, edit.left)
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


def _text(path: Path, data: bytes) -> TextFile:
    try:
        return decode(data)
    except BinaryError:
        msg = f"{readable(str(path))} is a binary file ({counted(len(data), 'byte')}), not text. Use another tool for it."
        raise RunError(msg) from None


def _image(data: bytes) -> ImageContent | None:
    """Return *data* as an image; `None` if *data* is not an image."""
    block = contents_of(data)[0]
    if isinstance(block, ImageContent):
        return block
    return None


def _numbered(action: FileEditorAction, lines: Lines, traits: str) -> str:
    first, last = action.view_range or (1, -1)
    total = lines.total
    last = total if last == -1 else last
    if not total and not action.view_range:
        return f"{action.path} is empty."
    if not 1 <= first <= min(last, total):
        msg = (
            f"view_range {action.view_range} does not fit: the file has {counted(total, 'line')}. "
            "Give [first, last] counted from 1, last -1 for the end."
        )
        raise RunError(msg)
    head = f"{action.path}, {counted(total, 'line')}{traits}"
    if last > total:
        head += f" (there are no lines after {total})"
    count = min(last, total) - first + 1
    text = excerpt(lines.text, lines.start, lines.end, first, count)
    return readable(f"{head}:\n{text}")


def _view_of(action: FileEditorAction, text: str) -> FileEditorObservation:
    return FileEditorObservation.from_text(text, command="view", path=readable(action.path))


def _listing(directory: Entry) -> str:
    """Return the visible entries of *directory* and of the directories in it, one per line.

    Directories end in `/`. Links are shown with their target, and are not followed.

    Raises:
        RunError: If *directory* itself cannot be read.
    """
    path = str(directory.raw_path)
    lines = []
    try:
        entries = _sorted(directory.path)
        for entry in entries:
            lines += _entry_lines(path.rstrip("/"), entry)
    except OSError as error:
        raise run_error(error, f"list {readable(path)}") from None
    hidden = sum(entry.name.startswith(".") for entry in entries)
    listed_lines = [readable(line) for line in lines[:MAX_ENTRIES]]
    return "\n".join([_listing_head(path, hidden, len(lines)), *listed_lines])


def _listing_head(directory: str, hidden: int, total: int) -> str:
    head = f"{readable(directory).rstrip('/')}/, two levels deep"
    if hidden:
        head += f", {hidden:,} hidden left out"
    if total > MAX_ENTRIES:
        head += (
            f", the first {MAX_ENTRIES:,} of {total:,} entries (view a directory below it for more)"
        )
    return head + (":" if total else ": empty")


def _entry_lines(path: str, entry: os.DirEntry[str]) -> list[str]:
    """Return the lines for *entry*, which is in the directory *path*."""
    if entry.name.startswith("."):
        return []
    if not entry.is_dir(follow_symlinks=False):
        return [_entry_line(path, entry)]
    here = f"{path}/{entry.name}"
    try:
        entries = [below for below in _sorted(entry.path) if not below.name.startswith(".")]
        return [f"{here}/", *(_entry_line(here, below) for below in entries)]
    except OSError as error:
        return [f"{here}/ ({(error.strerror or 'unreadable').lower()})"]


def _entry_line(path: str, entry: os.DirEntry[str]) -> str:
    here = f"{path}/{entry.name}"
    if entry.is_symlink():
        return f"{here} -> {os.readlink(entry.path)}"  # noqa: PTH115 - a text
    if entry.is_dir(follow_symlinks=False):
        here += "/"
    return here


def _sorted(directory: str | Path) -> list[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        return sorted(entries, key=lambda entry: entry.name)


# The name in OpenHands
StrReplaceEditorExecutor = FileEditorExecutor
