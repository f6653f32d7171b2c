import _thread
import re
import threading
from contextlib import suppress
from typing import get_args

import pytest
from patience import PATIENCE, join

from test_agent.checks import check_answered, of, sent
from test_agent.scripts import add, call, calls, talk
from toolbench import Conversation, SecurityRisk, current_run, history, tool
from toolbench.agent import (
    Agent,
    LLMSecurityAnalyzer,
    MessageEvent,
    NoticeEvent,
    ObservationEvent,
    StopEvent,
)
from toolbench.agent.events import StopReason
from toolbench.errors import ModelStoppedError
from toolbench.llm.models import PersonModel, ScriptedModel
from toolbench.llm.models.convert import FunctionModel
from toolbench.runs.control import active
from toolbench.runs.questions import Answer, answering


def noting(numbers):
    @tool(read_only=True)
    def act(a: int) -> int:
        """Act."""
        numbers.append(a)
        return a

    return act


class Interrupting:
    """Rates a call while the person presses Stop."""

    def __init__(self):
        self.conversation = None

    def security_risk(self, event):
        self.conversation.interrupt()
        return SecurityRisk.LOW


def test_no_call_runs_when_stop_came_while_it_was_rated():
    """The calls wait for the person, as after any stop before them; then they run once."""
    numbers = []
    rater = Interrupting()
    script = [calls(call("act", {"a": 1}), call("act", {"a": 2}, id="c2")), "Done."]
    c = rater.conversation = talk(script, [noting(numbers)], security_analyzer=rater)
    assert c.run() == "paused"
    assert numbers == []
    check_answered(c, waiting=2)
    c.agent.security_analyzer = None
    assert c.run() == "answered"
    assert sorted(numbers) == [1, 2]
    check_answered(c)


class Hanging:
    """A model that answers nothing until it is cancelled."""

    name, provider = "hanging", "openai"

    def __init__(self):
        self.request_event = threading.Event()

    def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
        cancelled = threading.Event()
        cancel.on_cancel(cancelled.set)
        self.request_event.set()
        assert cancelled.wait(PATIENCE)
        raise ModelStoppedError("stopped")


def test_stop_ends_the_request_that_rates_a_call():
    """The model that rates hears of the stop; the call is not run."""
    numbers, model = [], Hanging()
    c = talk(
        [calls(call("act", {"a": 1})), "Done."],
        [noting(numbers)],
        security_analyzer=LLMSecurityAnalyzer(model),
    )
    thread = threading.Thread(target=c.run)
    thread.start()
    assert model.request_event.wait(PATIENCE)
    c.interrupt()
    join(thread)
    assert numbers == []
    check_answered(c, waiting=1)


def test_an_answer_that_came_after_the_stop_is_not_used():
    """A function that answers for a model cannot be stopped, but nothing follows from it."""

    def late(messages, tools):
        c.interrupt()
        return "Too late."

    c = talk(FunctionModel(late))
    assert c.run() == "paused"
    assert [e.text for e in of(c, MessageEvent)] == ["Do it."]


def test_after_a_stop_no_further_question_is_asked():
    """Three calls want consent; the person stops it at the first question: the rest is cancelled."""
    questions = []

    def person(question):
        questions.append(question.message)
        c.interrupt()
        return Answer("decline")

    c = talk([calls(*[call("wipe", {"path": p}, id=p) for p in "abc"]), "Done."])
    c.calls.asker = person
    assert c.run() == "paused"
    assert len(questions) == 1
    check_answered(c)
    assert [e.observation.is_error for e in of(c, ObservationEvent)] == [True] * 3
    assert not any("is gone" in e.answer.text for e in of(c, ObservationEvent))


def test_a_stop_before_a_run_counts():
    """Whoever stops it just before it begins is heard; the next run goes on."""
    c = talk(["Done."])
    c.interrupt()
    assert c.run() == "paused" and not c.agent.llm.requests
    assert c.run() == "answered"


