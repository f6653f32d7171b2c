"""The definition of the task tracker: its tasks, action, observation and description."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.declarations import DeclaredResources, ToolAnnotations
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.tools.files.paths import resource_of

_ALIASES = {
    "to_do": "todo",
    "pending": "todo",
    "completed": "done",
    "complete": "done",
}
_ICONS = {"todo": "⏳", "in_progress": "🔄", "done": "✅"}


def _status(value: Any) -> Any:
    """Return the status that *value* means: models also write `pending` or `completed`."""
    if not isinstance(value, str):
        return value
    name = value.strip().lower().replace("-", "_").replace(" ", "_")
    return _ALIASES.get(name, name)


Status = Annotated[Literal["todo", "in_progress", "done"], BeforeValidator(_status)]
Command = Literal["view", "plan"]


class TaskItem(BaseModel):
    """One task. Unknown fields, such as the `id` in older lists, are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str = Field(description="What is to be done, in a few words.")
    notes: str = Field(default="", description="Details: files, findings, what is left.")
    status: Status = Field(default="todo", description="Its progress.")


class TaskTrackerAction(Action):
    """Look at the task list, or replace it."""

    command: Command = Field(
        default="view",
        description="`view` shows the list; `plan` replaces it with `task_list`.",
    )
    task_list: list[TaskItem] = Field(
        default=[],
        description="For `plan`: all tasks in order, including unchanged ones; [] clears the list.",
    )

    @property
    def visualize(self) -> RenderableType:
        """The command; for the command `plan`, also the new tasks."""
        if self.command == "view":
            return Text("View the task list", style="bold")
        return Text("Plan\n", style="bold").append_text(checklist(self.task_list))


class TaskTrackerObservation(Observation):
    """The task list after the command."""

    command: Command = Field(description="The command that ran.")
    task_list: list[TaskItem] = Field(default=[], description="The tasks, in order.")

    @property
    def visualize(self) -> RenderableType:
        """The tasks; for an error, or if there are no tasks, the text for the model."""
        if self.is_error or not self.task_list:
            return super().visualize
        head = Text(summary(self.task_list) + "\n", style="bold")
        return head.append_text(checklist(self.task_list))


def summary(tasks: Sequence[TaskItem]) -> str:
    """Return the number of *tasks* by status: `3 tasks: 1 done, 1 in progress, 1 to do`."""
    states = [task.status for task in tasks]
    labels = {"done": "done", "in_progress": "in progress", "todo": "to do"}
    parts = [f"{states.count(s)} {n}" for s, n in labels.items() if s in states]
    return f"{len(tasks)} task{'s' * (len(tasks) != 1)}: {', '.join(parts) or 'none'}"


def checklist(tasks: Sequence[TaskItem]) -> Text:
    """Return *tasks* for display: a line for each task, and its notes below."""
    view = Text()
    for number, task in enumerate(tasks, 1):
        view.append(f"{_ICONS[task.status]} {number}. ").append(f"{task.title}\n")
        if task.notes:
            notes = task.notes.replace("\n", "\n      ")
            view.append(f"      {notes}\n", style="italic dim")
    view.rstrip()
    return view


_DESCRIPTION = """\
Keeps the list of tasks of a longer piece of work, in order, each with notes and a status.

- `view` shows the list.
- `plan` replaces the whole list with `task_list`: send every task again, even if it did not \
change. `[]` clears the list.

A task has a `title`, optional `notes`, and a `status`: `todo`, `in_progress` or `done`.

Use it for work of three or more steps, when the user gives several requests, and whenever a \
step is begun, finished or found on the way. Keep one task `in_progress`, and set it `done` \
only when it is finished and checked. Do not use it for a single step or a question, and not \
to store files or results.

Example:
{"command": "plan", "task_list": [{"title": "Reproduce the crash", "status": "done"}, \
{"title": "Fix the parser", "status": "in_progress", "notes": "tokens.py, empty input"}, \
{"title": "Add a test"}]}"""


class TaskTrackerTool(ToolDefinition[TaskTrackerAction, TaskTrackerObservation]):
    """A tool that keeps a list of tasks.

    The tool and its arguments have the same names as in OpenHands' `task_tracker`.

    Examples:
        >>> from toolbench.tools import TaskTrackerTool
        >>> [tracker] = TaskTrackerTool.create(save_dir="plan")
        >>> steps = [{"title": "Fix the parser", "status": "done"}, {"title": "Add a test"}]
        >>> result = tracker(command="plan", task_list=steps)
        >>> print(tracker(command="view").text)
        2 tasks: 1 done, 1 to do.
        1. [x] Fix the parser
        2. [ ] Add a test
    """

    def declared_resources(self, action: TaskTrackerAction) -> DeclaredResources:
        """Return the task list as a resource: calls with the same list run one after another."""
        file = getattr(self.executor, "file", None)
        name = f"task_tracker:{id(self.executor)}" if file is None else resource_of(file)
        return DeclaredResources((name,))

    @classmethod
    def create(
        cls, conv_state: Any = None, *, save_dir: str | Path | None = None
    ) -> Sequence[Self]:
        """Return a list with this tool.

        Args:
            conv_state: The state of the conversation. The task list is saved in `TASKS.json` in the
                persistence directory of this state.
            save_dir: The directory in which `TASKS.json` is saved instead. If the state has no
                persistence directory and *save_dir* is left out, the list is not saved.
        """
        from toolbench.tools.task_tracker.impl import (  # noqa: PLC0415 - as in OpenHands: a definition does not import its implementation
            TaskTrackerExecutor,
        )

        if save_dir is None and conv_state is not None:
            save_dir = conv_state.persistence_dir
        return [
            cls(
                description=_DESCRIPTION,
                action_type=TaskTrackerAction,
                observation_type=TaskTrackerObservation,
                annotations=ToolAnnotations(
                    title="Task tracker",
                    destructiveHint=False,
                    idempotentHint=True,
                    openWorldHint=False,
                ),
                executor=TaskTrackerExecutor(save_dir),
            )
        ]
