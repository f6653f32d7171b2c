"""A run that ends at once is shown once, when it has ended; what is seen then is the same."""

import re
from collections import Counter
from time import monotonic

import pytest
from patience import PATIENCE, eventually
from test_runs import tools

from test_widgets.front import click
from test_widgets.tooling import buttons, finish, shown
from toolbench import current_run, tool
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel import ToolPanel

pytestmark = pytest.mark.usefixtures("no_records")
SWIFT = "toolbench.widgets.panel.run.SWIFT"


@pytest.fixture
def patient(monkeypatch):
    """Let a click wait until its run has ended, however slow the machine is."""
    monkeypatch.setattr(SWIFT, PATIENCE)


@tool
def speak(text: str) -> str:
    """Print and return the text."""
    print(text)
    return text


def lasting(markup):
    """Return *markup* without what differs from run to run: numbers and durations."""
    return re.sub(r'data-run="\d+"|data-toolbench-whole="[\w-]+"|[\d.]+ m?s', "", markup)


class TestSwiftRun:
    def test_is_shown_when_the_click_returns(self, patient):
        """No tick has to come, and the ticker has nothing to do."""
        # A view of the test before may be watched until the next tick
        assert ticker.wait_idle(PATIENCE)
        panel = ToolPanel(speak, {"text": "hello"})
        click(buttons(panel)["Run"])
        assert "The user and the model read the same" in shown(panel)
        assert "hello" in shown(panel)
        assert panel.record.observation.text == "hello"
        assert ticker.wait_idle(0)

    def test_sends_each_change_once(self, patient, wire):
        """Nothing is said of a run that goes on: each widget gets one message at most."""
        panel = ToolPanel(speak, {"text": "hello"})
        wire.messages.clear()
        click(buttons(panel)["Run"])
        counts = Counter(comm_id for comm_id, _ in wire.updates())
        assert set(counts.values()) == {1}
        assert "running" not in wire.text()
        ids = {button.comm.comm_id for button in buttons(panel).values()}
        # Run keeps the focus: it was never disabled
        assert not ids & set(counts)

    def test_says_again_that_it_ended(self, patient, wire):
        """The same end of another run is a change too, which a screen reader reads."""
        panel = ToolPanel(speak, {"text": "hello"})
        panel.run()
        wire.messages.clear()
        panel.run()
        states = [
            state["value"]
            for _, state in wire.updates()
            if 'role="status"' in str(state.get("value"))
        ]
        assert len(states) == 1
        assert "succeeded" in states[0]

    def test_replaces_the_result_and_the_output(self, patient):
        """Nothing of the run before is left, whether more or less is there to show."""
        panel = ToolPanel(speak, {"text": "first"})
        panel.run()
        panel.form.value = {"text": "second"}
        panel.run()
        assert "first" not in shown(panel).partition("The call")[2]
        printed = re.findall('<pre class="toolbench-out">(.*)', shown(panel))
        assert printed == ["second"]

    def test_is_shown_short_again_after_everything_was_shown(self, patient):
        """A click on "Show everything" holds for the run that was shown, not for the next."""
        many = "\n".join(f"line {n}" for n in range(40_000))
        panel = ToolPanel(speak, {"text": many})
        panel.run()
        short = len(shown(panel))
        click(buttons(panel)["Show everything"])
        assert len(shown(panel)) > 2 * short
        panel.run()
        assert "Show everything" in buttons(panel)
        assert len(shown(panel)) < 1.1 * short


class TestLongerRun:
    def test_is_shown_as_running_by_the_click(self):
        """The click waits some milliseconds only, and the page says that the run goes on."""
        steps = tools.Steps()
        panel = ToolPanel(steps.tool)
        click(buttons(panel)["Run"])
        assert buttons(panel)["Run"].disabled
        assert "running" in shown(panel)
        click(buttons(panel)["Cancel"])
        finish(panel)
        assert "cancelled" in shown(panel)

    def test_asks_at_once(self, patient):
        """A click does not wait for a run that waits for a person."""
        panel = ToolPanel(tools.erase, {"path": "x"})
        begin = monotonic()
        click(buttons(panel)["Run"])
        assert monotonic() - begin < PATIENCE / 2
        eventually(lambda: "Don't run" in buttons(panel))
        click(buttons(panel)["Don't run"])
        finish(panel)

    @pytest.mark.parametrize("arguments", [{"n": 1}, {"n": 0}])
    def test_ends_like_a_swift_one(self, arguments, monkeypatch):
        """What is shown in the end is the same, and the buttons are, however long a click waits."""

        @tool
        def divide(n: int) -> str:
            """Divide by n."""
            current_run().progress(1, 2, "half")
            print("dividing")
            return f"{1 / n}"

        pages, states = set(), set()
        for seconds in (PATIENCE, 0):
            monkeypatch.setattr(SWIFT, seconds)
            panel = ToolPanel(divide, arguments)
            click(buttons(panel)["Run"])
            finish(panel)
            pages.add(lasting(shown(panel.children[-1])))
            states.add(tuple((k, b.disabled) for k, b in buttons(panel).items()))
            assert ("Traceback" in shown(panel)) == (arguments == {"n": 0})
        assert len(pages) == len(states) == 1