def test_a_stop_that_came_too_late_does_not_stop_the_next_message():
    """Pressed in the moment in which the answer was complete: what is said then is answered."""
    c = talk(["Done.", "More."])
    c.run()
    c.interrupt()
    c.send_message("And?")
    assert c.run() == "answered"
    assert c.final_text == "More."


def test_a_message_does_not_take_back_a_stop():
    """While the work goes on, the person may stop it, and say something before it has stopped."""
    numbers = []

    def model(messages, tools):
        c.pause()
        c.send_message("And?")
        return calls(call("act", {"a": 1}))

    c = talk(FunctionModel(model), [noting(numbers)])
    assert c.run() == "paused"
    assert numbers == []
    check_answered(c, waiting=1)


def test_a_stop_during_a_run_is_over_with_it():
    """It has stopped: the next run is not stopped once more."""
    c = talk(["Done.", "More."])
    forget = c.agent_state.log.listen(lambda event: c.interrupt())
    c.run()
    forget()
    c.send_message("And?")
    assert c.run() == "answered"


def test_a_stop_between_the_look_and_the_request_is_heard():
    """The last thing before the request is to look whether it is wanted."""
    c = talk(["Done."])
    c.agent_state.context.add = stopping(c, c.agent_state.context.add)
    assert c.run() == "paused"
    assert not c.agent.llm.requests
    assert c.run() == "answered"


def stopping(conversation, function):
    """*function*, during whose first call the person stops the conversation."""
    done = []

    def wrapped(*args):
        function(*args)
        if not done:
            done.append(True)
            conversation.interrupt()

    return wrapped


def test_a_stop_of_the_outer_conversation_stops_a_task_that_has_not_begun():
    """The inner model is not asked."""
    inner = ScriptedModel(["Inner."])
    sub = Agent(inner, [])
    c = Conversation(
        agent=Agent(ScriptedModel([calls(call("delegate", {"task": "t"})), "ok"]), [sub])
    )

    class Early(type(sub)):
        def toolset(self, state):
            c.interrupt()
            return super().toolset(state)

    sub.__class__ = Early
    c.send_message("Do it.")
    assert c.run() == "paused"
    assert not inner.requests
    check_answered(c)


@pytest.mark.parametrize("reason", get_args(StopReason))
def test_the_end_of_a_transcript_is_a_sentence(reason):
    """`stopped, answered` was read as an error; the code itself is what `run` returns."""
    text = str(StopEvent(reason=reason).visualize)
    assert re.fullmatch(r"[A-Z][^_]*\.", text) and text != f"{reason}."


@pytest.mark.parametrize("count", [1, 3])
def test_stop_waits_for_no_tool(count):
    """A tool that hears nothing goes on behind; what it answers later is not used."""
    begun, go_on, over = threading.Event(), threading.Event(), threading.Event()

    @tool(read_only=True)
    def deaf(n: int) -> str:
        """Work on, whatever happens."""
        begun.set()
        assert hard_wait(go_on)
        over.set()
        return "late"

    script = [calls(*[call("deaf", {"n": n}, id=f"c{n}") for n in range(count)]), "On."]
    c = talk(script, [deaf])
    reasons = []
    thread = threading.Thread(target=lambda: reasons.append(c.run()))
    thread.start()
    assert begun.wait(PATIENCE)
    c.interrupt()
    join(thread)
    assert reasons == ["paused"]
    check_answered(c)
    assert [e for e in of(c, NoticeEvent) if "goes on in the background" in e.text]
    go_on.set()
    assert over.wait(PATIENCE)
    wait_for_runs()
    assert c.run() == "answered"
    assert "late" not in str(sent(c))


def hard_wait(flag):
    """Wait for *flag* in C: no exception of Python's ends it."""
    while True:
        try:
            return flag.wait(PATIENCE)
        except BaseException:  # noqa: BLE001 - the tool hears nothing
            continue


