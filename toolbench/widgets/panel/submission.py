"""What a form holds, made a run: the action is built here, once, and goes with the run."""

from collections.abc import Mapping
from typing import Any

from toolbench.core.definition.misuse import misfits
from toolbench.core.schema import Action
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.plain import same_json
from toolbench.runs.questions import Asker
from toolbench.runs.run import Run
from toolbench.widgets.fields import notes
from toolbench.widgets.form.form import SchemaForm


class Submission:
    """The form of one tool, and the runs that are made of its value."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any] | None,
        action: Action | None = None,
    ) -> None:
        """Make the form of *tool*, filled with *arguments*.

        Args:
            tool: The tool.
            arguments: What the form holds at first; None for an untouched form.
            action: What was built of *arguments* already: the first run takes it, if the form
                still holds them.
        """
        self.tool = tool
        value = None if arguments is None else dict(arguments)
        self.form = SchemaForm(tool.input_schema, value, validate=tool.problems)
        self._built = None if action is None else (value or {}, action)

    @property
    def is_judged_elsewhere(self) -> bool:
        """Whether what does not fit can be sent all the same, for a server to judge."""
        return self.tool.source != ToolDefinition.source and not self.form.blocked

    def run(
        self,
        asker: Asker,
        risk: SecurityRisk | None,
        *,
        unchecked: bool,
    ) -> Run | str:
        """Return a run of what the form holds, or a sentence that says why there is none.

        Args:
            asker: Who answers questions of the run.
            risk: How the call was rated, if it was.
            unchecked: Also send what does not fit, where a server checks it.
        """
        if self.tool.executor is None:
            return "This tool has no executor: nothing to run."
        if self.form.blocked:
            self.form.reveal_errors()
            return self.refusal()
        arguments = self.form.value
        run = Run(
            self.tool,
            arguments,
            source="button",
            action=self._action_of(arguments),
            asker=asker,
            risk=risk,
        )
        run.unchecked = unchecked
        try:
            run.build()
        except Exception as error:  # noqa: BLE001 - a validator of the tool's own
            self.form.refuse(misfits(self.tool.secrecy, error, arguments))
            return self.refusal()
        return run

    def _action_of(self, arguments: dict[str, Any]) -> Action | None:
        """Return the action that is there for *arguments* already, for one run."""
        built, self._built = self._built, None
        return (
            built[1] if built is not None and same_json(built[0], arguments) else None
        )

    def refusal(self) -> str:
        """Say how many fields are to blame that nothing was run."""
        return f"{notes.to_fix(len(self.form.wrong_fields()))} to run"
