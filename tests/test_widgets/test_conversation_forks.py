"""From the panel of a conversation: a fork at any step, and a result as a variable."""

import threading

import pytest
from patience import PATIENCE, eventually
from test_agent.checks import check_answered
from test_agent.scripts import call, calls, talk

from toolbench import ToolDefinition
from toolbench.core.schema import Observation
from toolbench.llm.models import Answer, ScriptedModel
from toolbench.llm.models.model import Chunk
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.transcript.conversation_panel import ConversationPanel

pytestmark = pytest.mark.usefixtures("no_records")


@pytest.fixture
def ended():
    """A panel of a conversation of three steps that is over, and the variables of its notebook."""
    script = [
        calls(call("add", {"a": 1})),
        calls(call("add", {"a": 2}), call("add", {"a": 3}, id="c2"), text="I see."),
        "All **done**.",
        "Done in the fork.",
    ]
    conversation = talk(script)
    names = {"sums": conversation, "_3": conversation, "taken": 5}
    panel = ConversationPanel(conversation, Variables(names))
    press(panel, "Run to the end")
    yield panel, names
    panel.close()


def everything(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from everything(child)


def labelled(panel, label):
    return [w for w in everything(panel) if getattr(w, "description", None) == label]


def text(widget):
    return "\n".join(str(getattr(w, "value", "")) for w in everything(widget))


def press(panel, label, nth=0):
    labelled(panel, label)[nth].click()
    assert ticker.wait_idle(PATIENCE)
    panel.refresh()


class TestFork:
    def test_is_offered_at_each_step(self, ended):
        """At each call, and at what the model said: three calls and one text."""
        panel, _ = ended
        tips = [button.tooltip for button in labelled(panel, "Fork")]
        assert [tip.split("step ")[1][0] for tip in tips] == ["1", "2", "2", "3"]

    def test_at_a_call_has_it_wait_again(self, ended):
        """With the other calls of its answer; what came before is kept, the original as it was."""
        panel, names = ended
        before = list(names["sums"].events)
        press(panel, "Fork", 2)
        fork = names["sums_2"]
        assert [dict(c.tool_call.arguments) for c in fork.pending] == [
            {"a": 2},
            {"a": 3},
        ]
        check_answered(fork, waiting=2)
        assert list(names["sums"].events) == before and not names["sums"].pending
        assert len(labelled(panel, "Refuse")) == 2
        assert "Fork at step 2" in text(panel) and "sums_2" in text(panel)

    def test_goes_on_in_its_panel(self, ended):
        """Its buttons work, and the original does not change."""
        panel, names = ended
        press(panel, "Fork", 0)
        press(panel, "Run to the end", 1)
        assert names["sums_2"].final_text == "Done in the fork."
        assert names["sums"].final_text == "All **done**."
        assert not panel.is_busy

    def test_takes_a_name_that_is_free(self, ended):
        """No variable is lost, whoever made it."""
        panel, names = ended
        names["sums_2"] = "mine"
        press(panel, "Fork", 0)
        press(panel, "Fork", 1)
        assert names["sums_2"] == "mine"
        assert names["sums_3"] is not names["sums_4"]

    def test_is_in_what_the_notebook_keeps(self, ended):
        """A saved notebook shows the fork below the original."""
        panel, _ = ended
        press(panel, "Fork", 3)
        still = str(panel.still)
        assert still.count("All <strong>done</strong>") == 2
        assert "Fork at step 3" in still

    def test_waits_for_what_is_at_work(self):
        """A sentence says so; nothing is begun."""
        question_event, go_on = threading.Event(), threading.Event()

        class Slow:
            name, provider = "slow", "openai"

            def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
                if len(messages) > 2:
                    question_event.set()
                    assert go_on.wait(PATIENCE)
                return Answer({"role": "assistant", "content": "Ah."})

        conversation, names = talk(Slow()), {}
        panel = ConversationPanel(conversation, Variables(names))
        press(panel, "Step")
        conversation.send_message("And?")
        labelled(panel, "Step")[0].click()
        assert question_event.wait(PATIENCE)
        labelled(panel, "Fork")[0].click()
        assert "wait, or press Stop" in text(panel)
        go_on.set()
        assert ticker.wait_idle(PATIENCE)
        assert names == {}
        panel.close()

    def test_closes_with_the_panel(self, ended):
        """The conversation stays in its variable."""
        panel, names = ended
        press(panel, "Fork", 0)
        [fork] = [w for w in everything(panel) if isinstance(w, ConversationPanel)][1:]
        panel.close()
        assert fork.comm is None
        assert names["sums_2"].pending


class TestKeep:
    def test_puts_the_result_into_a_variable(self, ended):
        """Under a name made of the tool's; once more replaces it."""
        panel, names = ended
        press(panel, "Open", 1)
        press(panel, "Keep")
        assert isinstance(names["add_result"], Observation)
        assert names["add_result"].text == "3"
        press(panel, "Keep")
        assert names["add_result"].text == "3" and "Kept" in text(panel)

    @pytest.mark.parametrize(
        ("name", "message"),
        [("taken", "holds something else"), ("2x", "cannot be"), ("for", "cannot be")],
    )
    def test_loses_no_variable(self, ended, name, message):
        """What is there, and what Python cannot call so, is left alone."""
        panel, names = ended
        press(panel, "Open")
        labelled(panel, "Result as variable")[0].value = name
        press(panel, "Keep")
        assert message in text(panel)
        assert names["taken"] == 5 and not isinstance(names.get(name), Observation)

    def test_suggests_a_name_that_python_takes(self, ended):
        """Names of tools have dashes and dots."""
        script = [calls(call("get-text.v2")), "Done."]
        tool = ToolDefinition(name="get-text.v2", executor=lambda action: "x")
        panel = ConversationPanel(talk(ScriptedModel(script), [tool]), Variables({}))
        press(panel, "Run to the end")
        press(panel, "Open")
        assert labelled(panel, "Result as variable")[0].value == "get_text_v2_result"
        panel.close()


def test_what_streamed_in_is_gone_once_it_is_a_row(monkeypatch):
    """The text of an answer is shown once, formatted, though only one look is taken at its end."""
    monkeypatch.setattr(ticker, "watch", lambda tick: None)
    go_on = threading.Event()

    class Streaming:
        name, provider = "streaming", "openai"

        def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
            on_chunk(Chunk("text", "All **done**."))
            assert go_on.wait(PATIENCE)
            return Answer({"role": "assistant", "content": "All **done**."})

    panel = ConversationPanel(talk(Streaming()), Variables({}))
    labelled(panel, "Step")[0].click()

    def has_begun():
        panel.refresh()
        return "All **done**" in text(panel)

    eventually(has_begun)
    go_on.set()
    eventually(lambda: not panel.is_busy)
    panel.refresh()
    values = [str(getattr(w, "value", "")) for w in everything(panel)]
    texts = [value for value in values if "sent next" not in value]
    assert not any("All **done**" in value for value in texts)
    assert sum("All <strong>done</strong>" in value for value in texts) == 1
    panel.close()


def test_a_closed_panel_makes_no_more_widgets(monkeypatch, wire):
    """Though the last look at its work, or a fork, comes when its cell has run again."""
    monkeypatch.setattr(ticker, "watch", lambda tick: None)
    conversation = talk([calls(call("add"))])
    panel = ConversationPanel(conversation, Variables({}))
    labelled(panel, "Step")[0].click()
    eventually(lambda: not panel.is_busy)
    panel.close()
    panel.refresh()
    panel.fork(conversation.events[0].id, 1)
    eventually(lambda: not panel.is_busy)
    assert wire.live == set()
