import threading
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import PATIENCE

from test_agent.checks import check_answered, check_sent, of, sent
from test_agent.scripts import PROVIDERS, add, call, calls, calls_of, fail, talk
from toolbench import (
    Conversation,
    history,
    tool,
)
from toolbench.agent import (
    ActionEvent,
    Agent,
    AgentErrorEvent,
    NoticeEvent,
    ObservationEvent,
)
from toolbench.errors import ModelError, ToolbenchError
from toolbench.llm.models import Answer, ScriptedModel, Usage


class TestAStep:
    def test_is_one_answer_with_all_its_calls(self):
        """All calls of a message run, and all their answers are sent back together."""
        c = talk([calls(call("add", {"a": 1}), call("add", {"a": 2}, id="c2")), "Done."])
        kinds = [type(event) for event in c.step()]
        assert kinds == [ActionEvent, ActionEvent, ObservationEvent, ObservationEvent]
        assert c.run() == "answered"
        assert [m["content"] for m in sent(c)[2:]] == ["2", "3"]
        check_answered(c)

    def test_calls_run_side_by_side(self):
        """Two calls that share nothing meet inside their tools."""
        both = threading.Barrier(2)

        @tool(read_only=True)
        def meet(n: int) -> int:
            """Wait for the other."""
            both.wait(PATIENCE)
            return n

        c = talk([calls(call("meet", {"n": 1}), call("meet", {"n": 2}, id="c2"))], [meet])
        c.step()
        assert [e.observation.text for e in of(c, ObservationEvent)] == ["1", "2"]

    def test_of_nothing_said_is_wrong_use(self):
        """A model is not asked before the user has said something."""
        c = Conversation(agent=Agent(ScriptedModel(["x"]), []))
        with pytest.raises(ToolbenchError, match="send_message"):
            c.run()
        with pytest.raises(ToolbenchError, match="send_message"):
            c.step()

    def test_when_all_is_said_does_nothing(self):
        """After an answer there is nothing to do until the user says more."""
        c = talk(["Done."])
        assert c.run() == "answered"
        assert c.step() == [] and c.run() == "answered"
        assert len(c.agent.llm.requests) == 1

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_speaks_the_dialect_of_the_model(self, provider):
        """Calls and answers go back in the shape that the provider's own parser reads."""
        two = calls_of(provider, ("add", {"a": 1}), ("add", {"a": 2}), text="I add twice.")
        script = [two, "Done."]
        c = talk(ScriptedModel(script, provider=provider), system_prompt="Be brief.")
        assert c.run() == "answered"
        messages = sent(c)
        assert messages[0]["role"] == "system"
        assert messages[2] == script[0]
        answers = messages[3:]
        assert len(answers) == (1 if provider in ("anthropic", "gemini") else 2)
        check_answered(c)

    def test_thought_and_metadata_are_with_the_first_call(self):
        """The seed's metadata: response id, number of calls, the thought on the first."""
        message = calls(call("add", {"a": 1}), call("add", {"a": 2}, id="c2"), text="Hm.")
        c = talk([Answer(message, "tool_calls", response_id="r1")])
        c.step()
        one, two = of(c, ActionEvent)
        assert (one.thought, two.thought) == ("Hm.", "")
        assert one.at <= two.at
        assert "Hm." in str(one.visualize)
        assert [e.metadata.response_id for e in (one, two)] == ["r1", "r1"]
        assert [(e.metadata.index, e.metadata.total) for e in (one, two)] == [
            (0, 2),
            (1, 2),
        ]

    def test_is_in_the_history_as_the_models(self):
        """Every run says who asked for it."""
        talk([calls(call("add", {"a": 1}))]).step()
        assert [(r.tool, r.source, r.state) for r in history()] == [("add", "model", "ok")]


