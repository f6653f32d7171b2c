"""What a panel shows of its run while it goes on."""

import threading

import pytest
from test_runs import tools

from test_widgets.front import click
from test_widgets.tooling import finish, until
from toolbench import current_run, tool
from toolbench.widgets.panel import ToolPanel


class TestRun:
    def test_goes_on_when_its_tool_is_taken_anew(self):
        """Reloading leaves the run alone: it can still be cancelled, and no second one starts."""
        steps = tools.Steps()
        panel = ToolPanel(steps.tool)
        panel.run()
        assert steps.begun.wait(20)
        panel.reload()
        assert (panel._run_button.disabled, panel._cancel_button.disabled) == (
            True,
            False,
        )
        click(panel._cancel_button)
        finish(panel)
        assert panel.result.is_error or panel.result.text == "stopped early"
        assert (panel._run_button.disabled, panel._cancel_button.disabled) == (
            False,
            True,
        )


class TestProgress:
    @pytest.mark.parametrize(
        ("value", "total", "share"),
        [
            (1, 4, 0.25),
            (9, 4, 1.0),
            (-1, 4, 0.0),
            (1, -4, 0.0),
            (float("inf"), 4, 1.0),
            (1, float("inf"), 0.0),
        ],
    )
    def test_is_a_bar_whatever_the_numbers(self, value, total, share):
        """A server may say anything; the bar stays between nothing and all."""
        assert seen_bar(value, total) == (share, True)

    @pytest.mark.parametrize(
        ("value", "total"),
        [(float("nan"), 4), (float("inf"), float("inf")), (1, 0), (1, None)],
    )
    def test_is_no_bar_where_nothing_can_be_told(self, value, total):
        """No JSON has a number for it."""
        assert seen_bar(value, total)[1] is False

    def test_of_no_number_is_the_fault_of_the_tool(self):
        """The run ends with an error, and the panel goes on."""

        @tool
        def odd() -> str:
            """Say something odd."""
            current_run().progress("much")
            return "done"

        panel = ToolPanel(odd)
        panel.run()
        finish(panel)
        assert "ValueError" in panel.result.text
        assert not panel._run_button.disabled


def seen_bar(value, total):
    """The bar of a panel whose tool says how far it is: how full, and whether it is seen."""
    go_on = threading.Event()

    @tool
    def work() -> str:
        """Work."""
        current_run().progress(value, total)
        assert go_on.wait(20)
        return "done"

    panel = ToolPanel(work)
    panel.run()
    until(lambda: panel._run.progress_state.value != 0)
    panel._refresh()
    bar = panel._report._bar
    seen = (bar.value, "toolbench-hidden" not in bar._dom_classes)
    go_on.set()
    finish(panel)
    return seen
