"""The panel of a conversation: its buttons, its waiting calls, and a person as the model."""

import re
import threading
from dataclasses import replace

import pytest
from patience import PATIENCE, eventually
from test_agent.checks import check_answered, of, sent
from test_agent.scripts import add, call, calls, talk
from test_runs.tools import Steps

from toolbench import Conversation, current_run, history, tool
from toolbench.agent import (
    ActionEvent,
    Agent,
    ObservationEvent,
    UserRejectObservation,
)
from toolbench.agent.transcript import call_html
from toolbench.llm.models import PersonModel, ScriptedModel
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.kit.parts import HIDDEN
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.transcript.conversation_panel import ConversationPanel
from toolbench.wording import time_taken

pytestmark = pytest.mark.usefixtures("no_records")


@pytest.fixture
def opened(request):
    """Opens a panel of a conversation, and closes it at the end."""

    def open_panel(conversation, **variables):
        panel = ConversationPanel(conversation, Variables(variables))
        request.addfinalizer(panel.close)
        return panel

    return open_panel


def everything(widget):
    """All widgets below *widget*, in their order."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from everything(child)


def labelled(panel, label, nth=0):
    matches = [w for w in everything(panel) if getattr(w, "description", None) == label]
    return matches[nth]


def text(panel):
    return "\n".join(str(getattr(w, "value", "")) for w in everything(panel))


def settled(panel):
    assert ticker.wait_idle(PATIENCE)
    panel.refresh()


def press(panel, label, nth=0):
    labelled(panel, label, nth).click()
    settled(panel)


def two_calls(opened):
    script = [calls(call("add", {"a": 1}), call("add", {"a": 2}, id="c2")), "Done."]
    c = talk(script)
    panel = opened(c)
    press(panel, "Step")
    return c, panel


def test_step_leaves_the_calls_waiting(opened):
    """The model is asked, and nothing runs."""
    c, panel = two_calls(opened)
    assert text(panel).count("waits for you") >= 2 and len(history()) == 0
    check_answered(c, waiting=2)


def test_a_call_is_edited_and_runs(opened):
    """The form holds what the model sent; what is changed there runs."""
    c, panel = two_calls(opened)
    labelled(panel, "Edit").click()
    labelled(panel, "a").value = "40"
    press(panel, "Run with these arguments")
    assert history()[0].arguments == {"a": 40}
    assert "edited" in text(panel) and len(c.pending) == 1


def test_a_call_that_a_cell_changed_is_shown_before_it_runs(opened, monkeypatch):
    """A click on Run is about the arguments that stand beside it, and no others."""
    c, panel = two_calls(opened)
    run = labelled(panel, "Run")
    with monkeypatch.context() as patch:
        # However long the click takes, it comes before the panel shows the change
        patch.setattr(ticker, "watch", lambda watcher: None)
        c.edit_pending("c1", {"a": 40})
    run.click()
    settled(panel)
    assert "was changed meanwhile" in text(panel) and "a=40" in text(panel)
    assert len(history()) == 0
    press(panel, "Run")
    assert history()[0].arguments == {"a": 40}


def test_the_panel_follows_what_another_cell_does(opened):
    """It shows changed arguments at once; after a run, no call waits and the answer is there."""
    c, panel = two_calls(opened)
    c.edit_pending("c1", {"a": 40})
    assert ticker.wait_idle(PATIENCE)
    assert "a=40" in text(panel) and text(panel).count("waits for you") == 2
    c.run()
    assert ticker.wait_idle(PATIENCE)
    assert "waits for you" not in text(panel) and "Done." in text(panel)


def test_a_call_of_no_tool_cannot_be_edited(opened, wire):
    """Each click on Edit shows the same notice."""
    panel = opened(talk([calls(call("nope", {})), "Done."]))
    press(panel, "Step")
    labelled(panel, "Edit").click()
    widgets = set(wire.live)
    labelled(panel, "Edit").click()
    assert "There is no tool called nope" in text(panel) and wire.live == widgets


def test_a_call_is_refused_with_a_reason_and_the_model_reads_it(opened):
    """The other one runs; then the model is asked again by itself."""
    c, panel = two_calls(opened)
    labelled(panel, "Refuse").click()
    labelled(panel, "Why not").value = "Not now."
    press(panel, "Refuse it")
    press(panel, "Run")
    [refused] = of(c, UserRejectObservation)
    assert "Not now." in refused.reason and "Not now." in str(sent(c))
    assert c.final_text == "Done."
    check_answered(c)


def test_a_call_that_cannot_run_sends_its_error_until_it_is_mended(opened):
    """The button says so; no word about the effect, and no secret of the conversation."""
    script = [calls(call("add", {"a": "hunter2-hunter2"}), text="Try hunter2-hunter2."), "Done."]
    agent = Agent(ScriptedModel(script), [add])
    c = Conversation(agent=agent, secrets={"KEY": "hunter2-hunter2"})
    c.send_message("Do it.")
    panel = opened(c)
    press(panel, "Step")
    assert "hunter2" not in text(panel)
    assert "The call cannot run as it is." in text(panel)
    assert "does not say what it changes" not in text(panel)
    [error] = [w for w in everything(panel) if "was not run" in value_of(w)]
    labelled(panel, "Edit").click()
    labelled(panel, "a").value = "40"
    assert labelled(panel, "Run with these arguments") and HIDDEN in error._dom_classes
    labelled(panel, "a").value = "forty"
    assert HIDDEN not in error._dom_classes
    press(panel, "Send the error")
    assert "was not run" in str(sent(c)) and len(history()) == 0


def test_the_thought_of_a_call_stands_above_its_card(opened):
    """The buttons of the card stand on the card, so the words before it are no part of it."""
    c = talk([calls(call("add", {"a": 1}), text="First I add."), "Done."])
    panel = opened(c)
    press(panel, "Run to the end")
    texts = [value_of(w) for w in everything(panel)]
    thought = next(n for n, value in enumerate(texts) if "First I add." in value)
    card = next(n for n, value in enumerate(texts) if "<code>add</code>" in value)
    assert thought < card


def answer_seven(panel):
    """Answer the first call that waits in *panel* by hand, with the number 7."""
    labelled(panel, "Answer by hand").click()
    labelled(panel, "result").value = "7"
    press(panel, "Give this answer")


def test_a_call_is_answered_by_hand(opened):
    """The tool does not run; the model reads what the tool would say."""
    c, panel = two_calls(opened)
    answer_seven(panel)
    [answer] = of(c, ObservationEvent)
    assert answer.by_hand and answer.observation.text == "7"
    assert len(history()) == 0


def test_a_typed_answer_outlives_a_look_at_another_button(opened, wire):
    """Each click shows what was typed there, and makes no new fields."""
    _, panel = two_calls(opened)
    for label in ("Answer by hand", "Refuse", "Answer by hand"):
        labelled(panel, label).click()
        if label == "Refuse":
            labelled(panel, "Why not").value = "Not now."
        else:
            answer = labelled(panel, "Result in place of add")
            answer.value = answer.value or "a long answer"
    fields = set(wire.live)
    assert answer.value == "a long answer"
    labelled(panel, "Refuse").click()
    assert labelled(panel, "Why not").value == "Not now."
    assert wire.live == fields


def test_an_answer_by_hand_has_the_data_of_the_tool(opened):
    """Without the object that only the form's schema puts around it."""
    c, panel = two_calls(opened)
    answer_seven(panel)
    press(panel, "Run to the end")
    by_hand, by_tool = (event.observation.data for event in of(c, ObservationEvent))
    assert (by_hand, by_tool) == (7, 3)


