"""A call while it runs: consent, questions, cancellation, and a person's hand in it."""

import asyncio
from threading import Event, Thread

import pytest
from fastmcp.client.elicitation import ElicitResult
from mcp.shared.exceptions import MCPError
from patience import PATIENCE, eventually, join

from test_serving.calling import Caller
from test_serving.clients import ERAS, call, client_of
from toolbench import Observation, current_run, history, policy, tool
from toolbench.errors import ToolbenchError
from toolbench.runs.questions import Answer
from toolbench.serving import serve

SIZE = {
    "type": "object",
    "properties": {"size": {"type": "integer", "description": "How large."}},
    "required": ["size"],
}
DEEP = {"type": "object", "properties": {"a": {"type": "object"}}}


@tool(destructive=True)
def erase(what: str) -> str:
    """Erase it."""
    return f"{what} is gone"


@tool(read_only=True)
def look(what: str) -> str:
    """Look at it."""
    return f"{what} is there"


@tool(read_only=True)
def bake() -> str:
    """Bake a cake, of a size that is asked for."""
    answer = current_run().ask("How large?", SIZE)
    return f"{answer.action}: {answer['size']}" if answer else answer.action


@tool(read_only=True)
async def bake_twice() -> str:
    """Ask two questions, from the background loop."""
    first = await current_run().ask_async("How large?", SIZE)
    second = await current_run().ask_async("Sure?")
    return f"{first['size']}, {second.action}"


@tool(read_only=True)
def explain() -> str:
    """Ask what no client can."""
    return current_run().ask("What is it like?", DEEP).action


class Slow:
    """A tool that waits until it is cancelled."""

    def __init__(self):
        self.begun, self.cancelled = Event(), Event()

        @tool(read_only=True)
        def slow() -> str:
            """Take long."""
            run = current_run()
            run.on_cancel(self.cancelled.set)
            self.begun.set()
            assert self.cancelled.wait(PATIENCE)
            return "too late"

        self.tool = slow


@pytest.fixture(params=ERAS.values(), ids=ERAS)
def mode(request):
    return request.param


@pytest.fixture
def served():
    with serve([erase, look, bake, bake_twice, explain], name="calls", answer_within=30) as served:
        yield served


def waiting(served):
    """The newest call, once it waits for a person here."""
    eventually(lambda: served.calls and served.calls[-1].questions)
    return served.calls[-1]


class TestConsent:
    def test_is_asked_for_here(self, served, mode):
        """The person sees the call and its arguments, and lets it run."""
        caller = Caller(served, "erase", {"what": "disk"}, mode)
        question = waiting(served).questions[0]
        assert 'what = "disk"' in question.message
        served.calls[-1].accept()
        assert caller.result().content[0].text == "disk is gone"
        assert history()[-1].decision.startswith("agreed to")

    def test_that_comes_too_late_is_an_error(self, served):
        """A person would else believe that it counted."""
        caller = Caller(served, "erase", {"what": "disk"})
        late = waiting(served)
        late.refuse()
        caller.result()
        eventually(lambda: late.is_over)
        for decide, word in ((late.accept, "accept"), (late.refuse, "refuse")):
            with pytest.raises(ToolbenchError) as error:
                decide()
            assert str(error.value) == (
                f"Call {late.id} of erase has ended (declined): there is nothing to {word}."
            )

    def test_a_refusal_is_told_with_its_reason(self, served):
        """The model can do something else."""
        caller = Caller(served, "erase", {"what": "disk"})
        waiting(served).refuse("it is mine")
        result = caller.result()
        assert result.is_error
        assert result.content[0].text == ("erase was not run: the user declined: it is mine.")
        assert history()[-1].state == "denied"

    def test_without_an_answer_it_is_refused(self, mode):
        """In time, with a sentence; nothing runs."""
        with serve([erase], name="alone", answer_within=0.05) as served:
            result = call(served, "erase", {"what": "disk"}, mode)
        assert result.is_error
        assert "no answer came within 0.05 seconds" in result.content[0].text
        assert history()[-1].state == "denied"

    def test_what_the_policy_denies_never_runs(self, served):
        """Nor is a person asked."""
        policy.deny(look)
        assert "denied" in call(served, "look", {"what": "x"}).content[0].text

    def test_what_the_policy_allows_runs(self, served):
        """As everywhere else."""
        policy.allow(erase)
        assert not call(served, "erase", {"what": "x"}).is_error

    def test_is_always_asked_for_if_wanted(self):
        """Before a tool too that only reads."""
        with serve([look], name="all", require="always") as served:
            caller = Caller(served, "look", {"what": "cat"})
            waiting(served).accept()
            assert not caller.result().is_error

    def test_is_never_asked_for_if_wanted(self):
        """But what is denied stays denied."""
        with serve([erase, look], name="none", require="never") as served:
            assert not call(served, "erase", {"what": "x"}).is_error
            policy.deny(look)
            assert call(served, "look", {"what": "x"}).is_error


