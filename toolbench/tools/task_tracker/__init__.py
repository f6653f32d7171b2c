"""The task tracker: a tool that keeps a list of tasks and their statuses."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.tools.task_tracker.definition import TaskItem as TaskItem
    from toolbench.tools.task_tracker.definition import (
        TaskTrackerAction as TaskTrackerAction,
    )
    from toolbench.tools.task_tracker.definition import (
        TaskTrackerObservation as TaskTrackerObservation,
    )
    from toolbench.tools.task_tracker.definition import (
        TaskTrackerTool as TaskTrackerTool,
    )
    from toolbench.tools.task_tracker.impl import (
        TaskTrackerExecutor as TaskTrackerExecutor,
    )

__getattr__, __dir__, __all__ = public_names(__name__)
