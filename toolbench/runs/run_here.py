"""What the calling code has: a run that its thread waits for, and the answers given in advance."""

from typing import Any

from toolbench.core.schema import Action
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.runs.current_run import active_run
from toolbench.runs.input_prompt import ask_in_cell
from toolbench.runs.questions import Preset, Question, preset_in_context
from toolbench.runs.run import Run, Source


def run_here(
    tool: ToolDefinition[Any, Any],
    call: Any,
    source: Source = "python",
    conversation: Any = None,
    *,
    action: Action | None = None,
    risk: SecurityRisk | None = None,
    is_plain: bool = False,
) -> Run:
    """Return a run of *tool* for `perform` in this thread; the current run becomes its parent, if any.

    Its questions are asked like those of its parent; without a parent, by `input()` in the cell.

    Args:
        tool: The tool.
        call: An action of the tool, or the arguments for it.
        source: Where the run is started.
        conversation: The second argument of the executor.
        action: The action, if it was made from *call* already.
        risk: The rating of the call, if any.
        is_plain: Whether this is a direct call `tool(call)`; see `Run`.
    """
    run = Run(
        tool,
        call,
        source=source,
        action=action,
        asker=ask_in_cell,
        conversation=conversation,
        risk=risk,
        is_plain=is_plain,
    )
    run.is_of_a_cell = True
    parent = active_run()
    if isinstance(parent, Run):
        run.parent = parent
        run.asker = parent.asker
        run.desk = parent.desk
        run.secrets.inherit(parent.secrets)
    return run


def preset_here(question: Question) -> Preset | None:
    """Return the preset that answers *question* of the calling code; None if a person is asked.

    It is the one of the current run, or else of the `answering` around the calling code.
    """
    run = active_run()
    if isinstance(run, Run):
        return run.preset_for(question)
    innermost = preset_in_context()
    return None if innermost is None else innermost.of(question)