def test_an_answer_by_hand_fits_the_tool(opened):
    """What the tool never returns is not sent, unless it is a failure."""
    c, panel = two_calls(opened)
    labelled(panel, "Answer by hand").click()
    labelled(panel, "Result in place of add").value = "Seven."
    labelled(panel, "result").value = "seven"
    press(panel, "Give this answer")
    assert not of(c, ObservationEvent)
    assert len(c.pending) == 2
    labelled(panel, "It failed").value = True
    press(panel, "Give this answer")
    [answer] = of(c, ObservationEvent)
    assert answer.observation.is_error and answer.observation.text == "Seven."


def test_an_answer_by_hand_for_a_tool_without_a_schema_is_a_text(opened):
    """A function that returns a text promises no structure: any text is an answer."""
    c = talk([calls(call("fail")), "Done."])
    panel = opened(c)
    press(panel, "Step")
    labelled(panel, "Answer by hand").click()
    labelled(panel, "Result in place of fail").value = "Seven."
    press(panel, "Give this answer")
    [answer] = of(c, ObservationEvent)
    assert answer.observation.text == "Seven."


def test_a_row_opens_into_the_panel_of_its_call(opened):
    """Filled with what ran; and closes again."""
    _, panel = two_calls(opened)
    press(panel, "Run to the end")
    press(panel, "Open", 1)
    assert labelled(panel, "a").value == "2"
    assert labelled(panel, "Close").tooltip == "Close the panel of add"
    press(panel, "Close")
    assert labelled(panel, "Open").tooltip.startswith("Open add in its panel")
    assert not [w for w in everything(panel) if getattr(w, "description", "") == "a"]


