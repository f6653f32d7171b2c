"""What a panel is made of: each part once, and what few runs need only when one needs it."""

from collections import Counter

import pytest
from ipywidgets import Button, FloatProgress
from patience import eventually
from test_runs import tools

from test_widgets.front import click, is_of, walk
from test_widgets.tooling import buttons, finish, shown
from toolbench import tool
from toolbench.errors import ToolNotFoundError
from toolbench.tools.task_tracker import TaskTrackerTool
from toolbench.widgets.panel.panel import ToolPanel

pytestmark = pytest.mark.usefixtures("no_open_panels")


@tool
def speak(text: str = "") -> str:
    """Print and return the text."""
    print(text)
    return text


def models(wire):
    """How many widgets of each class were sent to the page so far."""
    return Counter(
        data["state"].get("_model_name") for _, kind, data in wire.messages if kind == "comm_open"
    )


def test_is_made_of_what_stands_for_one_tool():
    """A name as in `run_tool`; anything else says in one sentence what it is and what to give."""
    with pytest.raises(TypeError, match=r"not a tool but a list: .* \[0\] is the first of them"):
        ToolPanel([speak])
    with pytest.raises(
        TypeError, match=r"the class TaskTrackerTool: .*TaskTrackerTool\.create\(\)"
    ):
        ToolPanel(TaskTrackerTool)
    with pytest.raises(ToolNotFoundError, match="'speek'"):
        ToolPanel("speek")


def test_has_each_button_once():
    """No button of the form stands in the panel a second time."""
    panel = ToolPanel(speak)
    labels = [part.description for part in walk(panel) if isinstance(part, Button)]
    assert "Copy call" in labels
    assert len(labels) == len(set(labels))


def test_shares_one_look_with_its_form(wire):
    """One Layout is the panel's own, for a person to change; all other widgets share another."""
    panel = ToolPanel(speak)
    counts = models(wire)
    assert counts["LayoutModel"] == 2
    assert counts["ButtonStyleModel"] == counts["HTMLStyleModel"] == 1
    panel.close()
    assert wire.live == set()


def test_makes_its_bar_with_the_first_progress(wire):
    """It becomes the last child of its row, so that the page draws nothing before it again."""
    steps = tools.Steps()
    panel = ToolPanel(steps.tool)
    before = row_of(panel).children
    assert models(wire)["FloatProgressModel"] == 0
    for _ in range(2):
        steps.go_on.clear()
        panel.run()
        eventually(lambda: "1 of 2" in shown(panel))
        *others, bar = row_of(panel).children
        assert tuple(others) == before
        assert isinstance(bar, FloatProgress)
        assert not is_of(bar, "toolbench-hidden")
        panel.cancel()
        finish(panel)
        assert is_of(bar, "toolbench-hidden")
    assert models(wire)["FloatProgressModel"] == 1


def test_offers_everything_once_a_result_is_long(wire):
    """A short result and the output of a short run need no button for the rest."""
    panel = ToolPanel(speak, {"text": "short"})
    panel.run()
    finish(panel)
    assert "Show everything" not in wire.text()
    panel.form.value = {"text": "line\n" * 50_000}
    for _ in range(2):
        panel.run()
        finish(panel)
    labels = [part.description for part in walk(panel) if isinstance(part, Button)]
    assert labels.count("Show everything") == 1
    click(buttons(panel)["Show everything"])
    assert "Show everything" not in buttons(panel)


def row_of(panel):
    """The row with Run."""
    return next(part for part in walk(panel) if is_of(part, "toolbench-actions"))
