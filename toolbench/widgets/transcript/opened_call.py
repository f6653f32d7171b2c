"""A finished call that a person opened: its panel, and a field to keep its result in a variable."""

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as w

from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.widgets.kit.notebook_variables import Variables, variable_name
from toolbench.widgets.kit.parts import Parts, put
from toolbench.widgets.panel.panel import ToolPanel


class OpenedCall:
    """The tool's panel with the values of the call, and above it a field to keep the result."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any],
        result: Observation,
        variables: Variables,
    ) -> None:
        """Show a call of *tool* with its *arguments*. A person can keep *result* in *variables*."""
        self._result = result
        self._variables = variables
        self._parts = parts = Parts()
        self._panel = ToolPanel(tool, arguments)
        self._name = parts.make(
            w.Text,
            "toolbench-field",
            description="Result as variable",
            value=variable_name(f"{tool.name}_result"),
        )
        keep = parts.button("Keep", tip="Put the result into a variable")
        keep.on_click(lambda _: self._keep())
        self._outcome = parts.html()
        self.widget = parts.column(parts.row(self._name, keep, self._outcome), self._panel)

    def _keep(self) -> None:
        name = self._name.value.strip()
        if problem := self._variables.problem_of(name, Observation):
            put(
                self._outcome,
                Html(f'<span class="toolbench-wrong">{escape(problem)}</span>'),
            )
            return
        self._variables.put(name, self._result)
        put(self._outcome, Html(f"Kept: <code>{escape(name)}</code>"))

    def close(self) -> None:
        """Close the panel and all its widgets."""
        self._panel.close()
        self._parts.close()


class CallButton:
    """A button that opens the panel of a finished call, and closes it again.

    Attributes:
        button: The button.
        opened: The open panel; None while the panel is closed.
    """

    def __init__(
        self,
        new_button: Callable[[str, str], Any],
        labels: tuple[str, str],
        tool: str,
        open_call: Callable[[], OpenedCall],
        arrange: Callable[[], object],
    ) -> None:
        """Make the button.

        Args:
            new_button: A function that returns a button with a label and a tooltip.
            labels: The label of the button while the panel is closed, and the label while the
                panel is open.
            tool: The name of the called tool.
            open_call: A function that returns a new panel of the call.
            arrange: A function that shows the opened panel, or hides it before it is closed.
        """
        self._labels = labels
        self._tips = (
            f"Open {tool} in its panel, filled with this call",
            f"Close the panel of {tool}",
        )
        self._open_call, self._arrange = open_call, arrange
        self.opened: OpenedCall | None = None
        self.button = new_button(labels[0], self._tips[0])
        self.button.on_click(lambda _: self._toggle())

    def _toggle(self) -> None:
        old = self.opened
        self.opened = self._open_call() if old is None else None
        self._arrange()
        is_open = self.opened is not None
        self.button.description = self._labels[is_open]
        self.button.tooltip = self._tips[is_open]
        if old is not None:
            old.close()

    def close(self) -> None:
        """Close the panel, if it is open; the button is not closed."""
        if self.opened is not None:
            self.opened.close()
