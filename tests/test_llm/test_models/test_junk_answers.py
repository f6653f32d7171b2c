"""Whatever a server answers: a message that can be sent again, or a ModelError."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from test_llm.samples import GREP
from toolbench.errors import ModelError
from toolbench.llm import parse_tool_calls
from toolbench.llm.models import Answer, ScriptedModel, Usage
from toolbench.llm.models.inbox import InThread
from toolbench.llm.models.model import as_answer, numbered
from toolbench.llm.models.streamed import DONE, StreamedModel
from toolbench.llm.wire import WIRES

PROVIDERS = ["openai", "responses", "anthropic", "gemini"]
KEYS = [
    "choices", "message", "delta", "content", "tool_calls", "function", "name",
    "arguments", "id", "type", "role", "usage", "text", "finish_reason",
    "prompt_tokens", "completion_tokens", "cost", "output", "call_id", "summary",
    "status", "input", "thinking", "candidates", "parts", "functionCall", "args",
    "inlineData", "data", "usageMetadata", "promptTokenCount", "promptFeedback",
    "finishReason", "refusal", "images", "image_url", "url", "index", "content_block",
    "response", "item", "output_index", "reasoning_content", "incomplete_details",
    "stop_reason", "error",
]  # fmt: skip
WORDS = [
    "assistant", "user", "model", "function", "text", "tool_use", "thinking",
    "function_call", "message", "reasoning", "refusal", "output_text", "custom",
    "response.output_item.added", "response.completed", "content_block_start",
    "content_block_delta", "message_start", "error", "stop", "image_generation_call",
]  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS)
JUNK = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)
PARTS = st.lists(JUNK, max_size=4)


def whole(provider, parts, more):
    """A response in the shape of *provider*, with junk in it."""
    match provider:
        case "openai":
            message = {"content": more, "tool_calls": parts, "role": more}
            return {"choices": [{"message": message}], "usage": more}
        case "anthropic":
            return {"type": "message", "content": parts, "usage": more}
        case "responses":
            return {"object": "response", "output": parts, "usage": more}
    return {"candidates": [{"content": {"parts": parts}}], "usageMetadata": more}


class _Junk(StreamedModel):
    """A provider that sends *chunks*."""

    def __init__(self, provider, chunks):
        super().__init__("junk", provider, "junk", place="junk.example")
        self.chunks = chunks

    def _request(self, body):
        def work(send):
            for chunk in [*self.chunks, DONE]:
                send(chunk)

        return InThread(work)


def requested(message, provider):
    """The request after *message*."""
    wire = WIRES[provider]
    return wire.request("m", [wire.read(message)], [], {})


def goes_on(answer, provider):
    """Check that *answer* is one that the conversation can go on with."""
    for call in parse_tool_calls(answer.message, [GREP], provider=provider):
        assert isinstance(call.name, str)
    assert answer.message["role"] == ("model" if provider == "gemini" else "assistant")
    assert isinstance(answer.text, str)
    assert isinstance(answer.problem, str | None)
    assert answer.images is not None
    usage = answer.usage or Usage()
    assert isinstance(usage.input_tokens, int | None)
    assert isinstance(usage.output_tokens, int | None)
    json.dumps(requested(answer.message, provider))


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=40)
@given(st.data())
def test_of_a_stream_is_sent_again_or_an_error(provider, data):
    """Junk chunks, and whole responses with junk in them."""
    junk = st.builds(lambda *parts: whole(provider, *parts), PARTS, JUNK) | JUNK
    model = _Junk(provider, data.draw(st.lists(junk, max_size=3)))
    try:
        answer = model.complete([], on_chunk=lambda chunk: chunk.text + "")
    except ModelError:
        return
    goes_on(answer, dialect_of(answer.message, provider))


def dialect_of(message, provider):
    """Whose message it is: a response in the shape of another provider is read as that one's."""
    if "parts" in message:
        return "gemini"
    if "output" in message:
        return "responses"
    return "anthropic" if provider == "anthropic" else "openai"


@pytest.mark.parametrize("calls", [[None, 1], ["x", 1], [{"function": None}, 1], [{}, 1]])
def test_calls_keep_their_ids(calls):
    """What is no call among the calls moves no id to another."""
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "grep", "arguments": "{}"},
    }
    message = {"role": "user", "tool_calls": [call if c == 1 else c for c in calls]}
    answer = numbered(as_answer(message, "openai"), 1)
    sent = requested(answer.message, "openai")["messages"]
    assert sent[0]["role"] == "assistant"
    assert sent[0]["tool_calls"][-1] == call
    parsed_calls = parse_tool_calls(answer.message, [GREP])
    assert [c.id for c in parsed_calls] == [c["id"] for c in sent[0]["tool_calls"]]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_is_read_once(provider, monkeypatch):
    """A whole answer and one that somebody made: an answer may be long."""
    key = {"openai": "content", "responses": "output", "anthropic": "content", "gemini": "parts"}
    part = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}], "text": "Hi"}
    content = {"openai": "Hi", "anthropic": [{"type": "text", "text": "Hi"}]}.get(provider, [part])
    message = {"role": "assistant", key[provider]: content}
    reads, read = [], type(WIRES[provider]).read
    monkeypatch.setattr(
        type(WIRES[provider]), "read", lambda *args: reads.append(args) or read(*args)
    )
    for value in (message, Answer(message)):
        answer = as_answer(value, provider)
        assert answer.text == "Hi" and answer.problem is None
        assert len(reads) <= 1
        reads.clear()


def test_usage_that_is_no_number_is_not_known():
    """Also of an Answer that somebody made: sums of it are never an error."""
    message = {"role": "assistant", "content": "a"}
    odd = Answer(message, "stop", Usage(1, "3", float("nan")))
    answer = ScriptedModel([odd]).complete([])
    assert answer.usage == Usage(1, None, None)
