"""The switch *Run again on change* of a panel."""

from time import monotonic
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from toolbench.widgets.kit.parts import Parts, show_if
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.live_view import shown_views

# A panel makes its switch
if TYPE_CHECKING:
    from toolbench.widgets.panel.panel import ToolPanel

PAUSE = 0.8
"""The seconds to wait after an edit of the form, because the user may continue typing."""
_TIP = "Run when the code or the form changes, if the call is valid and needs no consent"


class RunOnChange:
    """The switch that runs a read-only tool again whenever its code or the form changes.

    Attributes:
        widgets: A list with the switch. The list is empty until the panel first shows a tool that
            declares itself read-only. For other tools, the switch is hidden.
    """

    def __init__(self, panel: "ToolPanel", parts: Parts) -> None:
        """Make the switch for *panel*. At first it is off."""
        self._panel, self._parts = panel, parts
        self._due = 0.0
        self._origin: Any = None
        self.widgets: list[Any] = []

    @property
    def is_on(self) -> bool:
        """Whether the tool runs automatically."""
        return any(switch.value for switch in self.widgets)

    def offer(self) -> None:
        """Show the switch if the panel's tool declares itself read-only, or else switch it off."""
        tool = self._panel.tool
        is_offered = tool.executor is not None and tool.hints.effect == "read-only"
        # Another server may have got the name: it has not been switched on
        is_other, self._origin = tool.origin != self._origin, tool.origin
        if is_offered and not self.widgets:
            words = {"description": "Run again on change", "tooltip": _TIP, "indent": False}
            self.widgets.append(self._parts.make(w.Checkbox, "toolbench-switch", **words))
            self.widgets[0].observe(lambda _: self._switched(), "value")
        for switch in self.widgets:
            show_if(switch, is_shown=is_offered)
            switch.value = is_offered and not is_other and switch.value

    def go_on(self, earlier: "RunOnChange") -> None:
        """Switch on if *earlier*, the switch of the panel that the cell showed before, is on."""
        for switch in self.widgets:
            switch.value = earlier.is_on and earlier._origin == self._origin
        self.offer()

    def _switched(self) -> None:
        # Its code may have changed before
        self._panel.staleness.check()
        self.expect()

    def expect(self, pause: float = 0.0) -> None:
        """Run the tool in *pause* seconds if the switch is on.

        If another run is active at that time, wait until this run has ended.
        """
        self._due = monotonic() + pause
        if self.is_on:
            ticker.watch(self._look)

    def _look(self) -> bool:
        """Run the tool, unless it is too early. Return whether to call this again later."""
        panel = self._panel
        with panel.lock:
            if panel.runs.is_closed or not self.is_on:
                return False
            is_early = monotonic() < self._due or shown_views.cell is not None
            if is_early or panel.runs.report.is_going_on:
                return True
            panel.run_by_itself()
            return False