class TestStops:
    def test_on_finish(self):
        """A finish that ran ends the task; the other calls of its message run too."""
        message = calls(call("finish", {"message": "3."}), call("add", {"a": 2}, id="c2"))
        c = talk([message])
        assert c.run() == "finished"
        check_answered(c)

    def test_at_max_steps(self):
        """A run takes so many steps; another one goes on."""
        c = talk([calls(call("add", {"a": n})) for n in range(5)], max_steps=2)
        assert c.run() == "max_steps" and len(of(c, ActionEvent)) == 2
        assert c.run() == "max_steps" and len(of(c, ActionEvent)) == 4

    def test_at_max_cost(self):
        """No request is made once the money is spent."""
        dear = Answer(calls(call("add", {"a": 1})), "tool_calls", Usage(5, 5, 0.6))
        also = Answer(calls(call("add", {"a": 2})), "tool_calls", Usage(5, 5, 0.6))
        c = talk([dear, also, "more"], max_cost=1.0)
        assert c.run() == "max_cost"
        assert len(c.agent.llm.requests) == 2

    def test_at_the_third_same_call(self):
        """It is answered, and not run; other arguments in between begin the count anew."""
        same = [calls(call("add", {"a": 1}))]
        c = talk([*same * 2, calls(call("add", {"a": 2})), *same * 3])
        assert c.run() == "repeated"
        assert len(history()) == 5
        assert "third time" in of(c, AgentErrorEvent)[-1].error
        check_answered(c)

    def test_at_the_third_same_call_in_steps_too(self):
        """Steps by hand count on: the third is not run. Then the person may let it go on."""
        c = talk([*[calls(call("add", {"a": 1}))] * 4])
        c.step(), c.step(), c.step()
        assert len(history()) == 2
        assert "third time" in of(c, AgentErrorEvent)[-1].error
        c.step()
        assert len(history()) == 3
        check_answered(c)

    def test_on_exit(self):
        """The word of the seed: no model is asked."""
        c = talk(["never"])
        c.send_message(" /exit ")
        assert c.run() == "finished"
        assert not c.agent.llm.requests

    def test_on_an_error_of_the_model_and_goes_on(self):
        """A request without an answer is a sentence; the next run asks again."""
        c = talk([ModelError("The host is gone."), "Done."])
        assert c.run() == "error"
        assert of(c, AgentErrorEvent)[0].error == "The host is gone."
        assert c.run() == "answered"
        assert sent(c) == sent(c, 0)

    def test_on_an_empty_answer(self):
        """A message without text and calls is no message to send back."""
        c = talk(["", "Done."])
        assert c.run() == "error"
        assert c.run() == "answered"
        assert [m["role"] for m in sent(c)] == ["user"]

    def test_says_that_an_answer_was_cut_off(self):
        """What is there is kept; a sentence says that it is not all."""
        cut = Answer({"role": "assistant", "content": "Once up"}, "length")
        c = talk([cut])
        assert c.run() == "answered"
        assert any("cut off" in e.text for e in of(c, NoticeEvent))

    def test_says_why(self):
        """The last event of a run is its reason."""
        c = talk(["Done."])
        c.run()
        assert c.events[-1].reason == "answered"


def test_a_callback_that_fails_costs_no_answer():
    """Anybody's code may listen; that it failed is said."""

    def listener(event):
        raise ValueError("no")

    c = Conversation(agent=Agent(ScriptedModel(["Done."]), []), callbacks=[listener])
    c.send_message("Do it.")
    assert c.run() == "answered"
    assert any("callback failed" in e.text for e in of(c, NoticeEvent))


@pytest.mark.parametrize("what", ["run", "to_html", "undo", "interrupt"])
def test_without_an_agent_there_is_nothing_to_run(what):
    """The conversation that executors get today says what is missing."""
    with pytest.raises(ToolbenchError, match="has no agent"):
        getattr(Conversation(), what)()


class Breaking:
    """A listener that raises what ends a thread, at some of the events."""

    def __init__(self, places):
        self.places, self.count = places, 0

    def __call__(self, event):
        self.count += 1
        if self.count in self.places:
            raise (KeyboardInterrupt, SystemExit, GeneratorExit)[self.count % 3]


_named_calls = st.lists(
    st.tuples(
        st.sampled_from(["add", "fail", "nothing"]),
        st.fixed_dictionaries({"a": st.integers(0, 9)}),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=60)
@given(
    st.sampled_from(PROVIDERS),
    st.lists(_named_calls, min_size=1, max_size=3),
    st.sets(st.integers(1, 20), max_size=6),
    st.sampled_from("rsx"),
)
def test_every_call_is_answered_once_whatever_a_listener_raises(
    provider, calls_by_turn, places, doing
):
    """Ctrl-C in a callback, at any event, in every dialect: no call is left, none has two."""
    script = [*(calls_of(provider, *calls) for calls in calls_by_turn), "Done."]
    model, listener = ScriptedModel(script, provider=provider), Breaking(places)
    c = Conversation(agent=Agent(model, [add, fail]), callbacks=[listener])
    with suppress(BaseException):
        c.send_message("Do it.")
    for _ in range(len(places) + 1):
        with suppress(KeyboardInterrupt, SystemExit, GeneratorExit):
            if doing == "r":
                c.run()
            elif doing == "s":
                c.step()
            else:
                c.reject_pending("no")
    listener.places = ()
    while c.run() not in ("answered", "repeated"):
        pass
    check_answered(c)
    assert sum(m.get("role") == "user" and "Do it." in str(m) for m in sent(c)) == 1
    if provider == "openai":
        for messages, _ in model.requests:
            check_sent(messages)
