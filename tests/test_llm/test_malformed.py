"""More than a hundred broken messages: each is an error a model or a person can act on."""

import json
from copy import deepcopy
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_llm.recorded import MESSAGES
from test_llm.samples import GREP, WRITE
from test_llm.test_stream import STREAMS
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import BodyError
from toolbench.llm.calls import (
    FunctionCallNotExistsError,
    FunctionCallValidationError,
    ToolCallAccumulator,
    parse_tool_calls,
    respond,
)

BAD_TEXT = [
    '{"pattern": "x"',
    '{"pattern": "x',
    '{"pattern":',
    '{"pattern"',
    "{",
    "}",
    "[",
    "x",
    "pattern=x",
    "<pattern>x</pattern>",
    '{"pattern": "x"} {"pattern": "y"}',
    '{"pattern": "x"}]',
    '{"pattern": "say "x" twice"}',
    '{"pattern": undefined}',
    '{"pattern": NaN}',
    '{"pattern": "x", "pattern": "y"}',
    '{"pattern": "x", "globs": [{"a": 1, "a": 1}]}',
    '{"pattern": Infinity}',
    '{"pattern": "x", "weight": 1e999}',
    '{"pattern": "x", "path": "\ud800"}',
    "```json\n{" + "\n" * 200_000,
    '{"pattern": 1 + 1}',
    '{"pattern": "\\u12"}',
    '{"pattern": "C:\\new\\dir"}',
    '{"pattern" "x"}',
    "{pattern}",
    "[1, 2]",
    '["pattern", "x"]',
    '"pattern"',
    "3",
    "true",
    "\x00",
    "\ufeff",
    "{" * 500,
    "[" * 500 + "]" * 500,
    '{"a":' * 500 + "1" + "}" * 500,
]
BAD_VALUES = [
    {},
    {"limit": 3},
    {"pattern": None},
    {"pattern": 3},
    {"pattern": ["x"]},
    {"pattern": {"x": 1}},
    {"pattern": "x", "limit": 0},
    {"pattern": "x", "limit": -1},
    {"pattern": "x", "limit": "many"},
    {"pattern": "x", "limit": 1.5},
    {"pattern": "x", "limit": []},
    {"pattern": "x", "hidden": "maybe"},
    {"pattern": "x", "hidden": 2},
    {"pattern": "x", "hidden": []},
    {"pattern": "x", "weight": "heavy"},
    {"pattern": "x", "globs": "*.py"},
    {"pattern": "x", "globs": [1]},
    {"pattern": "x", "globs": {"a": 1}},
    {"pattern": "x", "path": 3},
    {"pattern": "x", "path": ["a"]},
    {"pattern": "x", "extra": 1},
    {"Pattern": "x"},
    {"pattern ": "x"},
    {"": "x", "pattern": "x"},
    {"pattern": "x", "security_risk": "NONE"},
    {"pattern": "x", "security_risk": 3},
    {"pattern": "x", "security_risk": None},
    {"pattern": "\ud800"},
    {"arguments": {"pattern": "x"}},
]
BAD_NAMES = [
    "",
    " ",
    "gre",
    "grep2",
    "rm -rf /",
    "g" * 5_000,
    "\n",
    "grep,grep",
    "功能",
    "__class__",
]
BAD_CALLS = [
    {"function": None},
    {"function": {}},
    {"function": "grep"},
    {"function": {"name": None, "arguments": "{}"}},
    {"function": {"name": 3, "arguments": "{}"}},
    {"function": {"name": ["grep"], "arguments": "{}"}},
    {"function": {"name": "grep"}},
    {"function": {"arguments": "{}"}},
    {"function": {"name": "grep", "arguments": 3}},
    {"function": {"name": "grep", "arguments": True}},
    {"function": {"name": "grep", "arguments": [1]}},
    {"function": {"name": "grep", "arguments": {"pattern": object}}},
    {"custom": {"name": "grep", "input": "pattern: x"}},
    {"id": {"a": 1}, "function": {"name": "grep", "arguments": "{}"}},
    {},
    None,
    "grep",
    3,
    [],
]
HALF = {"pattern": "x", "path": "\ud800"}
ENDLESS = {"pattern": "x", "weight": inf}
BAD_MESSAGES = [
    {"choices": [{"message": {"role": "assistant", "tool_calls": "grep"}}]},
    {"choices": [{"message": {"role": "assistant", "tool_calls": {"name": "grep"}}}]},
    {"choices": [{"message": None}]},
    {"choices": [None]},
    {"choices": "none"},
    {"choices": {}},
    {"candidates": [{"content": {"parts": [{"functionCall": "grep"}]}}]},
    {"candidates": [{"content": {"parts": [{"functionCall": {"args": 3}}]}}]},
    {"candidates": [{"content": {"parts": "grep"}}]},
    {"candidates": [{"content": None, "finishReason": "SAFETY"}]},
    {"candidates": [None]},
    {"output": [{"type": "function_call"}]},
    {"output": [{"type": "function_call", "name": "grep", "arguments": None}]},
    {"output": [None, 3, "x"]},
    {"output": "text"},
    {"type": "message", "content": [{"type": "tool_use"}]},
    {
        "type": "message",
        "content": [{"type": "tool_use", "name": "grep", "input": "x"}],
    },
    {
        "type": "message",
        "content": [{"type": "tool_use", "name": "grep", "input": [1]}],
    },
    {"type": "message", "content": [{"type": "tool_use", "name": "grep", "input": HALF}]},
    {"type": "message", "content": [{"type": "tool_use", "name": "grep", "input": ENDLESS}]},
    {"type": "message", "content": "text"},
    {"type": "message", "content": [None, 3]},
    {"method": "tools/call", "params": {}},
    {"method": "tools/call", "params": "grep"},
    {"name": "grep", "arguments": 3},
    {"message": 3},
    {"parts": 3},
    {"error": {"message": "overloaded", "type": "overloaded_error"}},
    {"type": "error", "error": {"type": "invalid_request_error"}},
]


