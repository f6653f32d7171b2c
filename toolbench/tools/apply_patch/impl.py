"""The executor of the patch tool: parse a patch, prepare all changes, then make all changes."""

from functools import partial
from pathlib import Path
from stat import S_ISLNK
from typing import Any, NamedTuple

from toolbench.core.executor import ToolExecutor
from toolbench.tools.apply_patch.definition import (
    LETTERS,
    ApplyPatchAction,
    ApplyPatchObservation,
    Commit,
    PatchedFile,
)
from toolbench.tools.apply_patch.patch import FilePatch, merge, parse
from toolbench.tools.failure_sentence import RunError, readable, run_error
from toolbench.tools.files import disk
from toolbench.tools.files.entry import Entry
from toolbench.tools.files.locks import file_locks
from toolbench.tools.files.paths import Places, check_path, working_dir_of
from toolbench.tools.files.textfile import BinaryError, TextFile, decode
from toolbench.tools.files.together import FileChange, change_together
from toolbench.tools.undisturbed_work import undisturbed
from toolbench.wording import counted


class _Planned(NamedTuple):
    changes: list[FileChange]
    summary: PatchedFile
    fuzz: int = 0


class ApplyPatchExecutor(ToolExecutor[ApplyPatchAction, ApplyPatchObservation]):
    """The executor of the patch tool; it changes only files below one directory."""

    def __init__(self, conv_state: Any = None, *, workspace_root: str | Path | None = None) -> None:
        """Make an executor that may change only files in one directory.

        The directory is *workspace_root* or, by default, the working directory of *conv_state*. You
        can also pass the path of the directory as *conv_state*.
        """
        working_dir = working_dir_of(conv_state, workspace_root)
        self._places = Places(working_dir, working_dir)
        self.root = working_dir

    def __call__(self, action: ApplyPatchAction, conversation: Any = None) -> ApplyPatchObservation:
        """Apply the patch of *action*; if this fails, return an error, and no file is changed."""
        try:
            # In another thread: a cancelled patch is still completely applied or completely undone.
            return undisturbed(partial(self._apply, action.patch), lambda: None)
        except RunError as failure:
            message = str(failure)
        except OSError as error:
            message = str(run_error(error, "apply the patch"))
        return ApplyPatchObservation.from_text(message, is_error=True, message=message)

    def files_in(self, patch: str) -> list[Path]:
        """Return the absolute paths of the files in *patch*; empty if it is not a patch."""
        try:
            files = parse(patch)
        except RunError:
            # The call reports it
            return []
        names = [name for f in files for name in (f.path, f.move_to) if name]
        return [self.root / name for name in names]

    def preview(self, patch: str) -> list[str]:
        """Return the folder, and a line for the user about each file that *patch* changes."""
        lines = [f"in the folder {self.root}"]
        try:
            files = parse(patch)
        except RunError:
            # The call reports it
            return lines
        for file in files:
            moved = f", moved to {file.move_to}" if file.move_to else ""
            lines.append(f"{file.kind} {file.path}{moved}")
        return lines

    def _apply(self, patch: str) -> ApplyPatchObservation:
        files = parse(patch)
        entries = [self._entries(file) for file in files]
        paths = [entry.path for pair in entries for entry in pair if entry]
        with file_locks(*paths):
            plans = [self._planned(file, *pair) for file, pair in zip(files, entries, strict=True)]
            changes = [change for plan in plans for change in plan.changes]
            _check_different(changes)
            change_together(changes)
        fuzz = sum(plan.fuzz for plan in plans)
        lines = ["Applied the patch."]
        if fuzz:
            lines[0] += f" Fitted only loosely: {counted(fuzz, 'line')}. Check them."
        lines += [_line(file) for file in files]
        message = "\n".join(lines)
        summary = {f.path: p.summary for f, p in zip(files, plans, strict=True)}
        return ApplyPatchObservation.from_text(
            message, message=message, fuzz=fuzz, commit=Commit(changes=summary)
        )

    def _entries(self, file: FilePatch) -> tuple[Entry, Entry | None]:
        """Return the entries of the file's path and of its new path (None if it is not moved)."""
        is_new = file.kind == "add"
        updates = file.kind == "update" and not file.move_to
        entry = self._entry(file.path, follow=updates, is_new=is_new)
        if not is_new and entry.stat() is None:
            raise self._places.missing(entry.raw_path)
        if not file.move_to:
            return entry, None
        return entry, self._entry(file.move_to, follow=False, is_new=True)

    def _entry(self, name: str, *, follow: bool, is_new: bool) -> Entry:
        check_path(name)
        path = self.root / name
        try:
            return self._places.entry(path, follow=follow, is_new=is_new)
        except FileNotFoundError:
            raise self._places.missing(path) from None
        except OSError as error:
            raise run_error(error, f"write {readable(str(path))}") from None

    def _planned(self, file: FilePatch, entry: Entry, target: Entry | None) -> _Planned:
        if file.kind == "add":
            return self._added(file, entry)
        if (info := entry.stat()) is not None and S_ISLNK(info.st_mode):
            msg = f"{file.path} is a symbolic link; nothing was changed. Name the file it leads to."
            raise RunError(msg)
        if file.kind == "delete":
            return self._deleted(entry)
        return self._updated(file, entry, target)

    def _added(self, file: FilePatch, entry: Entry) -> _Planned:
        text = "".join(f"{line}\n" for part in file.parts for _, line in part.lines)
        _check_free(file.path, entry)
        change = FileChange(entry, TextFile().encode(text), None, entry)
        return _Planned([change], PatchedFile(type="add", new_content=text))

    def _deleted(self, entry: Entry) -> _Planned:
        file = disk.read(entry)
        try:
            old = readable(decode(file.data).text)
        except BinaryError:
            old = None
        change = FileChange(entry, None, file.stamp, entry)
        return _Planned([change], PatchedFile(type="delete", old_content=old))

    def _updated(self, file: FilePatch, entry: Entry, target: Entry | None) -> _Planned:
        content = disk.read(entry)
        try:
            old = decode(content.data)
        except BinaryError:
            msg = f"{file.path} is a binary file; nothing was changed. Patches are for text."
            raise RunError(msg) from None
        text, fuzz = merge(file.path, old, file.parts)
        changes = [FileChange(entry, old.encode(text), content.stamp, entry)]
        if target is not None and file.move_to:
            _check_free(file.move_to, target)
            removal = FileChange(entry, None, content.stamp, entry)
            changes = [FileChange(target, old.encode(text), None, entry), removal]
        summary = PatchedFile(
            type="update",
            old_content=readable(old.text),
            new_content=readable(text),
            move_path=file.move_to,
        )
        return _Planned(changes, summary, fuzz)


def _check_free(path: str, entry: Entry) -> None:
    if entry.stat() is not None:
        msg = f"{path} exists already; nothing was changed. Update it, or choose another path."
        raise RunError(msg)


def _check_different(changes: list[FileChange]) -> None:
    paths = [change.entry.path for change in changes]
    for path in paths:
        if paths.count(path) > 1:
            msg = f"The patch names {readable(str(path))} twice; nothing was changed. Put all its parts under one heading."
            raise RunError(msg)


def _line(file: FilePatch) -> str:
    moved = f" -> {file.move_to}" if file.move_to else ""
    return f"{LETTERS[file.kind]} {file.path}{moved}"