def test_stop_ends_a_call_of_a_cell():
    """In the main thread too: another thread stops the conversation, and the cell goes on."""
    begun, go_on = threading.Event(), threading.Event()

    @tool(read_only=True)
    def deaf() -> str:
        """Work on."""
        begun.set()
        hard_wait(go_on)
        return "late"

    c = talk([calls(call("deaf")), "On."], [deaf])
    stopper = threading.Thread(target=lambda: begun.wait(PATIENCE) and c.interrupt())
    stopper.start()
    assert c.run() == "paused"
    join(stopper)
    go_on.set()
    wait_for_runs()
    check_answered(c)


def wait_for_runs():
    """Wait until no run goes on behind."""
    for run in active:
        assert run.done.wait(PATIENCE)


@pytest.fixture
def unanswered(monkeypatch):
    """Nobody types: `input()` waits as in a kernel, which looks for a line again and again.

    The event is set as soon as a question waits. No question may wait to the end.
    """
    is_asked, never, waited = threading.Event(), threading.Event(), []

    def wait(prompt=""):
        is_asked.set()
        for _ in range(int(PATIENCE * 100)):
            never.wait(0.01)
        waited.append(prompt)
        raise EOFError

    monkeypatch.setattr("builtins.input", wait)
    yield is_asked
    assert waited == []


def stop_when(is_asked, conversation):
    """Press Stop, in the thread of a subshell, when a question waits."""

    def press():
        assert is_asked.wait(PATIENCE)
        conversation.interrupt()

    thread = threading.Thread(target=press)
    thread.start()
    return thread


def test_stop_withdraws_the_question_of_a_tool(unanswered):
    """The cell waits in `input()` for the person, who presses Stop instead of typing an answer."""
    answers = []

    @tool(read_only=True)
    def germinate(days: int) -> str:
        """Let seeds germinate."""
        answers.append(current_run().ask("Which tray?", {"type": "string"}).action)
        return "10 percent"

    c = talk([calls(call("germinate", {"days": 30})), "Done."], [germinate])
    thread = stop_when(unanswered, c)
    assert c.run() == "paused"
    join(thread)
    assert answers == ["cancel"]
    check_answered(c)
    assert c.run() == "answered"


def kernel_interrupt(conversation):
    """Choose Kernel > Interrupt, which raises an error in the thread of the cell."""
    _thread.interrupt_main()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("end", [Conversation.interrupt, kernel_interrupt])
def test_a_stopped_call_is_cancelled_wherever_it_is_told(unanswered, end, tmp_path):
    """In the transcript, the history and to the model, which also reads the partial result."""

    @tool(read_only=True)
    def germinate(days: int) -> str:
        """Let seeds germinate."""
        answer = current_run().ask("Which tray?", {"type": "string"})
        return f"{days if answer else days // 2} days"

    script = [calls(call("germinate", {"days": 30})), "Done."]
    c = talk(script, [germinate])
    thread = threading.Thread(target=lambda: unanswered.wait(PATIENCE) and end(c), daemon=True)
    thread.start()
    with suppress(KeyboardInterrupt):
        c.run()
    join(thread)
    assert [record.state for record in history()] == ["cancelled"]
    c.save(tmp_path / "c.jsonl")
    loaded = Conversation.load(tmp_path / "c.jsonl", Agent(ScriptedModel(["On."]), []))
    for one in (c, loaded):
        assert ">cancelled<" in one.to_html() and ">succeeded<" not in one.to_html()
        one.run()
        [answer] = [m["content"] for m in sent(one) if m["role"] == "tool"]
        assert "15 days" in answer and "The user interrupted the run" in answer


def test_stop_withdraws_the_question_to_a_person_who_is_the_model(unanswered):
    """The request is stopped, and the next run asks again."""
    c = talk(PersonModel(), [add])
    thread = stop_when(unanswered, c)
    assert c.run() == "paused"
    join(thread)
    with answering({"text": "Five."}):
        assert c.run() == "answered"