def chat(call):
    """A chat message with *call* in it."""
    return {"role": "assistant", "tool_calls": [call]}


def with_arguments(arguments):
    """A chat message that calls grep with *arguments*."""
    return chat({"id": "c", "function": {"name": "grep", "arguments": arguments}})


BROKEN = {
    "text": [with_arguments(text) for text in BAD_TEXT],
    "values": [with_arguments(json.dumps(value)) for value in BAD_VALUES],
    "names": [chat({"function": {"name": name, "arguments": "{}"}}) for name in BAD_NAMES],
    "calls": [chat(call) for call in BAD_CALLS],
    "messages": BAD_MESSAGES,
}
each_message = pytest.mark.parametrize("messages", BROKEN.values(), ids=BROKEN)


def read(message):
    """The calls of *message*; none if it is refused in a sentence."""
    try:
        return parse_tool_calls(message, [GREP, WRITE])
    except BodyError as error:
        assert str(error)
        return []


@each_message
def test_malformed(messages, subtests):
    """No call is made up, nothing else is raised, and the model can be answered."""
    for message in messages:
        with subtests.test(str(message)[:200]):
            for call in read(message):
                assert call.action is None
                kinds = FunctionCallValidationError | FunctionCallNotExistsError
                assert isinstance(call.error, kinds)
                assert len(str(call.error)) < 20_000
                answer = respond(call)
                assert "was not run" in str(answer) or "There is no tool" in str(answer)
                assert isinstance(call.observation, Observation)


@each_message
def test_as_text(messages, subtests):
    """The same, pasted."""
    for message in messages:
        with subtests.test(str(message)[:200]):
            calls = read(json.dumps(message, default=lambda kind: None))
            assert all(call.error and call.action is None for call in calls)


def places(value, path=()):
    """The path of every value inside *value*."""
    inner = {}
    if isinstance(value, dict):
        inner = value
    elif isinstance(value, list):
        inner = dict(enumerate(value))
    for key, sub in inner.items():
        yield (*path, key)
        yield from places(sub, (*path, key))


JUNK = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=9) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text(max_size=5) | st.just(3), inner, max_size=2)
    ),
    max_leaves=4,
)


def broken(data, message):
    """A copy of *message* in which some values are left out, or are something else."""
    message = deepcopy(message)
    for _ in range(data.draw(st.integers(1, 3))):
        *path, last = data.draw(st.sampled_from([*places(message)]))
        holder = message
        for key in path:
            holder = holder[key]
        if data.draw(st.booleans()):
            holder[last] = data.draw(JUNK)
        elif isinstance(holder, dict) and len(holder) > 1:
            del holder[last]
    return message


@pytest.mark.slow
@given(data=st.data())
def test_anything_instead(data):
    """Whatever stands where in a message, it is read, or refused in one way."""
    message = broken(data, data.draw(st.sampled_from([*MESSAGES.values()])))
    try:
        calls = parse_tool_calls(message, [GREP, WRITE])
    except BodyError:
        return
    for call in calls:
        assert (call.action is None) != (call.error is None)
        answer = respond(call, call.observation or Observation.from_text("Done."))
        assert json.dumps(answer)


class Tree(Action):
    child: "Tree | None" = None


@pytest.mark.parametrize("depth", [50, 300, 900, 20_000])
@pytest.mark.parametrize("is_text", [True, False])
def test_nested_deeply(depth, is_text):
    """Arguments of any depth are read, or are an error a model can act on."""
    arguments = None
    for _ in range(depth):
        arguments = {"child": arguments}
    if is_text:
        arguments = '{"child":' * depth + "null" + "}" * depth
    tool = ToolDefinition(name="plant", description="Plant.", action_type=Tree)
    [call] = parse_tool_calls({"name": "plant", "arguments": arguments}, [tool])
    assert (call.error is None) == (depth == 50)
    assert call.action is None or call.error is None


@given(data=st.data())
def test_anything_in_a_stream(data):
    """A chunk that is none is refused in one way, and the others are joined."""
    chunks = [*STREAMS[data.draw(st.sampled_from([*STREAMS]))]()]
    at = data.draw(st.integers(0, len(chunks) - 1))
    chunks[at] = data.draw(JUNK) if data.draw(st.booleans()) else broken(data, chunks[at])
    accumulator = ToolCallAccumulator()
    for chunk in chunks:
        try:
            accumulator.add(chunk)
        except BodyError as error:
            assert str(error)
    try:
        assert isinstance(parse_tool_calls(accumulator.message, [GREP, WRITE]), list)
    except BodyError as error:
        assert str(error)


class Login(Action):
    password: str


@pytest.mark.parametrize(
    "arguments",
    [
        '{"password": "hunter2-the-secret',
        '{"password": "hunter2-the-secret"} and more',
        '["hunter2-the-secret"]',
    ],
)
def test_no_error_quotes_what_may_hold_a_secret(arguments):
    """Arguments that are no object are not quoted where the tool takes a secret."""
    tool = ToolDefinition(name="login", description="Log in.", action_type=Login)
    function = {"name": "login", "arguments": arguments}
    message = {"tool_calls": [{"id": "1", "type": "function", "function": function}]}
    [call] = parse_tool_calls({"role": "assistant", **message}, [tool])
    assert call.error is not None
    assert "not a JSON object" in str(call.error)
    assert "hunter2" not in f"{call!r} {call.error}"
