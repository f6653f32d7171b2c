"""Calls that wait for a person: edited, refused, answered by hand, run one by one."""

import json

import pytest

from test_agent.checks import check_answered, check_sent, of, sent
from test_agent.scripts import PROVIDERS, add, call, calls, calls_of, talk
from toolbench import Conversation, Observation, history, tool
from toolbench.agent import (
    ActionEvent,
    Agent,
    MessageEvent,
    ObservationEvent,
    UserRejectObservation,
)
from toolbench.errors import ToolbenchError
from toolbench.llm.models import ScriptedModel
from toolbench.llm.tokens import tool_tokens


def stepping(*more, provider="openai"):
    """A conversation whose model asked for two calls, which wait."""
    message = calls_of(provider, ("add", {"a": 1}), ("add", {"a": 2}), text="Now:")
    model = ScriptedModel([message, *(more or ["Done."])], provider=provider)
    conversation = talk(model)
    conversation.ask()
    return conversation


def texts(conversation):
    return [event.answer.text for event in of(conversation, ObservationEvent)]


class TestAsking:
    def test_leaves_the_calls_waiting(self):
        """Nothing runs before the person lets it."""
        c = stepping()
        assert [dict(call.tool_call.arguments) for call in c.pending] == [
            {"a": 1},
            {"a": 2},
        ]
        assert len(history()) == 0
        check_answered(c, waiting=2)

    def test_again_asks_for_nothing_while_calls_wait(self):
        """A call without an answer is never left behind."""
        c = stepping()
        assert c.ask() == []
        assert len(c.agent.llm.requests) == 1

    def test_goes_on_by_step_and_by_run(self):
        """The calls that wait come first."""
        c = stepping()
        c.step()
        assert c.pending == [] and texts(c) == ["2", "3"]
        assert c.run() == "answered"


class TestRunningOne:
    def test_leaves_the_others(self):
        """One call after the other, in any order; then the model reads all answers."""
        c = stepping()
        first, second = c.pending
        c.run_pending(second)
        assert texts(c) == ["3"] and c.pending == [first]
        c.run_pending(first.tool_call_id)
        assert c.pending == [] and c.run() == "answered"
        check_answered(c)
        check_sent(sent(c))

    def test_of_a_call_that_waits_no_more_says_so(self):
        """One sentence with what can be chosen."""
        c = stepping()
        first, _ = c.pending
        c.run_pending(first)
        with pytest.raises(ToolbenchError, match=r"1 call can be chosen: 'c1'"):
            c.run_pending(first)


class TestEditing:
    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_runs_the_new_arguments_and_tells_the_model(self, provider):
        """The model's own message stays as it was; the answer says what ran."""
        c = stepping(provider=provider)
        first, _ = c.pending
        c.edit_pending(first, {"a": 40, "b": 2})
        assert c.pending[0].tool_call.arguments == {"a": 40, "b": 2}
        assert c.run() == "answered"
        assert texts(c)[0].startswith("42")
        text = json.dumps(sent(c), ensure_ascii=False)
        assert "changed the arguments" in text and "40" in text
        # The two calls ran at the same time
        assert {"a": 40, "b": 2} in [record.arguments for record in history()]
        check_answered(c)

    def test_refuses_what_does_not_fit(self):
        """The call waits on as it was, and the sentence says what is wrong."""
        c = stepping()
        first, _ = c.pending
        with pytest.raises(ToolbenchError, match="left as it is"):
            c.edit_pending(first, {"a": "much"})
        with pytest.raises(ToolbenchError, match="dict"):
            c.edit_pending(first, "a=1")
        assert c.pending[0] == first

    def test_needs_to_know_which_call(self):
        """With two calls there is no only one."""
        with pytest.raises(ToolbenchError, match="name one of"):
            stepping().edit_pending(None, {"a": 1})

    def test_mends_a_call_that_did_not_fit(self):
        """A call the model got wrong can be put right by hand."""
        c = talk([calls(call("add", {"a": "x"})), "Done."])
        c.ask()
        c.edit_pending(None, {"a": 1})
        assert c.run() == "answered" and texts(c)[0].startswith("2")
        check_answered(c)

    def test_is_saved_and_read_again(self, tmp_path):
        """An edited call that waits runs with the new arguments after load, too."""
        c = stepping()
        c.edit_pending("c0", {"a": 40, "b": 2})
        c.save(tmp_path / "c.jsonl")
        loaded = Conversation.load(tmp_path / "c.jsonl", Agent(ScriptedModel(["Done."]), [add]))
        assert loaded.run() == "answered"
        assert texts(loaded)[0].startswith("42")
        check_answered(loaded)

    def test_shows_no_secret(self, tmp_path):
        """What the person types of a secret is in no file, page or message."""
        model = ScriptedModel([calls(call("note", {"text": "x"})), "Done."])

        @tool(read_only=True)
        def note(text: str) -> str:
            """Note."""
            return "ok"

        c = Conversation(agent=Agent(model, [note]), secrets={"K": "TOPSECRET99"})
        c.send_message("Go.")
        c.ask()
        c.edit_pending(None, {"text": "TOPSECRET99"})
        c.run()
        c.save(tmp_path / "c.jsonl")
        texts = [
            (tmp_path / "c.jsonl").read_text(),
            c.to_html(),
            json.dumps(model.requests),
            *c._repr_mimebundle_().values(),
            json.dumps([request.to_dict() for request in c.requests]),
        ]
        assert not [text for text in texts if "TOPSECRET99" in text]


