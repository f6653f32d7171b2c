"""The task tracker: a list of tasks with statuses, kept in a file."""

from typing import TYPE_CHECKING, Any

from toolbench.tools.task_tracker.definition import (
    TaskItem,
    TaskTrackerAction,
    TaskTrackerObservation,
    TaskTrackerTool,
)

if TYPE_CHECKING:
    from toolbench.tools.task_tracker.impl import TaskTrackerExecutor

__all__ = [
    "TaskItem",
    "TaskTrackerAction",
    "TaskTrackerExecutor",
    "TaskTrackerObservation",
    "TaskTrackerTool",
]


def __getattr__(name: str) -> Any:
    if name != "TaskTrackerExecutor":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from toolbench.tools.task_tracker.impl import (  # noqa: PLC0415 - only who asks pays
        TaskTrackerExecutor,
    )

    return TaskTrackerExecutor
