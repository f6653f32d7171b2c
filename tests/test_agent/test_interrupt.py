"""A KeyboardInterrupt at any line of the agent's code: afterwards every call has one answer."""

import json
import signal
import sys
import threading
from contextlib import suppress

import pytest
from patience import PATIENCE, eventually

from test_agent.checks import check_answered, check_sent, of, sent
from test_agent.scripts import add, call, calls, talk
from toolbench import Conversation, current_run, tool
from toolbench.agent import (
    Agent,
    MessageEvent,
    ObservationEvent,
    StopEvent,
    UserRejectObservation,
)
from toolbench.core.builtins import FinishTool
from toolbench.llm.models import ScriptedModel
from toolbench.runs.history import RunHistory

SCRIPT = [
    calls(call("add", {"a": 1}), call("add", {"a": 3}, id="c2"), text="First."),
    calls(call("add", {"a": "x"}), call("nothing", id="c3")),
    *["Done."] * 4,
]
# Lines between two interrupts
EVERY = 9


class Interrupt:
    """Raises KeyboardInterrupt at one line of the agent's code."""

    def __init__(self, place):
        self.left, self.is_over = place, False

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *error):
        sys.settrace(self._before)

    def _enter(self, frame, event, argument):
        is_agent = "toolbench/agent" in frame.f_code.co_filename.replace("\\", "/")
        return self._line if is_agent and not self.is_over else None

    def _line(self, frame, event, argument):
        if event == "line" and not self.is_over:
            self.left -= 1
            if self.left == 0:
                self.is_over = True
                raise KeyboardInterrupt
        return self._line


def interrupted(place):
    """A conversation whose run was interrupted at the line *place*; None if it has fewer lines."""
    c = talk(SCRIPT, [add])
    with Interrupt(place) as interrupt, suppress(KeyboardInterrupt):
        c.run()
    return c if interrupt.is_over else None


def all_interrupted():
    place = 1
    while (c := interrupted(place)) is not None:
        yield c
        place += EVERY
    assert place > 50 * EVERY


def check(c):
    """It goes on, in any piece of work; each call has one answer, the message stands once."""
    check_answered(c, waiting=len(c.pending))
    assert len(of(c, StopEvent)) <= 1
    assert c.run() == "answered"
    check_answered(c)
    messages = [*c.next_request.messages]
    check_sent(messages)
    assert [m["content"] for m in messages if m["role"] == "user"] == ["Do it."]


@pytest.mark.slow
def test_an_interrupt_at_any_line_leaves_every_call_with_one_answer():
    """No call without an answer, none with two; nothing is locked, and no message sent twice."""
    for c in all_interrupted():
        check(c)


@pytest.mark.slow
def test_a_conversation_interrupted_at_any_line_is_loaded_and_forked(tmp_path):
    """The calls that waited still wait, in the file and in the fork."""
    for c in [*all_interrupted()][::5]:
        c.save(tmp_path / "c.jsonl", overwrite=True)
        agent = Agent(ScriptedModel(SCRIPT[2:]), [add])
        loaded = Conversation.load(tmp_path / "c.jsonl", agent)
        fork = c.fork()
        assert len(loaded.pending) == len(fork.pending) == len(c.pending)
        check(loaded)
        check(fork)


def test_an_interrupt_at_any_line_loses_no_message():
    """A message whose sending was interrupted is among the events and is sent, or is in neither."""
    place, is_over = 1, True
    while is_over:
        c = talk(["Done."] * 2)
        c.run()
        with Interrupt(place) as interrupt, suppress(KeyboardInterrupt):
            c.send_message("More.")
        said = [e.text for e in of(c, MessageEvent) if e.source == "user"]
        c.run()
        assert [m["content"] for m in sent(c) if m["role"] == "user"] == said
        place, is_over = place + 1, interrupt.is_over
    assert place > 20


def test_an_interrupt_at_any_line_of_a_run_loses_no_message():
    """What the user said before is in the later requests, once."""
    place, is_over = 1, True
    while is_over:
        c = talk(["Done."] * 3, [add])
        with Interrupt(place) as interrupt, suppress(KeyboardInterrupt):
            c.run()
        c.send_message("More.")
        c.run()
        users = [m["content"] for m in c.next_request.messages if m["role"] == "user"]
        assert users == ["Do it.", "More."]
        place, is_over = place + 1, interrupt.is_over
    assert place > 50


def test_an_interrupt_at_any_line_keeps_the_end():
    """A task that the model has finished stays finished; no further request is sent."""
    place, is_over = 1, True
    while is_over:
        c = talk([calls(call("finish", {"message": "m"})), "Not asked."], [FinishTool])
        with Interrupt(place) as interrupt, suppress(KeyboardInterrupt):
            c.run()
        if of(c, ObservationEvent):
            assert c.run() == "finished"
        place, is_over = place + 3, interrupt.is_over
    assert place > 50


@pytest.mark.usefixtures("no_collector")
def test_a_stopped_call_that_is_being_recorded_gives_its_answer(monkeypatch):
    """An interrupt comes when its tool has ended, but its record is not written yet."""
    monkeypatch.setattr("toolbench.agent.calls.PATIENCE", PATIENCE)
    write = RunHistory.add

    def slowly(self, record):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        # Long enough for the interrupt to be seen; nobody ends this wait
        threading.Event().wait(0.2)
        write(self, record)

    @tool
    def sow(days: int) -> str:
        """Sow, and wait until somebody stops it."""
        threading.Thread(target=c.interrupt).start()
        eventually(lambda: current_run().cancelled, what="the call is stopped")
        return f"{days} days"

    c = talk([calls(call("sow", {"days": 15})), "Done."], [sow])
    monkeypatch.setattr(RunHistory, "add", slowly)
    with pytest.raises(KeyboardInterrupt):
        c.run()
    [answer] = of(c, ObservationEvent)
    assert "15 days" in answer.observation.text


@pytest.fixture
def hole(tmp_path):
    """A saved conversation; one answer of its first round was taken out."""
    c = talk(SCRIPT, [add])
    c.run()
    c.save(tmp_path / "c.jsonl")
    lines = [*map(json.loads, (tmp_path / "c.jsonl").read_text().splitlines())]
    del lines[[line.get("kind") for line in lines].index("ObservationEvent")]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    return tmp_path / "c.jsonl"


def test_a_file_with_a_hole_is_mended_when_it_is_loaded(hole):
    """The round is over, so its call does not wait: it was cancelled."""
    loaded = Conversation.load(hole, Agent(ScriptedModel(["More."]), [add]))
    assert not loaded.pending
    check_answered(loaded)
    [answer] = of(loaded, UserRejectObservation)
    assert answer.rejection_source == "interrupt"
    ids = [event.id for event in loaded.events]
    assert ids == sorted(set(ids))
    loaded.send_message("Go on.")
    assert loaded.run() == "answered"
    check_sent(sent(loaded))
    assert [m["role"] for m in sent(loaded)].count("tool") == 4
    check_answered(loaded.fork())
