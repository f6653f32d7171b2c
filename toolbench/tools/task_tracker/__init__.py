"""The task tracker: a list of tasks with statuses, kept in a file."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily
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

__getattr__, __dir__ = lazily(__name__, {"TaskTrackerExecutor": "impl"})
