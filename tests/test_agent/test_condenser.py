import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_agent.checks import check_sent, of, sent
from test_agent.scripts import add, call, calls, talk
from toolbench.agent import Condensation, LLMSummarizingCondenser, NoticeEvent
from toolbench.agent.condenser import Summary
from toolbench.agent.context import Turn
from toolbench.agent.tools import CondensationRequestTool
from toolbench.errors import ModelError
from toolbench.llm.models import ScriptedModel


class Noted:
    """A model that summarises and keeps what it was asked."""

    name, provider = "noted", "openai"

    def __init__(self):
        self.inner = ScriptedModel(["What happened."] * 100)

    def complete(self, messages, tools=(), **options):
        return self.inner.complete(messages, tools)


def rounds(count):
    return [calls(call("add", {"a": n})) for n in range(count)]


def test_replaces_the_middle_at_the_budget():
    """The task and the tail stay as they are; the rest is a summary; nothing is parted."""
    condenser = LLMSummarizingCondenser(Noted(), max_tokens=300, keep_tokens=100)
    c = talk([*rounds(12), "Done."], [add], condenser=condenser)
    assert c.run() == "answered"
    assert of(c, Condensation)
    for messages, _ in c.agent.llm.requests:
        check_sent(messages)
        assert messages[0]["content"] == "Do it."
    last = sent(c)
    assert "What happened." in last[1]["content"] and last[1]["role"] == "user"
    assert last[-1]["role"] == "tool"
    assert len(last) < 26


def test_is_asked_for_by_a_tool():
    """The request is answered first; the summary comes before the next request."""
    script = [*rounds(2), calls(call("request_condensation")), "A summary.", "Done."]
    c = talk(script, [add, CondensationRequestTool])
    assert c.run() == "answered"
    [condensation] = of(c, Condensation)
    assert "A summary." in condensation.summary
    messages = sent(c)
    check_sent(messages)
    assert [m["role"] for m in messages] == ["user", "user", "assistant", "tool"]


def test_that_fails_is_an_error_and_loses_nothing():
    """A summary that cannot be had stops the run; the messages are as they were."""
    model = ScriptedModel([ModelError("No summary.")])
    condenser = LLMSummarizingCondenser(model, max_tokens=60_000, keep_tokens=10)
    c = talk([*rounds(6), "Done."], [add], condenser=condenser)
    c.step(), c.step(), c.step()
    c.condense()
    assert c.run() == "error"
    check_sent(c.next_request.messages)
    assert not of(c, Condensation)


def test_is_kept_over_save_and_load(tmp_path):
    """What was forgotten stays forgotten."""
    from toolbench import Conversation
    from toolbench.agent import Agent

    condenser = LLMSummarizingCondenser(Noted(), max_tokens=300, keep_tokens=100)
    c = talk([*rounds(12), "Done."], [add], condenser=condenser)
    c.run()
    c.save(tmp_path / "c.jsonl")
    other = Conversation.load(tmp_path / "c.jsonl", Agent(ScriptedModel([]), [add]))
    assert other.next_request.messages == c.next_request.messages


def test_keeps_less_than_its_budget():
    """Otherwise it would condense for ever."""
    with pytest.raises(ValueError, match="keeps less than its budget"):
        LLMSummarizingCondenser(max_tokens=10, keep_tokens=10)


turns = st.lists(
    st.text("ab ", max_size=300).map(lambda t: Turn(({"role": "user", "content": t},))),
    max_size=12,
)


@given(turns, st.integers(0, 200), st.integers(0, 3))
def test_keeps_the_first_and_the_tail(turns, keep_tokens, keep_first):
    """What is forgotten is in one piece between what is kept, and the last turn never is."""
    condenser = LLMSummarizingCondenser(
        Noted(), max_tokens=1_000, keep_tokens=keep_tokens, keep_first=keep_first
    )
    summary = condenser.condense(turns, Noted())
    if summary is None:
        return
    assert isinstance(summary, Summary)
    place = keep_first
    assert list(summary.forgotten) == turns[place : place + len(summary.forgotten)]
    tail = turns[place + len(summary.forgotten) :]
    assert tail
    assert len(tail) == 1 or sum(t.tokens for t in tail) <= keep_tokens


@pytest.mark.parametrize("method", ["wants", "condense"])
def test_a_condenser_that_fails_is_noted_and_the_request_sent(method):
    """Whether it fails to say that it wants to, or to do it."""

    class Broken(LLMSummarizingCondenser):
        def wants(self, turns, tokens):
            return True

    def raise_it(*args, **options):
        raise ValueError("broken")

    condenser = Broken()
    setattr(condenser, method, raise_it)
    c = talk(["Done."], condenser=condenser)
    assert c.run() == "answered"
    [notice] = of(c, NoticeEvent)
    assert "could not be condensed" in notice.text and "broken" in notice.text
