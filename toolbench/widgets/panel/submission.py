"""Turn a form's values into a run, or show why this is not possible.

The action is made from the values only here, once for each run.
"""

from collections.abc import Mapping
from typing import Any

from toolbench.core.schema import Action
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_advice import misfits
from toolbench.runs.questions import Asker
from toolbench.runs.run import Run
from toolbench.values import as_sent, is_json, is_readable, plain, same_json
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.panel.controls import RunControls


class Submission:
    """The form of one tool, and the runs that are made from its values."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any] | None,
        action: Action | None,
        controls: RunControls,
    ) -> None:
        """Make the form of *tool* with *arguments*.

        Args:
            tool: The tool.
            arguments: The values at the start; None for an untouched form. Python objects, such as
                dates and models, are shown as JSON if the tool makes the same action of it.
            action: The action, if it was built from *arguments* already. The first run uses it
                if the form still has these values.
            controls: The buttons of the panel, which show why there is no run.
        """
        self.tool = tool
        value = None if arguments is None else _as_json(tool, arguments)
        self.form = SchemaForm(tool.input_schema, value, validate=tool.problems)
        self.form.observe(lambda _: self._edited())
        self._built = None if action is None else (value or {}, action)
        self._controls = controls
        controls.accept()

    def run(
        self,
        asker: Asker,
        risk: SecurityRisk | None,
        *,
        unchecked: bool,
    ) -> Run | None:
        """Return a run of the form's values. If no run is possible, show why and return None.

        Args:
            asker: A function that answers the questions of the run.
            risk: The model's rating of the call, if any.
            unchecked: Also send arguments that do not fit the schema, for a server to check.
        """
        if self.tool.executor is None:
            self._refuse("This tool has no executor: nothing to run.")
            return None
        if self.form.blocked:
            self.form.reveal_errors()
            self._refuse()
            return None
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
        except Exception as error:  # noqa: BLE001 - a tool's own validator may raise any error
            self.form.refuse(misfits(self.tool.secrecy, error, arguments))
            self._refuse()
            return None
        self._controls.accept()
        return run

    def _action_of(self, arguments: dict[str, Any]) -> Action | None:
        """Return the action that was built from *arguments* before; None if there is none.

        Only the first call returns an action.
        """
        built, self._built = self._built, None
        return built[1] if built is not None and same_json(built[0], arguments) else None

    def _refuse(self, reason: str = "") -> None:
        """Show *reason* beside Run, or the number of fields to fix before a run."""
        fields = self.form.wrong_fields()
        is_foreign = self.tool.source != ToolDefinition.source
        self._controls.refuse(
            reason or f"{self.form.to_fix(len(fields))} to run",
            fields,
            judged_elsewhere=is_foreign and not self.form.blocked,
        )

    def _edited(self) -> None:
        """After an edit, update the notice beside Run, or remove it if there are no errors left."""
        self._controls.expect_click()
        if not self._controls.is_refusing:
            return
        if self.form.errors:
            self._refuse()
        else:
            self._controls.accept()


def _as_json(tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return *arguments* with JSON in place of objects, as far as *tool* makes the same action of it.

    A form has fields for JSON only: it can neither show nor change another object.
    """
    values = dict(arguments)
    objects = [name for name, value in values.items() if not is_json(value)]
    # Only the executor reads an iterator
    if not objects or not is_readable(values):
        return values
    action = _action_of(tool, values)
    # Then nothing tells whether a form means the same
    if action is None:
        return values
    for name in objects:
        changed = {**values, name: plain(as_sent(values[name]))}
        if _is_same(_action_of(tool, changed), action):
            values = changed
    return values


def _action_of(tool: ToolDefinition[Any, Any], arguments: dict[str, Any]) -> Action | None:
    try:
        action: Action = tool.action_of(dict(arguments))
    except Exception:  # noqa: BLE001 - the form shows the problems; a validator may raise any error
        return None
    return action


def _is_same(action: Action | None, other: Action | None) -> bool:
    try:
        return bool(action == other)
    except Exception:  # noqa: BLE001 - a table or an array does not compare
        return False
