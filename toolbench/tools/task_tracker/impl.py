"""The executor of the task tracker: it keeps the task list in memory, or in TASKS.json."""

import os
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from toolbench.core.executor import ToolExecutor
from toolbench.jsonschema.problems import pydantic_problems
from toolbench.tools.failure_sentence import RunError, run_error
from toolbench.tools.files import disk
from toolbench.tools.files.entry import Entry
from toolbench.tools.files.locks import file_locks
from toolbench.tools.files.paths import check_directory
from toolbench.tools.task_tracker.definition import (
    Command,
    TaskItem,
    TaskTrackerAction,
    TaskTrackerObservation,
    summary,
)
from toolbench.tools.undisturbed_work import undisturbed

_TASKS = TypeAdapter(list[TaskItem])
_MARKS = {"todo": " ", "in_progress": ">", "done": "x"}


class _Loaded(NamedTuple):
    tasks: list[TaskItem]
    stamp: disk.Stamp | None = None
    note: str = ""


class TaskTrackerExecutor(ToolExecutor[TaskTrackerAction, TaskTrackerObservation]):
    """The executor that keeps a task list. A list in a file is read again at every call."""

    def __init__(self, save_dir: str | Path | None = None) -> None:
        """Make an executor that keeps its task list in the file `TASKS.json` in *save_dir*.

        If *save_dir* is None, the list is only kept in memory.

        Raises:
            ValueError: If *save_dir* cannot be a path.
        """
        self.file: Path | None = None
        """The file with the task list; None if the list is in memory."""
        if save_dir is not None:
            check_directory(save_dir)
            self.file = Path(save_dir).absolute() / "TASKS.json"
        self._tasks: list[TaskItem] = []
        self._lock = Lock()

    def __call__(
        self, action: TaskTrackerAction, conversation: Any = None
    ) -> TaskTrackerObservation:
        """Show the task list or replace it, as *action* says."""
        command = action.command
        try:
            note, tasks = undisturbed(partial(self._carry_out, action), lambda: None)
        except RunError as failure:
            return _failed(command, failure)
        except OSError as error:
            return _failed(command, run_error(error, f"{command} {self.file}"))
        return TaskTrackerObservation.from_text(
            note + _task_lines(tasks), command=command, task_list=tasks
        )

    def _carry_out(self, action: TaskTrackerAction) -> tuple[str, list[TaskItem]]:
        files = [Path(os.path.realpath(self.file))] if self.file is not None else []
        with self._lock, file_locks(*files):
            note = self._view() if action.command == "view" else self._plan(action)
            return note, self._tasks

    def _view(self) -> str:
        if self.file is None:
            return ""
        self._tasks, _, note = _load(self.file)
        return note

    def _plan(self, action: TaskTrackerAction) -> str:
        if "task_list" not in action.model_fields_set:
            msg = "`plan` needs `task_list`: call it again with all tasks, or [] to clear the list."
            raise RunError(msg)
        data, note = _dumped(action.task_list), ""
        if self.file is not None:
            _, stamp, note = _load(self.file)
            disk.write(Entry.find(self.file, is_new=True), data, stamp)
        self._tasks = action.task_list
        return note + "Saved. "


def _failed(command: Command, failure: RunError) -> TaskTrackerObservation:
    return TaskTrackerObservation.from_text(str(failure), is_error=True, command=command)


def _dumped(tasks: list[TaskItem]) -> bytes:
    try:
        return _TASKS.dump_json(tasks, indent=2) + b"\n"
    except PydanticSerializationError:
        msg = "A task has half a character, such as '\\ud800'. Write the whole character."
        raise RunError(msg) from None


def _load(file: Path) -> _Loaded:
    """Read the tasks in *file*. A file without a valid task list is renamed, to keep its content.

    Raises:
        RunError: If *file* cannot be read.
        OSError: If *file* cannot be renamed.
    """
    try:
        entry = Entry.find(file)
        if entry.stat() is None:
            return _Loaded([])
        content = disk.read(entry)
    except FileNotFoundError:
        # The directory does not exist
        return _Loaded([])
    try:
        return _Loaded(_TASKS.validate_json(content.data), content.stamp)
    except ValidationError as error:
        aside = _set_aside(file)
        why = pydantic_problems(error)[0]
        note = f"{file} had no task list ({why}); it is kept as {aside}. "
        return _Loaded([], note=note)


def _set_aside(file: Path) -> Path:
    names = (file.with_name(f"TASKS.corrupt-{n}.json") for n in count(1))
    aside = next(name for name in names if not name.exists())
    return file.rename(aside)


def _task_lines(tasks: Sequence[TaskItem]) -> str:
    if not tasks:
        return "The list is empty."
    lines = [f"{summary(tasks)}."]
    for number, task in enumerate(tasks, 1):
        lines.append(f"{number}. [{_MARKS[task.status]}] {task.title}")
        lines += [f"   {line}" for line in task.notes.splitlines()]
    return "\n".join(lines)
