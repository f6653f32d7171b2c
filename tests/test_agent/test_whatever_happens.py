"""Whatever a model says and a person does: every call is answered once, and each run says why it ended."""

import json
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_llm.samples import conforms, sdk

from test_agent.checks import check_answered, of
from test_agent.scripts import PROVIDERS, add, fail, wipe
from toolbench import Conversation, tool
from toolbench.agent import Agent, ObservationEvent, StopEvent, UserRejectObservation
from toolbench.agent.events import StopReason
from toolbench.core.builtins import FinishTool, ThinkTool
from toolbench.errors import ModelError, ToolbenchError
from toolbench.llm.compose import model_message
from toolbench.llm.message import ToolCallPart, ToolResultPart
from toolbench.llm.models import ScriptedModel
from toolbench.llm.wire import WIRES

SECRET = "geheim/99"
TOLD = json.dumps({"path": SECRET})
_names = ["add", "fail", "wipe", "finish", "think", "nothing", "quit", "reveal"]
_arguments = st.one_of(
    st.fixed_dictionaries({"a": st.integers(0, 2)}),
    st.sampled_from([{}, {"path": SECRET}, {"message": "m"}, {"thought": SECRET}, {"a": SECRET}]),
    st.sampled_from(["", "{", "[]", "null", '{"a": 1', '"text"', TOLD[:-1], TOLD[:-2]]),
)
_ids = st.sampled_from(["c1", "c1", "c2", None, ""])
_calls = st.builds(ToolCallPart, st.sampled_from(_names), _arguments, _ids)
_answers = st.one_of(
    st.tuples(st.sampled_from(["", f"With {SECRET}."]), st.lists(_calls, min_size=1, max_size=4)),
    st.sampled_from(["Done.", "", "  ", f"It is {SECRET}."]),
    st.sampled_from([ModelError(f"gone {SECRET}"), ValueError("bad"), 7, {"role": "assistant"}]),
)


@tool
def quit_() -> str:
    """Leave."""
    raise SystemExit


@tool(read_only=True)
def reveal() -> str:
    """Tell the secret, also as JSON in JSON."""
    return f"It is {SECRET}, or {json.dumps(json.dumps(SECRET))}."


QUITTING = quit_.model_copy(update={"name": "quit"})
TOOLS = [add, fail, wipe, QUITTING, reveal, FinishTool, ThinkTool]
TURNS = {"openai": "messages", "responses": "input", "anthropic": "messages", "gemini": "contents"}
"""The field of a request that holds the conversation."""


class Talker(ScriptedModel):
    """Says the lines of a script in the format of *provider*, then "Done."; keeps what it would send."""

    def __init__(self, script, provider, bodies):
        self.lines, self.bodies = script, bodies
        said = []
        for line in script:
            if isinstance(line, tuple):
                text, sent = line
                if provider == "gemini":
                    # It gives its calls no ids, or different ones
                    sent = [replace(one, id=None) for one in sent]
                line = model_message(text, sent, provider)
            said.append(line)
        super().__init__([*said, *["Done."] * 99], provider=provider)

    def to(self, provider):
        """The model that goes on in its place."""
        return Talker(self.lines[len(self.requests) :], provider, self.bodies)

    def complete(self, messages, tools=(), **options):
        wire = WIRES[self.provider]
        body = wire.request("toy", [wire.read(message) for message in messages], tools, {})
        self.bodies.append((self.provider, body))
        return super().complete(messages, tools, **options)


def check_hidden(text):
    """The secret is not in it, in none of its writings."""
    assert "geheim" not in text, text[max(0, text.index("geheim") - 200) :][:300]


def check_typed(provider, turn):
    """It is what the provider's own package says that a request may hold."""
    if provider == "openai":
        assert conforms(sdk("openai.types.chat").ChatCompletionMessageParam, turn)
    elif provider == "responses":
        if turn.get("type") == "message":
            # The service takes a message without them, the package's type does not
            turn = {"id": "msg_1", "status": "completed"} | turn
        assert conforms(sdk("openai.types.responses").ResponseInputItemParam, turn)
    elif provider == "anthropic":
        types = sdk("anthropic.types")
        assert turn["role"] in ("user", "assistant")
        kinds = {"text": "TextBlockParam", "tool_use": "ToolUseBlockParam"}
        for block in turn["content"]:
            kind = kinds.get(block["type"], "ToolResultBlockParam")
            assert conforms(getattr(types, kind), block)
    else:
        sdk("google.genai.types").Content.model_validate(turn)