class TestAnsweringByHand:
    def test_stands_for_the_tool(self):
        """What if the tool had said this: it does not run, and the model reads the words."""
        c = stepping()
        c.answer_pending("c0", "Out of paper.")
        c.answer_pending("c1", Observation.from_text("No.", is_error=True))
        assert c.run() == "answered" and len(history()) == 0
        answers = [m["content"] for m in sent(c) if m["role"] == "tool"]
        assert answers[0] == "Out of paper." and "No." in answers[1]
        assert all(event.by_hand for event in of(c, ObservationEvent))
        assert c.to_html().count("answered by hand") == 2

    def test_counts_as_the_end_of_the_task(self):
        """A call of finish that a person answers finishes."""
        c = talk([calls(call("finish", {"message": "Bye."}))])
        c.ask()
        c.answer_pending(None, "ok")
        assert c.run() == "finished"


class TestRefusing:
    def test_one_leaves_the_other(self):
        """The refused one is answered with the reason, and the other runs."""
        c = stepping()
        c.reject_pending("Not today.", "c0")
        [refused] = of(c, UserRejectObservation)
        assert refused.tool_call_id == "c0"
        assert c.run() == "answered" and texts(c) == ["3"]
        assert "Not today." in json.dumps(sent(c))
        check_answered(c)


class TestForks:
    def test_from_a_call_waits_there(self):
        """What if the tool had said something else: the call has no answer in the fork."""
        c = stepping("Done.", "Otherwise.")
        c.run()
        first = of(c, ActionEvent)[0]
        other = c.fork(first)
        assert [call.id for call in other.pending] == [call.id for call in of(c, ActionEvent)]
        other.answer_pending("c0", "Seven.")
        assert other.run() == "answered"
        assert other.final_text == "Otherwise." and c.final_text == "Done."
        assert "Seven." in json.dumps(sent(other))
        check_answered(c)
        check_answered(other)

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_from_any_event_leaves_no_call_without_its_answer(self, provider):
        """Wherever it begins, every call waits or has its answer, and it can go on."""
        c = stepping("Done.", *["More."] * 20, provider=provider)
        c.edit_pending(c.pending[0], {"a": 40})
        c.run()
        c.send_message("And?")
        c.run()
        for event in c.events:
            other = c.fork(event)
            check_answered(other, waiting=len(other.pending))
            if isinstance(event, MessageEvent) and event.source == "agent":
                other.send_message("On.")
            assert other.run() in ("answered", "finished")
            check_answered(other)

    def test_leaves_the_first_one_alone(self):
        """What happens in the fork happens there alone."""
        c = stepping("Done.", "More.")
        c.run()
        count = len(c.events)
        other = c.fork()
        other.send_message("Now?")
        other.run()
        assert len(c.events) == count
        assert [e.id for e in other.events][:count] == [e.id for e in c.events]

    def test_of_an_event_that_is_none_says_so(self):
        """One sentence."""
        with pytest.raises(ToolbenchError, match="no event 99"):
            stepping().fork(99)


class TestResults:
    def test_of_a_tool_is_its_last_observation(self):
        """By name, as a variable."""
        c = stepping()
        c.run()
        assert c.result("add").text == "3" and c.result().text == "3"
        with pytest.raises(LookupError, match="No tool called 'wipe'"):
            c.result("wipe")


class TestRequests:
    def test_are_exactly_what_the_model_got(self):
        """Request by request, also after some were condensed: what the model was given."""
        c = stepping("Done.", "A summary.", "More.")
        c.run()
        c.condense()
        c.send_message("And?")
        c.run()
        sent_requests = c.agent.llm.requests
        # One is the summary
        assert len(c.requests) == 3 and len(sent_requests) == 4
        for request, (messages, tools) in zip(
            c.requests,
            [sent_requests[0], sent_requests[1], sent_requests[3]],
            strict=True,
        ):
            assert (list(request.messages), list(request.tools)) == (messages, tools)

    def test_tell_the_tokens_of_each_part(self):
        """A number for each message and each tool; together they are the request."""
        c = stepping()
        [request] = c.requests
        assert list(request.tool_tokens) == ["add", "fail", "wipe", "finish"]
        parts = [*request.message_tokens, *request.tool_tokens.values()]
        assert request.tokens == sum(parts) and min(parts) > 0
        html = request.to_html()
        assert "wipe" in html and "The exact request" in html

    @pytest.mark.parametrize("provider", ["openai", "responses", "anthropic"])
    def test_say_the_same_tokens_of_a_tool_as_its_panel(self, provider):
        """Lint, panel and the table of a step have one number for one tool."""
        model = ScriptedModel(["Done."], provider=provider)
        c = Conversation(agent=Agent(model, [add]))
        c.send_message("Two and three?")
        c.run()
        [request] = c.requests
        assert request.tool_tokens == {"add": tool_tokens(add).tokens}

    def test_show_what_comes_next(self):
        """Before it is sent, with the message the model has not read yet."""
        c = talk(["Done."])
        coming = c.next_request
        c.run()
        assert list(coming.messages) == sent(c)
        assert list(coming.tools) == c.agent.llm.requests[0][1]