def test_a_run_in_an_opened_call_keeps_the_panel(opened):
    """Its cell may run again: it closes when the run is over."""
    steps = Steps()
    panel = opened(talk([calls(call("steps")), "Done."], [steps.tool]))
    steps.go_on.set()
    press(panel, "Run to the end")
    steps.go_on.clear()
    steps.begun.clear()
    press(panel, "Open")
    labelled(panel, "Run").click()
    assert steps.begun.wait(PATIENCE)
    assert panel.is_busy
    steps.go_on.set()
    eventually(lambda: not panel.is_busy)


def test_stop_ends_the_request(opened):
    """The model hears of it, and the panel can go on."""
    question_event, stopped = threading.Event(), threading.Event()

    class Slow:
        name, provider = "slow", "openai"

        def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
            cancel.on_cancel(stopped.set)
            question_event.set()
            assert stopped.wait(PATIENCE)
            return {"role": "assistant", "content": "late"}

    panel = opened(talk(Slow()))
    labelled(panel, "Step").click()
    assert question_event.wait(PATIENCE)
    press(panel, "Stop")
    assert stopped.is_set() and not panel.is_busy


def test_a_stop_that_came_too_late_takes_no_click(opened):
    """The step was over already: the next click works, the first time."""
    c, panel = two_calls(opened)
    c.interrupt()
    press(panel, "Step")
    assert c.final_text == "Done."


def test_what_a_tool_asks_is_asked_in_the_panel(opened):
    """The policy's question stands below the rows, and the answer counts."""

    @tool(destructive=True)
    def wipe(path: str) -> str:
        """Delete a file."""
        return f"{path} is gone"

    c = talk([calls(call("wipe", {"path": "x"})), "Done."], [wipe])
    panel = opened(c)
    press(panel, "Step")
    labelled(panel, "Run").click()
    yes = wait_for(panel, lambda w: getattr(w, "button_style", "") == "danger")
    yes.click()
    settled(panel)
    assert of(c, ObservationEvent)[0].observation.text == "x is gone"


def test_a_row_says_for_whom_its_tool_waits(opened):
    """The tool asks the person: it is not said to run until it has the answer."""

    @tool(read_only=True)
    def germinate() -> str:
        """Let seeds germinate."""
        return str(current_run().ask("Is it warm?").action)

    c = talk([calls(call("germinate")), "Done."], [germinate])
    panel = opened(c)
    panel.run()
    yes = wait_for(panel, lambda w: getattr(w, "description", "") == "Yes")
    wait_for(panel, lambda w: ">waits for your answer<" in str(getattr(w, "value", "")))
    assert ">running<" not in text(panel)
    yes.click()
    settled(panel)
    assert ">succeeded<" in text(panel) and "waits for your answer" not in text(panel)


def test_a_row_leaves_the_time_of_the_person_out(opened):
    """The seconds of the call are those of its work; the wait stands beside them."""
    c = talk([calls(call("add", {"a": 1})), "Done."])
    c.run()
    [action], [answer] = of(c, ActionEvent), of(c, ObservationEvent)
    html = call_html(action, replace(answer, seconds=2.0, waited=12.0), number=1)
    assert f">{time_taken(2.0, 12.0)}<" in html


def test_a_result_without_text_has_no_line_below_its_call(opened):
    """An empty strip would look as if something could not be shown."""

    @tool(read_only=True)
    def silent() -> str:
        """Say nothing."""
        return ""

    c = talk([calls(call("silent"), call("add", {"a": 1}, id="c2")), "Done."], [silent, add])
    c.run()
    summaries = re.findall("<summary.*?</summary>", c.to_html(), re.DOTALL)
    assert [summary.count("border-top") for summary in summaries[:2]] == [0, 1]


