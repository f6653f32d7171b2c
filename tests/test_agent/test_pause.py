import re
import signal
import threading

import pytest
from patience import PATIENCE, eventually, join

from test_agent.checks import check_answered, check_sent, of, sent
from test_agent.scripts import add, call, calls, talk
from toolbench import (
    Conversation,
    current_run,
    history,
    tool,
)
from toolbench.agent import (
    ActionEvent,
    Agent,
    MessageEvent,
    ObservationEvent,
    StopEvent,
    UserRejectObservation,
)
from toolbench.errors import ToolbenchError
from toolbench.runs.policy import policy
from toolbench.runs.questions import Answer as Reply
from toolbench.runs.questions import answering


@tool
def interrupted() -> str:
    """Press Ctrl-C, and wait until the run is stopped for it."""
    stopped = threading.Event()
    current_run().on_cancel(stopped.set)
    signal.raise_signal(signal.SIGINT)
    assert stopped.wait(PATIENCE)
    raise TimeoutError("stopped")


class TestPause:
    def test_between_answer_and_calls_leaves_them_waiting(self):
        """They run first with the next run: none is lost, none runs twice."""
        c = talk([calls(call("add", {"a": 1})), "Done."])
        c.agent_state.log.listen(lambda e: c.pause() if isinstance(e, ActionEvent) else None)
        assert c.run() == "paused"
        check_answered(c, waiting=1)
        assert c.run() == "answered"
        check_answered(c)
        check_sent(sent(c))

    def test_pending_calls_can_be_refused(self):
        """Each is answered with the reason, and the model reads it."""
        c = talk([calls(call("add", {"a": 1}), call("fail", id="c2")), "All right."])
        c.agent_state.log.listen(lambda e: c.pause() if isinstance(e, ActionEvent) else None)
        c.run()
        c.send_message("Never mind.")
        c.reject_pending("Not today.")
        assert [e.reason for e in of(c, UserRejectObservation)] == ["Not today."] * 2
        assert not history()
        assert c.run() == "answered"
        check_sent(sent(c))
        assert sent(c)[-1]["content"] == "Never mind."

    def test_interrupt_stops_request_and_tools(self):
        """A tool that runs is told to stop; its call is answered with that."""
        begun = threading.Event()

        @tool
        def wait() -> str:
            """Wait for being cancelled."""
            stopped = threading.Event()
            current_run().on_cancel(stopped.set)
            begun.set()
            assert stopped.wait(PATIENCE)
            return "stopped"

        c = talk([calls(call("wait"))], [wait])
        reasons = []
        thread = threading.Thread(target=lambda: reasons.append(c.run()))
        thread.start()
        assert begun.wait(PATIENCE)
        c.interrupt()
        join(thread)
        assert reasons == ["paused"]
        check_answered(c)
        assert history()[-1].state == "cancelled"

    @pytest.mark.usefixtures("no_collector")
    def test_keyboard_interrupt_goes_on_and_leaves_no_call_open(self):
        """Ctrl-C in a cell ends the cell; every call has its answer all the same."""
        message = calls(call("interrupted"), call("nothing", id="c2"))
        c = talk([message, "On."], [interrupted])
        with pytest.raises(KeyboardInterrupt):
            c.run()
        check_answered(c)
        assert [e.reason for e in of(c, StopEvent)] == ["paused"]
        assert c.run() == "answered"
        check_sent(sent(c))
        # The tool ends after its call
        eventually(lambda: len(history()) == 1)

    def test_exit_ends_it_and_runs_no_call_that_waits(self):
        """Who leaves has said yes to nothing; the calls are answered all the same."""
        c = talk([calls(call("wipe", {"path": "/x"}))])
        c.ask()
        c.send_message("Well.")
        c.send_message("/exit")
        assert c.run() == "finished"
        assert "ended the conversation" in of(c, UserRejectObservation)[0].reason
        check_answered(c)
        assert len(history()) == 0 and len(c.agent.llm.requests) == 1

    @pytest.mark.usefixtures("no_collector")
    def test_a_break_is_neither_a_failure_nor_a_refusal(self, tmp_path):
        """The page says what became of a call, also that of a conversation that was saved."""
        script = [calls(call("nothing", id="c1")), calls(call("interrupted", id="c2"))]
        c = talk(script, [interrupted])
        c.ask()
        c.reject_pending("Not now.")
        with pytest.raises(KeyboardInterrupt):
            c.run()
        c.save(tmp_path / "c.jsonl")
        for one in (c, Conversation.load(tmp_path / "c.jsonl", c.agent)):
            badges = re.findall(r">(declined|cancelled|failed|refused)</span>", one.to_html())
            assert badges == ["declined", "cancelled"]
        # The tool ends after its call
        eventually(lambda: len(history()) == 1)

    def test_one_thread_at_a_time(self):
        """Two steps at once would ask the model twice for the same."""
        inside, go_on = threading.Event(), threading.Event()

        def model(messages, tools):
            inside.set()
            assert go_on.wait(PATIENCE)
            return "Done."

        c = Conversation(agent=Agent(model, []))
        c.send_message("Hello.")
        thread = threading.Thread(target=c.run)
        thread.start()
        assert inside.wait(PATIENCE)
        with pytest.raises(ToolbenchError, match="another thread"):
            c.run()
        c.send_message("And this.")
        go_on.set()
        join(thread)
        assert [e.reason for e in of(c, StopEvent)] == ["answered"]
        assert len([e for e in of(c, MessageEvent) if e.source == "agent"]) == 2


class TestConsent:
    def test_the_model_is_told_the_reason(self):
        """What the person says about a no is the answer to the call."""
        c = talk([calls(call("wipe", {"path": "/x"})), "All right."])
        with answering(Reply("decline"), "I still need it."):
            assert c.run() == "answered"
        assert "I still need it." in sent(c)[-1]["content"]
        assert history()[-1].state == "denied"
        assert "I still need it." in history()[-1].decision

    def test_an_answer_for_the_next_call_is_not_taken_for_the_reason(self):
        """Only words say why."""
        script = [calls(call("wipe", {"path": path})) for path in ("/x", "/y")]
        c = talk([*script, "All right."])
        with answering(False, True):
            assert c.run() == "answered"
        assert [run.state for run in history()] == ["denied", "ok"]

    def test_a_yes_lets_it_run(self):
        """The policy asks; the tool runs."""
        c = talk([calls(call("wipe", {"path": "/x"})), "Gone."])
        with answering(True):
            c.run()
        assert of(c, ObservationEvent)[0].observation.text == "/x is gone"

    def test_where_nobody_can_be_asked_it_is_refused(self):
        """No consent, no run; and no question why."""
        c = talk([calls(call("wipe", {"path": "/x"})), "All right."])
        c.run()
        assert "nobody could be asked" in of(c, UserRejectObservation)[0].reason

    def test_the_policy_can_deny(self):
        """A denied tool never runs."""
        policy.deny(add)
        c = talk([calls(call("add", {"a": 1})), "All right."])
        c.run()
        assert "denied" in of(c, UserRejectObservation)[0].reason
