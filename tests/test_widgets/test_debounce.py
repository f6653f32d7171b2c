"""A click counts once, and not before the last keys are here."""

import pytest
from patience import PATIENCE, eventually

from test_widgets.front import click, named, type_into
from test_widgets.tooling import buttons, finish, shown
from toolbench import current_run, tool
from toolbench.runs.control import Stop, active, stop
from toolbench.widgets.kit import debounce
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel import ToolPanel, controls


@pytest.fixture
def clock(monkeypatch):
    """The time, which a test may change."""
    now = [100.0]
    for module in (controls, debounce):
        monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize("typed", ["", "a"])
def test_a_double_click_is_one_click(typed, clock):
    """However quick the run is, and whether the click waits for what is typed or not."""
    runs = []

    @tool
    def count(text: str = "") -> str:
        """Count."""
        runs.append(text)
        return "done"

    panel = ToolPanel(count)
    if typed:
        type_into(panel.form.slot.child("text").editor.widget, typed)
    for times in (1, 2):
        click(buttons(panel)["Run"])
        click(buttons(panel)["Run"])
        clock[0] += 2 * debounce.QUIET
        assert ticker.wait_idle(PATIENCE)
        finish(panel)
        assert runs == [typed] * times
        clock[0] += 2 * debounce.QUIET


def test_clicks_on_two_buttons_are_two(clock, wire):
    """Both wait for the last keys, and then both happen, however often each was clicked."""
    runs = []

    @tool
    def keep(text: str) -> str:
        """Keep the text."""
        runs.append(text)
        return text

    panel = ToolPanel(keep)
    type_into(panel.form.slot.child("text").editor.widget, "a")
    for label in ("Copy call", "Run", "Copy call", "Run"):
        click(buttons(panel)[label])
    assert runs == []
    clock[0] += 2 * debounce.QUIET
    assert ticker.wait_idle(PATIENCE)
    finish(panel)
    assert runs == ["a"]
    assert wire.text().count("'copy': ") == 1


@pytest.mark.usefixtures("clock")
def test_a_click_after_an_answer_is_another():
    """However soon it comes: here, at the same moment."""
    answers = []

    @tool
    def ask() -> str:
        """Ask."""
        answers.append(current_run().ask("Well?").action)
        return "done"

    panel = ToolPanel(ask)
    for times in (1, 2):
        click(buttons(panel)["Run"])
        eventually(lambda: "Well?" in shown(panel))
        click(named(panel, "No"))
        finish(panel)
        assert answers == ["decline"] * times


@pytest.mark.usefixtures("clock")
def test_a_click_after_an_edit_is_another():
    """However soon it comes: here, at the same moment, and the page has waited for the keys."""
    runs = []

    @tool
    def keep(text: str) -> str:
        """Keep the text."""
        runs.append(text)
        return text

    panel = ToolPanel(keep)
    for text in ("a", "ab"):
        type_into(panel.form.slot.child("text").editor.widget, text)
        click(buttons(panel)["Run"], settled=True)
        finish(panel)
    assert runs == ["a", "ab"]


@pytest.mark.usefixtures("clock")
def test_a_question_that_nobody_answered_leaves_a_double_click_one():
    """The time of the run is over before the second half comes."""
    started = []

    @tool
    def ask() -> str:
        """Ask."""
        started.append(True)
        return current_run().ask("Well?").action

    panel = ToolPanel(ask)
    click(buttons(panel)["Run"])
    eventually(lambda: "Well?" in shown(panel))
    [run] = [run for run in active if run.tool is panel.tool]
    stop(run, Stop.timeout(1))
    finish(panel)
    click(buttons(panel)["Run"])
    finish(panel)
    assert "timed out" in shown(panel)
    assert len(started) == 1


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("settled", [True, False])
def test_a_click_does_not_wait_where_the_page_has_waited(settled):
    """It says so in its message; then the run begins inside the click, right after a key."""

    @tool
    def same(text: str) -> str:
        """Return the text."""
        return text

    panel = ToolPanel(same)
    type_into(panel.form.slot.child("text").editor.widget, "ab")
    click(buttons(panel)["Run"], settled=settled)
    assert (panel.is_busy or panel.result is not None) is settled
    # Time stands still: an unsettled click would wait for ever
    ticker.reset()


@pytest.mark.parametrize("mark", [None, "true", 1, {}])
def test_only_a_true_mark_counts(mark, clock):
    """Other values are no promise of the page."""
    acts = []
    waits = debounce.Debounce()
    waits.edited()
    with debounce.message_of_page({"event": "click", "settled": mark}):
        waits.then(lambda: acts.append(mark))
    assert acts == []
    clock[0] += 2 * debounce.QUIET
    assert ticker.wait_idle(PATIENCE)
    assert acts == [mark]