def wait_for(panel, condition):
    """The first widget that meets *condition*, once it is there."""
    return eventually(lambda: next(filter(condition, everything(panel)), None))


def test_a_person_is_the_model(opened, wire):
    """They see all that a model is sent, call a tool by its form, and then say something."""
    c = Conversation(agent=Agent(PersonModel(), [add], system_prompt="Be brief."))
    c.send_message("What is 2 + 3?")
    panel = opened(c)
    labelled(panel, "Run to the end").click()
    chooser = wait_for(panel, lambda w: getattr(w, "description", "") == "Tool you call")
    # The request is above, and another one is not known yet
    assert eventually(lambda: "is sent next" not in text(panel))
    page_text = text(panel)
    assert "Be brief." in page_text and "What is 2 + 3?" in page_text
    assert "Add two numbers." in page_text
    labelled(panel, "Answer for the model").click()
    widgets = set(wire.live)
    labelled(panel, "Answer for the model").click()
    assert "Choose a tool, or write" in text(panel) and wire.live == widgets
    chooser.value = "add"
    wait_for(panel, lambda w: getattr(w, "description", "") == "a").value = "2"
    chooser.index = 0
    assert not [w for w in everything(panel) if getattr(w, "description", "") == "a"]
    # What was typed is still there
    chooser.value = "add"
    labelled(panel, "b").value = "3"
    press_when_quiet(panel)
    wait_for(panel, lambda w: "&quot;content&quot;: &quot;5&quot;" in value_of(w))
    labelled(panel, "What you say").value = "It is 5."
    press_when_quiet(panel)
    settled(panel)
    assert c.final_text == "It is 5." and "is sent next" in text(panel)
    assert [record.arguments for record in history()] == [{"a": 2, "b": 3}]


def test_each_panel_asks_for_the_model_it_shares_with_another(opened):
    """The same person answers for two conversations, each in its own panel."""
    model, panels = PersonModel(), []
    for message in ("First?", "Second?"):
        c = Conversation(agent=Agent(model, []))
        c.send_message(message)
        panels.append((opened(c), c, message))
    for panel, _, _ in panels:
        labelled(panel, "Run to the end").click()
    for panel, _, message in panels:
        wait_for(panel, lambda w: getattr(w, "description", "") == "What you say")
        labelled(panel, "What you say").value = f"To {message}"
        press_when_quiet(panel)
    for panel, c, message in panels:
        settled(panel)
        assert c.final_text == f"To {message}"


def test_two_agents_ask_the_person_one_after_the_other(opened):
    """Both tasks that were delegated side by side get an answer: neither takes the other's place."""
    helpers = [Agent(PersonModel(), []).as_tool(name) for name in ("one", "two")]
    tasks = [call(name, {"task": f"Task {name}."}, id=name) for name in ("one", "two")]
    c = talk([calls(*tasks), "Done."], helpers)
    panel = opened(c)
    panel.run()
    boxes = []

    def is_next(widget):
        return getattr(widget, "description", "") == "What you say" and widget not in boxes

    for _ in helpers:
        boxes.append(wait_for(panel, is_next))
        boxes[-1].value = f"Reply {len(boxes)}."
        press_when_quiet(panel)
    settled(panel)
    assert c.final_text == "Done."
    replies = [event.observation.text for event in of(c, ObservationEvent)]
    assert sorted(replies) == ["Reply 1.", "Reply 2."]


def value_of(widget):
    return str(getattr(widget, "value", ""))


def press_when_quiet(panel):
    labelled(panel, "Answer for the model").click()


def test_fails_in_one_sentence(opened):
    """What cannot go on says why, in the panel."""
    c = Conversation(agent=Agent(ScriptedModel(["Hi."]), []))
    panel = opened(c)
    press(panel, "Step")
    assert "Nothing was said yet" in text(panel)


def test_a_long_conversation_shows_its_last_rows(opened, wire):
    """As many widgets as a page can bear, and a line about the rest. A new row takes an old one's place."""
    c = talk(["Done."])
    for number in range(300):
        c.send_message(f"message {number}")
    panel = opened(c)
    assert len(list(everything(panel))) < 260
    assert "message 299" in text(panel) and "message 50" not in text(panel).split("sent next")[0]
    assert "events before these" in text(panel)
    widgets = len(wire.live)
    c.send_message("the last")
    panel.refresh()
    assert "the last" in text(panel) and len(wire.live) == widgets
