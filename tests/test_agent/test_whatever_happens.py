"""Whatever a model says and a person does: every call is answered once, and each run says why it ended."""

from contextlib import suppress
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from test_agent.checks import check_answered, check_sent, of
from test_agent.scripts import add, call, calls, fail, talk, wipe
from toolbench import tool
from toolbench.agent import ObservationEvent, StopEvent, UserRejectObservation
from toolbench.agent.events import StopReason
from toolbench.core.builtins import FinishTool, ThinkTool
from toolbench.errors import ModelError, ToolbenchError

_names = st.sampled_from(["add", "fail", "wipe", "finish", "think", "nothing", "", "quit"])
_arguments = st.one_of(
    st.fixed_dictionaries({"a": st.integers(0, 2)}),
    st.sampled_from([{}, {"path": "/x"}, {"message": "m"}, {"thought": "t"}, {"a": "x"}]),
    st.sampled_from(["", "{", "[]", "null", '{"a": 1', '"text"']),
)
_ids = st.sampled_from(["c1", "c1", "c2", None, ""])
_calls = st.builds(lambda n, a, i: call(n, a, id=i), _names, _arguments, _ids)
_messages = st.one_of(
    st.lists(_calls, min_size=1, max_size=4).map(lambda sent: calls(*sent)),
    st.sampled_from(["Done.", "", "  "]),
    st.sampled_from([ModelError("gone"), ValueError("bad"), 7, {"role": "assistant"}]),
)


@tool
def quit_() -> str:
    """Leave."""
    raise SystemExit


QUITTING = quit_.model_copy(update={"name": "quit"})
TOOLS = [add, fail, wipe, QUITTING, FinishTool, ThinkTool]


def chosen(c, place):
    """One of the calls that wait, of a new answer if need be; or the id of none."""
    if not c.pending:
        c.ask()
    waiting = c.pending
    return waiting[place % len(waiting)] if waiting else "no such call"


def run(c, place, arguments):
    """Run it, and look at the reason."""
    before = len(of(c, StopEvent))
    reason = c.run()
    assert reason in get_args(StopReason)
    assert isinstance(c.events[-1], StopEvent) and c.events[-1].reason == reason
    assert len(of(c, StopEvent)) - before <= 1
    if reason != "paused":
        assert not c.pending


def answer_by_hand(c, place, arguments):
    """Answer a call in the place of its tool; it stays answered like that."""
    c.answer_pending(chosen(c, place), "by hand")
    assert of(c, ObservationEvent)[-1].by_hand


def refuse(c, place, arguments):
    """Refuse one call; the model reads why."""
    c.reject_pending("not this one", chosen(c, place))
    assert of(c, UserRejectObservation)[-1].reason == "not this one"


def leave(c, place, arguments):
    """End it: what waits is refused, nothing runs, the model is not asked."""
    c.ask()
    answered, requests = len(of(c, ObservationEvent)), len(c.agent.llm.requests)
    c.send_message("/exit")
    assert c.run() in ("finished", "max_cost")
    assert not c.pending
    assert (len(of(c, ObservationEvent)), len(c.agent.llm.requests)) == (
        answered,
        requests,
    )
    c.send_message("Go on.")


def pause(c, place, arguments):
    """Nothing is asked and nothing runs until it goes on."""
    events = len(c.events)
    c.pause()
    run(c, place, arguments)
    assert len(c.events) <= events + 1


def stop(c, place, arguments):
    """Stop it while the next event is told: in the request, or in the middle of its calls."""

    def once(event):
        forget()
        c.interrupt()

    forget = c.agent_state.log.listen(once)
    try:
        c.step()
    finally:
        # It was told
        with suppress(ValueError):
            forget()


DOINGS = {
    "run": run,
    "step": lambda c, *_: c.step(),
    "ask": lambda c, *_: c.ask(),
    "run one": lambda c, place, _: c.run_pending(chosen(c, place)),
    "run those that wait": lambda c, *_: c.run_pending(),
    "edit": lambda c, place, new: c.edit_pending(chosen(c, place), new),
    "by hand": answer_by_hand,
    "refuse": refuse,
    "refuse all": lambda c, *_: c.reject_pending("no"),
    "say": lambda c, *_: c.send_message("Go on."),
    "exit": leave,
    "pause": pause,
    "stop": stop,
    "condense": lambda c, *_: c.condense(),
    "undo": lambda c, *_: c.undo(),
}
_doings = st.tuples(
    st.sampled_from([*DOINGS]),
    st.integers(0, 3),
    st.sampled_from([{"a": 5}, {"path": "/y"}, {}, {"a": "x"}, {"message": "m"}]),
)


@settings(max_examples=60)
@given(st.lists(_messages, max_size=6), st.lists(_doings, max_size=8))
def test_every_call_is_answered_once(script, doings):
    """Good and bad messages; run, stepped, edited, answered by hand, refused, paused, stopped, left."""
    c = talk(script, TOOLS, max_steps=4)
    for name, place, arguments in doings:
        # No such call, arguments that do not fit
        with suppress(ToolbenchError):
            DOINGS[name](c, place, arguments)
        check_answered(c, waiting=len(c.pending))
    c.send_message("Go on.")
    run(c, 0, {})
    # A pause from before holds once
    if c.events[-1].reason == "paused":
        run(c, 0, {})
    check_answered(c)
    for messages, _ in c.agent.llm.requests:
        check_sent(messages)


@settings(max_examples=60)
@given(st.lists(_messages, max_size=5), st.lists(_doings, max_size=5), st.integers(1, 20))
def test_every_call_of_a_fork_is_answered_once(script, doings, event):
    """Begun at any event, with the calls that waited there; the first conversation stays as it is."""
    c = talk(script, TOOLS, max_steps=4)
    for name, place, arguments in doings:
        with suppress(ToolbenchError):
            DOINGS[name](c, place, arguments)
    number, waiting = len(c.events), len(c.pending)
    fork = c.fork(c.events[min(event, number) - 1])
    check_answered(fork, waiting=len(fork.pending))
    fork.send_message("Go on.")
    run(fork, 0, {})
    check_answered(fork)
    assert (len(c.events), len(c.pending)) == (number, waiting)