def check_body(provider, body):
    """A request is typed, holds no secret, and has each call followed by its result, in order."""
    check_hidden(json.dumps(body, ensure_ascii=False, allow_nan=False))
    waiting, roles = [], []
    for turn in body[TURNS[provider]]:
        check_typed(provider, turn)
        if turn.get("type") == "function_call":
            turn = {"role": "assistant", "output": [turn]}
        message = WIRES[provider].read(turn)
        roles.append(turn.get("role"))
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                waiting.append(part)
            elif isinstance(part, ToolResultPart):
                called = waiting.pop(0)
                assert part.id == called.id
                # Gemini gives its calls no ids
                assert part.name == called.name or provider != "gemini"
            else:
                assert message.role == "assistant" or not waiting
    assert not waiting
    if provider in ("anthropic", "gemini"):
        assert roles[0] == "user"
        assert all(a != b for a, b in pairwise(roles))


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
    c.answer_pending(chosen(c, place), f"by hand {SECRET}")
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


def broken_off(c, place, break_off):
    """Run, and break it off at the event *place* from now: in a request, or between calls."""

    def at_place(event):
        nonlocal place
        place -= 1
        if place < 0:
            forget()
            break_off()

    forget = c.agent_state.log.listen(at_place)
    try:
        with suppress(KeyboardInterrupt):
            c.run()
    finally:
        # It was told
        with suppress(ValueError):
            forget()


def ctrl_c(c, place, arguments):
    """Python's own interrupt."""

    def interrupt():
        raise KeyboardInterrupt

    broken_off(c, place, interrupt)


def saved_lines(c, path):
    """What a file of *c* says, without the sentences of errors, which are made anew."""
    c.save(path, overwrite=True)
    text = path.read_text("utf-8")
    check_hidden(text)
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        line.get("tool_call", {}).pop("error", None)
    return lines


def reopened(c, folder, provider):
    """What was saved, loaded with a model of *provider*: equal, and with the same next request."""
    lines = saved_lines(c, folder / "c.jsonl")
    agent = Agent(c.agent.llm.to(provider), TOOLS, max_steps=4)
    again = Conversation.load(folder / "c.jsonl", agent, state=c.state)
    check_answered(again, waiting=len(again.pending))
    if provider == c.agent.llm.provider:
        assert again.next_request == c.next_request
        loaded = saved_lines(again, folder / "again.jsonl")
        assert loaded[1 : len(lines)] == lines[1:]
        # Answers that an interrupt lost
        kinds = {line["kind"] for line in loaded[len(lines) :]}
        assert kinds <= {"UserRejectObservation"}
    return again


def fork(c, place, arguments):
    """A fork asks what the original would; one of an earlier event has that as its end."""
    number, waiting = len(c.events), len(c.pending)
    other, earlier = c.fork(), c.fork(c.events[place * 7 % number])
    assert other.next_request == c.next_request
    for copy in (other, earlier):
        check_answered(copy, waiting=len(copy.pending))
        copy.send_message("Go on.")
        run(copy, 0, {})
        check_answered(copy)
    assert (len(c.events), len(c.pending)) == (number, waiting)


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
    "say": lambda c, *_: c.send_message(f"Go on with {SECRET}."),
    "exit": leave,
    "pause": pause,
    "stop": lambda c, place, _: broken_off(c, place, c.interrupt),
    "Ctrl-C": ctrl_c,
    "fork": fork,
    "condense": lambda c, *_: c.condense(),
    "undo": lambda c, *_: c.undo(),
}
_doings = st.tuples(
    st.sampled_from([*DOINGS, *PROVIDERS]),
    st.integers(0, 6),
    st.sampled_from([{"a": 5}, {"path": "/y"}, {}, {"a": "x"}, {"message": "m"}]),
)


def check_whatever_happens(provider, script, doings, folder):
    """Said, run, stepped, edited, answered by hand, refused, stopped, saved, loaded, forked, left."""
    bodies = []
    agent = Agent(Talker(script, provider, bodies), TOOLS, max_steps=4)
    c = Conversation(agent=agent, secrets={"S": SECRET})
    c.send_message(f"Do it with {SECRET}.")
    for name, place, arguments in doings:
        # No such call, arguments that do not fit
        with suppress(ToolbenchError):
            if name in PROVIDERS:
                c = reopened(c, folder, name)
            else:
                DOINGS[name](c, place, arguments)
        check_answered(c, waiting=len(c.pending))
    c.send_message("Go on.")
    run(c, 0, {})
    # A pause from before holds once
    if c.events[-1].reason == "paused":
        run(c, 0, {})
    check_answered(c)
    fork(c, 1, {})
    reopened(c, folder, c.agent.llm.provider)
    for text in (c.to_html(), *map(repr, c.events)):
        check_hidden(text)
    for sent_to, body in bodies:
        check_body(sent_to, body)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_call_is_answered_once(provider, tmp_path, pytestconfig):
    """So that each provider takes each request; and no secret gets out."""
    examples = 8
    if pytestconfig.getoption("--cases") == 0:
        examples = 150
    settings(max_examples=examples)(
        given(st.lists(_answers, max_size=6), st.lists(_doings, max_size=8))(
            lambda script, doings: check_whatever_happens(provider, script, doings, tmp_path)
        )
    )()