class TestPersonsHand:
    def test_paused_calls_wait(self, served):
        """Until they are let go, one or all."""
        served.pause()
        caller = Caller(served, "look", {"what": "cat"})
        assert "calls are paused" in waiting(served).questions[0].message
        served.resume()
        assert caller.result().content[0].text == "cat is there"
        assert call(served, "look", {"what": "dog"}).content[0].text == "dog is there"

    def test_resuming_agrees_to_nothing_else(self, served):
        """A call that the policy asks about goes on waiting."""
        served.pause()
        caller = Caller(served, "erase", {"what": "disk"})
        waiting(served)
        served.resume()
        served.calls[-1].refuse("it is mine")
        assert "it is mine" in caller.result().content[0].text
        assert history()[-1].state == "denied"

    def test_resuming_answers_no_question_of_the_tool(self, served):
        """The call runs already: it waits for something else."""
        served.pause()
        caller = Caller(served, "bake")
        waiting(served).accept()
        eventually(lambda: served.calls[-1].run.decision and served.calls[-1].questions)
        served.resume()
        served.calls[-1].accept({"size": 3})
        assert caller.result().content[0].text == "accept: 3"

    def test_an_answer_by_hand_takes_the_place_of_the_run(self, served, mode):
        """The tool does not run; the agent cannot tell."""
        served.pause()
        caller = Caller(served, "look", {"what": "cat"}, mode)
        waiting(served).answer("the cat sleeps")
        assert caller.result().content[0].text == "the cat sleeps"
        assert history()[-1].decision == "answered by hand"

    def test_a_call_that_has_ended_takes_no_answer(self, served):
        """One sentence says so, and what the agent has stays."""
        assert not call(served, "look", {"what": "cat"}).is_error
        eventually(lambda: served.calls[-1].is_over)
        before = served.calls[-1].observation.text
        with pytest.raises(ToolbenchError, match=r"of look has ended \(succeeded\)\."):
            served.calls[-1].answer("the cat sleeps")
        assert served.calls[-1].observation.text == before
        assert not served.calls[-1].by_hand

    def test_a_second_answer_is_refused(self, served):
        """The agent has the first one."""
        served.pause()
        caller = Caller(served, "look", {"what": "cat"})
        waiting(served).answer("the cat sleeps")
        with pytest.raises(ToolbenchError, match="of look was answered by hand"):
            served.calls[-1].answer("the cat is awake")
        assert caller.result().content[0].text == "the cat sleeps"

    def test_a_running_call_can_be_answered(self, mode):
        """It is stopped then."""
        slow = Slow()
        with serve([slow.tool], name="slow") as served:
            caller = Caller(served, "slow", {}, mode)
            assert slow.begun.wait(PATIENCE)
            observation = Observation.from_text("never mind", is_error=True)
            served.calls[-1].answer(observation)
            result = caller.result()
            assert (result.is_error, result.content[0].text) == (True, "never mind")
            assert slow.cancelled.wait(PATIENCE)

    def test_a_running_call_can_be_refused(self):
        """It is stopped, and the agent is told so."""
        slow = Slow()
        with serve([slow.tool], name="slow") as served:
            caller = Caller(served, "slow")
            assert slow.begun.wait(PATIENCE)
            served.calls[-1].refuse("enough")
            assert "stopped by the user: enough" in str(caller.result().content)

    def test_a_question_is_answered_by_the_whole_result(self, served, mode):
        """The tool does not get it for the answer to its question."""
        caller = Caller(served, "bake", {}, mode)
        waiting(served).answer("a cake")
        result = caller.result()
        assert (result.is_error, result.content[0].text) == (False, "a cake")
        eventually(lambda: served.calls[-1].state == "cancelled")

    def test_a_reply_is_to_the_question_that_was_seen(self, served):
        """Not to one that came in its place."""
        caller = Caller(served, "bake_twice")
        [first] = waiting(served).questions
        assert served.calls[-1].reply(first, Answer("accept", {"size": 3}))
        eventually(lambda: served.calls[-1].questions not in ([], [first]))
        assert not served.calls[-1].reply(first, Answer("accept", {"answer": True}))
        served.calls[-1].accept()
        assert caller.result().content[0].text == "3, accept"

    def test_a_call_that_waits_is_not_forgotten(self, served, monkeypatch):
        """However many come after it."""
        monkeypatch.setattr("toolbench.serving.served_tools.KEPT_CALLS", 2)
        caller = Caller(served, "erase", {"what": "disk"})
        first = waiting(served)
        for _ in range(4):
            call(served, "look", {"what": "cat"})
        assert served.calls[0] is first
        assert (len(served.calls), served.count) == (2, 5)
        first.accept()
        assert not caller.result().is_error


