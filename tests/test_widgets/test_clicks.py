"""A click counts once, and not before the last keys are here."""

from time import monotonic

import ipywidgets as w
import pytest
from patience import eventually
from test_runs import tools

from test_widgets.front import click, deliver, named, type_into
from test_widgets.tooling import buttons, finish, shown
from toolbench import current_run, tool
from toolbench.runs.control import Stop, active, stop
from toolbench.widgets.kit import clicks
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.panel import run as run_module


@pytest.fixture
def clock(monkeypatch):
    """The time, which stands still unless a test changes it."""
    # What other tests typed is long ago
    now = [monotonic() + 1]
    for module in (run_module, clicks):
        monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def held(monkeypatch):
    """The clicks that the kernel holds: each a function that lets it go."""
    held = []
    monkeypatch.setattr(
        clicks, "later", lambda seconds, act, *args: held.append(lambda: act(*args))
    )
    return held


def keeper(runs):
    """Return the panel of a tool that keeps its text in *runs*."""

    @tool
    def keep(text: str = "") -> str:
        """Keep the text."""
        runs.append(text)
        return text

    return ToolPanel(keep)


def type_text(panel, text):
    type_into(panel.form.slot.child("text").editor.widget, text)


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("typed", ["", "a"])
def test_a_double_click_is_one_click(typed, settled, clock, held):
    """However quick the run is, and whether the click is held for what is typed or not."""
    runs = []
    panel = keeper(runs)
    if typed:
        type_text(panel, typed)
    for times in (1, 2):
        click(buttons(panel)["Run"], settled=settled)
        click(buttons(panel)["Run"], settled=settled)
        clock[0] += 2 * clicks.QUIET
        while held:
            held.pop(0)()
        finish(panel)
        assert runs == [typed] * times
        clock[0] += 2 * clicks.QUIET


@pytest.mark.usefixtures("clock")
def test_no_click_is_lost_or_overtakes_keys(held, wire):
    """Without our module: what was typed may be on its way still; clicks on two buttons are two."""
    runs = []
    panel = keeper(runs)
    type_text(panel, "a")
    for label in ("Copy call", "Run", "Copy call", "Run"):
        click(buttons(panel)[label], settled=False)
    type_text(panel, "ab")
    assert runs == []
    for let_go in held:
        let_go()
    finish(panel)
    assert runs == ["ab"]
    assert wire.text().count("'copy': ") == 1
    held.clear()
    type_text(panel, "abc")
    # The buttons can be pressed again; nothing runs in a panel that is closed meanwhile
    for label in ("Copy call", "Run"):
        click(buttons(panel)[label], settled=False)
    assert len(held) == 2
    panel.close()
    for let_go in held:
        let_go()
    assert runs == ["ab"]


def test_a_click_long_after_the_last_key_is_not_held(clock, held):
    """Nor is one in a page that has waited for the keys itself."""
    runs = []
    panel = keeper(runs)
    type_text(panel, "a")
    # Not exactly then: of a machine that has run for hours, the difference is a little less
    clock[0] += 2 * clicks.QUIET
    click(buttons(panel)["Run"], settled=False)
    finish(panel)
    type_text(panel, "ab")
    click(buttons(panel)["Run"], settled=True)
    finish(panel)
    assert runs == ["a", "ab"]
    assert held == []


@pytest.mark.usefixtures("clock")
def test_a_click_on_cancel_is_not_held(held):
    """However soon after a key, in this panel or another."""
    panel, other = ToolPanel(tools.Steps().tool), keeper([])
    click(buttons(panel)["Run"])
    type_text(other, "a")
    click(buttons(panel)["Cancel"], settled=False)
    finish(panel)
    assert held == []
    assert "cancelled" in shown(panel)


def test_a_held_click_is_let_go():
    """By a timer, soon."""
    runs = []
    panel = keeper(runs)
    type_text(panel, "a")
    click(buttons(panel)["Run"], settled=False)
    assert runs == []
    eventually(lambda: runs == ["a"])


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
    panel = keeper(runs)
    for text in ("a", "ab"):
        type_text(panel, text)
        click(buttons(panel)["Run"])
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
@pytest.mark.parametrize("mark", [None, "true", 1, {}])
def test_only_a_true_mark_counts(mark, held):
    """Other values are no promise of the page."""
    panel = keeper([])
    type_text(panel, "a")
    content = {"event": "click", "settled": mark}
    deliver(buttons(panel)["Run"], {"method": "custom", "content": content})
    assert len(held) == 1


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("settled", [True, False])
def test_enter_does_not_overtake_keys_either(settled, held):
    """Without our module it is held; with it, it counts at once."""
    entered = []
    line = Parts().make(w.Text)
    clicks.on_enter(line, lambda: entered.append(line.value))
    type_into(line, "a")
    content = {"event": "submit", "settled": settled}
    deliver(line, {"method": "custom", "content": content})
    type_into(line, "ab")
    for let_go in held:
        let_go()
    assert entered == ["a" if settled else "ab"]
