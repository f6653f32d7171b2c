"""What follows the run of a panel."""

import pytest
from test_runs import tools

from test_widgets.tooling import finish
from toolbench import history, tool
from toolbench.widgets.panel.panel import ToolPanel

pytestmark = pytest.mark.usefixtures("no_records")


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@pytest.mark.parametrize("called", [add, tools.fail])
def test_is_over_whatever_what_follows_does(called, caplog):
    """An error of `when_over` is logged; the caller, or the click, gets its run."""
    errors = iter([ValueError("broken")])

    def when_over(record):
        for error in errors:
            raise error

    arguments = {"a": 1} if called is add else {}
    panel = ToolPanel(called, arguments, when_over=when_over)
    run = panel.run()
    finish(panel)
    assert panel.record.id == run.id
    assert f"What follows a run of {called.name} failed." in caplog.text
    assert "broken" in caplog.text
    panel.run()
    finish(panel)
    assert len(history()) == 2
