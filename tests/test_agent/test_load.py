import threading

import pytest
from patience import join

from test_agent.checks import check_answered, of
from test_agent.scripts import add, call, calls, talk
from toolbench import (
    Conversation,
)
from toolbench.agent import (
    Agent,
    ObservationEvent,
)
from toolbench.llm.models import Answer


def test_conversations_share_nothing(tmp_path):
    """50 at once, each with its own events, answers and history of messages."""

    def answer(n):
        return [calls(call("add", {"a": n})), calls(call("add", {"a": -n})), f"{n}."]

    many = [talk(answer(n), [add]) for n in range(50)]
    reasons = {}
    threads = [
        threading.Thread(target=lambda n=n, c=c: reasons.update({n: c.run()}))
        for n, c in enumerate(many)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert reasons == dict.fromkeys(range(50), "answered")
    for n, c in enumerate(many):
        check_answered(c)
        texts = [e.observation.text for e in of(c, ObservationEvent)]
        assert texts == [str(n + 1), str(1 - n)]
        assert c.final_text == f"{n}."


class Endless:
    """A model that calls until it has done so *times* often; it keeps nothing of what it reads."""

    name, provider = "endless", "openai"

    def __init__(self, times):
        self.left = times

    def complete(self, messages, tools=(), **options):
        self.left -= 1
        if self.left < 0:
            return Answer({"role": "assistant", "content": "Done."}, "stop")
        return Answer(calls(call("add", {"a": self.left})), "tool_calls")


@pytest.mark.long
def test_10_000_events_in_one_conversation(tmp_path):
    """It goes through, shows its end in a cell, and is saved and loaded."""
    c = talk(Endless(5_000), [add], max_steps=6_000)
    assert c.run() == "answered"
    assert len(c.events) > 10_000
    check_answered(c)
    assert len(c._repr_mimebundle_()["text/html"]) < 1_000_000
    c.save(tmp_path / "c.jsonl")
    other = Conversation.load(tmp_path / "c.jsonl", Agent(Endless(0), [add]))
    assert len(other.events) == len(c.events)
