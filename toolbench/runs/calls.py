"""Record plain calls of tools, `tool(action)`, as the runs they are."""

from collections.abc import Mapping
from typing import Any

from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition, calls
from toolbench.runs.engine import executing, perform, run_here


def record_calls() -> None:
    """Record every `tool(action)` from now on, as `%load_ext toolbench` does."""
    calls.around = _recorded


def forget_calls() -> None:
    """Stop recording plain calls."""
    calls.around = None


def _recorded(
    tool: ToolDefinition[Any, Any], action: Any, conversation: Any
) -> Observation:
    """Run a plain call: the same run and record, but what the tool raises is raised."""
    arguments = action.to_arguments() if hasattr(action, "to_arguments") else action
    given = arguments if isinstance(arguments, Mapping) else {}
    run = run_here(tool, given, conversation=conversation)
    carry_out = executing(run, action)
    raised: list[BaseException] = []

    def execute() -> Observation:
        try:
            return carry_out()
        except BaseException as error:
            raised.append(error)
            raise

    observation = perform(run, execute=execute)
    if raised:
        raise raised[0]
    return observation
