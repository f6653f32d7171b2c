"""The patch tool at work: read the patch, work everything out, then change all files together."""

import os
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from toolbench.core.executor import ToolExecutor
from toolbench.tools.apply_patch.definition import (
    LETTERS,
    ApplyPatchAction,
    ApplyPatchObservation,
    Commit,
    PatchedFile,
)
from toolbench.tools.apply_patch.merge import merge
from toolbench.tools.apply_patch.patch import FilePatch, parse
from toolbench.tools.failure import RunError, count, readable
from toolbench.tools.files import disk
from toolbench.tools.files.paths import Places, check_path, working_dir_of
from toolbench.tools.files.textfile import BinaryError, TextFile, decode
from toolbench.tools.files.together import FileChange, change_together


class _Planned(NamedTuple):
    changes: list[FileChange]
    summary: PatchedFile
    fuzz: int = 0


class ApplyPatchExecutor(ToolExecutor[ApplyPatchAction, ApplyPatchObservation]):
    """Applies patches inside one directory, one at a time."""

    def __init__(
        self, conv_state: Any = None, *, workspace_root: str | Path | None = None
    ) -> None:
        """Change files in the working directory of *conv_state*, or in *workspace_root*."""
        working_dir = working_dir_of(conv_state, workspace_root)
        self._places = Places(working_dir, working_dir)
        self.root = working_dir
        self._lock = Lock()

    def __call__(
        self, action: ApplyPatchAction, conversation: Any = None
    ) -> ApplyPatchObservation:
        """Apply the patch of *action*, or say why nothing was changed."""
        try:
            with self._lock:
                return self._apply(action.patch)
        except RunError as failure:
            message = str(failure)
        return ApplyPatchObservation.from_text(message, is_error=True, message=message)

    def _apply(self, patch: str) -> ApplyPatchObservation:
        files = parse(patch)
        plans = [self._planned(file) for file in files]
        changes = [change for plan in plans for change in plan.changes]
        _check_different(changes)
        change_together(changes)
        fuzz = sum(plan.fuzz for plan in plans)
        lines = ["Applied the patch."]
        if fuzz:
            lines[0] += f" Fitted only loosely: {count(fuzz, 'line')}. Check them."
        lines += [_line(file) for file in files]
        message = "\n".join(lines)
        summary = {f.path: p.summary for f, p in zip(files, plans, strict=True)}
        return ApplyPatchObservation.from_text(
            message, message=message, fuzz=fuzz, commit=Commit(changes=summary)
        )

    def _planned(self, file: FilePatch) -> _Planned:
        path = self._path(file.path)
        if file.kind == "add":
            return self._added(file, path)
        if not path.exists():
            raise self._places.missing(path)
        if path.is_symlink() and (file.kind == "delete" or file.move_to):
            msg = f"{file.path} is a symbolic link; nothing was changed. Name the file it leads to."
            raise RunError(msg)
        return (
            self._deleted(path) if file.kind == "delete" else self._updated(file, path)
        )

    def _added(self, file: FilePatch, path: Path) -> _Planned:
        text = "".join(f"{line}\n" for part in file.parts for _, line in part.lines)
        _check_free(file.path, path)
        change = FileChange(path, TextFile().encode(text), None, path)
        return _Planned([change], PatchedFile(type="add", new_content=text))

    def _deleted(self, path: Path) -> _Planned:
        found = disk.read(path)
        try:
            old = readable(decode(found.data).text)
        except BinaryError:
            old = None
        change = FileChange(path, None, found.stamp, path)
        return _Planned([change], PatchedFile(type="delete", old_content=old))

    def _updated(self, file: FilePatch, path: Path) -> _Planned:
        path = Path(os.path.realpath(path))
        found = disk.read(path)
        try:
            old = decode(found.data)
        except BinaryError:
            msg = f"{file.path} is a binary file; nothing was changed. Patches are for text."
            raise RunError(msg) from None
        text, fuzz = merge(file.path, old, file.parts)
        changes = [FileChange(path, old.encode(text), found.stamp, path)]
        if file.move_to:
            target = self._path(file.move_to)
            _check_free(file.move_to, target)
            gone = FileChange(path, None, found.stamp, path)
            changes = [FileChange(target, old.encode(text), None, path), gone]
        summary = PatchedFile(
            type="update",
            old_content=readable(old.text),
            new_content=readable(text),
            move_path=file.move_to,
        )
        return _Planned(changes, summary, fuzz)

    def _path(self, named: str) -> Path:
        """Return where *named* is, the links above it followed."""
        check_path(named)
        path = self.root / named
        self._places.check_inside(path)
        return Path(os.path.realpath(path.parent), path.name)


def _check_free(named: str, path: Path) -> None:
    if os.path.lexists(path):
        msg = f"{named} exists already; nothing was changed. Update it, or choose another path."
        raise RunError(msg)


def _check_different(changes: list[FileChange]) -> None:
    paths = [change.path for change in changes]
    for path in paths:
        if paths.count(path) > 1:
            msg = f"The patch names {readable(str(path))} twice; nothing was changed. Put all its parts under one heading."
            raise RunError(msg)


def _line(file: FilePatch) -> str:
    moved = f" -> {file.move_to}" if file.move_to else ""
    return f"{LETTERS[file.kind]} {file.path}{moved}"