class TestQuestions:
    async def large(self, message, response_type, params, context):
        """The agent's person answers."""
        if "Sure" in message:
            return ElicitResult(action="accept", content={"answer": True})
        return ElicitResult(action="accept", content={"size": 3})

    def test_go_to_the_agents_person(self, served, mode):
        """Where its program can ask one."""
        result = call(served, "bake", {}, mode, elicitation_handler=self.large)
        assert result.content[0].text == "accept: 3"

    def test_several_go_one_after_another(self, served, mode):
        """From an async tool as well."""
        result = call(served, "bake_twice", {}, mode, elicitation_handler=self.large)
        assert result.content[0].text == "3, accept"

    def test_a_decline_is_a_decline(self, served, mode):
        """And no failure of the tool."""

        async def no(message, response_type, params, context):
            return ElicitResult(action="decline")

        result = call(served, "bake", {}, mode, elicitation_handler=no)
        assert result.content[0].text == "decline"

    def test_come_here_from_a_client_that_cannot_ask(self, served, mode):
        """As they do from a button."""
        caller = Caller(served, "bake", {}, mode)
        waiting(served).accept({"size": 5})
        assert caller.result().content[0].text == "accept: 5"

    def test_come_here_if_wanted(self, served, mode):
        """Whatever the client can."""
        served.questions_to = "notebook"
        thread = Thread(target=lambda: waiting(served).accept({"size": 7}))
        thread.start()
        result = call(served, "bake", {}, mode, elicitation_handler=self.large)
        join(thread)
        assert result.content[0].text == "accept: 7"

    def test_what_no_client_can_ask_comes_here(self, served, mode):
        """Elicitation has only flat forms."""
        thread = Thread(target=lambda: waiting(served).refuse())
        thread.start()
        result = call(served, "explain", {}, mode, elicitation_handler=self.large)
        join(thread)
        assert result.content[0].text == "decline"


class TestCancellation:
    def test_by_the_agent_stops_the_run(self, mode):
        """The tool is told, and the record says so."""
        slow = Slow()

        async def give_up():
            async with client_of(served, mode) as client:
                task = asyncio.create_task(client.call_tool("slow", {}))
                await asyncio.to_thread(slow.begun.wait, PATIENCE)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                await asyncio.to_thread(slow.cancelled.wait, PATIENCE)

        with serve([slow.tool], name="slow") as served:
            asyncio.run(give_up())
            assert slow.cancelled.is_set()
            eventually(lambda: served.calls[-1].is_over)
        assert history()[-1].state == "cancelled"

    def test_by_closing_stops_the_run(self, mode):
        """And the agent is told."""
        slow = Slow()
        served = serve([slow.tool], name="slow")
        caller = Caller(served, "slow", {}, mode)
        assert slow.begun.wait(PATIENCE)
        served.close()
        assert slow.cancelled.is_set()
        assert "the server was closed" in str(caller.result().content)


@pytest.mark.parametrize("mode", ERAS.values(), ids=ERAS)
def test_a_call_with_too_many_names_is_refused_before_any_work(mode):
    """Each name would be compared with known ones; a long list is no such work."""

    @tool(read_only=True)
    def total(numbers: list[int]) -> int:
        """Add them up."""
        return sum(numbers)

    names = {f"k{n}": n for n in range(10_001)}
    with serve([total]) as served:
        with pytest.raises(MCPError, match="more than 10,000 different names"):
            call(served, "total", {"numbers": [names]}, mode)
        assert call(served, "total", {"numbers": [1] * 20_000}, mode).data == 20_000
