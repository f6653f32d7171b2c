"""Fragments of a streamed message, joined until it can be read as a whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_llm.recorded import FIRST, MESSAGES, SECOND, TEXT
from test_llm.samples import GREP, WRITE, sdk, taking
from toolbench import tool
from toolbench.errors import BodyError
from toolbench.llm.calls import ToolCallAccumulator, parse_tool_calls

TOOLS = [GREP, WRITE]
CALLS = [("call_1", "grep", FIRST), ("call_2", "file_editor", SECOND)]


def cut(text, size=7):
    """*text* in pieces."""
    return [text[i : i + size] for i in range(0, len(text), size)]


def openai(size=7):
    """The chunks of a chat completion."""

    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "gpt-5.2",
            "choices": [choice],
        }

    yield chunk({"role": "assistant", "content": ""})
    for piece in cut(TEXT, size):
        yield chunk({"content": piece})
    for index, (id_, name, arguments) in enumerate(CALLS):
        function = {"name": name, "arguments": ""}
        head = {"index": index, "id": id_, "type": "function", "function": function}
        yield chunk({"tool_calls": [head]})
        for piece in cut(json.dumps(arguments), size):
            part = {"index": index, "function": {"arguments": piece}}
            yield chunk({"tool_calls": [part]})
    yield chunk({}, "tool_calls")


def responses(size=7):
    """The events of a response, without the last that repeats it all."""
    response = {**MESSAGES["responses"], "output": [], "status": "in_progress"}
    yield {"type": "response.created", "sequence_number": 0, "response": response}
    for piece in cut(TEXT, size):
        yield {
            "type": "response.output_text.delta",
            "output_index": 0,
            "content_index": 0,
            "item_id": "msg_1",
            "sequence_number": 1,
            "delta": piece,
            "logprobs": [],
        }
    for index, (id_, name, arguments) in enumerate(CALLS, 1):
        place = {"output_index": index, "sequence_number": 2}
        item = {
            "type": "function_call",
            "id": f"fc_{index}",
            "call_id": id_,
            "name": name,
        }
        yield {
            "type": "response.output_item.added",
            "item": {**item, "arguments": ""},
            **place,
        }
        for piece in cut(json.dumps(arguments), size):
            event = {"type": "response.function_call_arguments.delta", "delta": piece}
            yield {**event, "item_id": f"fc_{index}", **place}


def anthropic(size=7):
    """The events of a message."""
    message = {**MESSAGES["anthropic"], "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": message}
    yield {"type": "ping"}
    yield {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    }
    for piece in cut(TEXT, size):
        delta = {"type": "text_delta", "text": piece}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    for index, (id_, name, arguments) in enumerate(CALLS, 1):
        block = {"type": "tool_use", "id": id_, "name": name, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for piece in cut(json.dumps(arguments), size):
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def gemini(size=7):
    """Chunks with whole calls in them."""

    def chunk(*parts, **rest):
        content = {"role": "model", "parts": list(parts)}
        return {"candidates": [{"content": content, **rest}], "responseId": "r"}

    for piece in cut(TEXT, size):
        yield chunk({"text": piece})
    for id_, name, arguments in CALLS:
        yield chunk({"functionCall": {"id": id_, "name": name, "args": arguments}})
    yield chunk(finishReason="STOP")


STREAMS = {
    "openai": openai,
    "responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
}


def joined(chunks):
    """The message the chunks make."""
    accumulator = ToolCallAccumulator()
    for chunk in chunks:
        accumulator.add(chunk)
    return accumulator.message


@pytest.mark.parametrize("provider", STREAMS)
class TestProviders:
    """The streams of the four providers."""

    def check(self, message):
        calls = parse_tool_calls(message, TOOLS)
        assert [(c.id, c.name, c.arguments) for c in calls] == CALLS
        assert all(call.action and not call.repairs for call in calls)
        assert calls[0].thought == TEXT

    @pytest.mark.parametrize("size", [1, 7, 1_000])
    def test_joined(self, provider, size):
        """However it is cut, the message is the same."""
        self.check(joined(STREAMS[provider](size)))

    def test_unfinished(self, provider):
        """A call of which a part is missing is an error; the others can run."""
        chunks = list(STREAMS[provider]())
        stops = {"message_delta", "message_stop", "content_block_stop"}
        chunks = [c for c in chunks if c.get("type") not in stops]
        message = joined(chunks[:-2])
        first, *second = parse_tool_calls(message, TOOLS)
        assert first.action
        assert all(call.error for call in second)

    def test_not_started(self, provider):
        """Before the first call there is none."""
        first = next(iter(STREAMS[provider]()))
        assert parse_tool_calls(joined([first]), TOOLS) == []


class TestSdkObjects:
    """The objects the SDKs yield."""

    def test_openai(self):
        """Chat completion chunks."""
        kind = sdk("openai.types.chat").ChatCompletionChunk
        message = joined(kind.model_validate(chunk) for chunk in openai())
        assert [c.arguments for c in parse_tool_calls(message, TOOLS)] == [
            FIRST,
            SECOND,
        ]

    def test_anthropic(self):
        """Raw message stream events."""
        from pydantic import TypeAdapter

        kind = TypeAdapter(sdk("anthropic.types").RawMessageStreamEvent)
        events = [e for e in anthropic() if e["type"] != "ping"]
        message = joined(map(kind.validate_python, events))
        assert [c.arguments for c in parse_tool_calls(message, TOOLS)] == [
            FIRST,
            SECOND,
        ]

    def test_gemini(self):
        """Responses of `generate_content_stream`."""
        kind = sdk("google.genai.types").GenerateContentResponse
        message = joined(kind.model_validate(chunk) for chunk in gemini())
        assert [c.arguments for c in parse_tool_calls(message, TOOLS)] == [
            FIRST,
            SECOND,
        ]

    def test_responses(self):
        """Response stream events."""
        from pydantic import TypeAdapter

        kind = TypeAdapter(sdk("openai.types.responses").ResponseStreamEvent)
        message = joined(map(kind.validate_python, responses()))
        assert [c.arguments for c in parse_tool_calls(message, TOOLS)] == [
            FIRST,
            SECOND,
        ]


class TestOddities:
    """What some servers do."""

    def test_all_numbered_nought(self):
        """Calls that all have index 0 are told apart by their ids."""
        parts = [
            {
                "index": 0,
                "id": id_,
                "function": {"name": name, "arguments": json.dumps(a)},
            }
            for id_, name, a in CALLS
        ]
        chunks = [{"choices": [{"delta": {"tool_calls": [each]}}]} for each in parts]
        calls = parse_tool_calls(joined(chunks), TOOLS)
        assert [call.id for call in calls] == ["call_1", "call_2"]
        empty = [part(0, id_, name) for id_, name, _ in CALLS]
        calls = parse_tool_calls(joined(empty), TOOLS)
        assert [call.name for call in calls] == ["grep", "file_editor"]

    def test_name_repeated(self):
        """A name that comes with every chunk is one name."""
        parts = [
            {"index": 0, "id": "x", "function": {"name": "grep", "arguments": piece}}
            for piece in cut(json.dumps(FIRST))
        ]
        chunks = [{"choices": [{"delta": {"tool_calls": [each]}}]} for each in parts]
        (call,) = parse_tool_calls(joined(chunks), TOOLS)
        assert call.arguments == FIRST

    def test_last_event(self):
        """The finished response replaces its pieces."""
        done = {"type": "response.completed", "response": MESSAGES["responses"]}
        calls = parse_tool_calls(joined([*list(responses())[:5], done]), TOOLS)
        assert [call.arguments for call in calls] == [FIRST, SECOND]

    def test_nothing_known(self):
        """What no provider streams is wrong use."""
        with pytest.raises(BodyError, match="not a chunk of a known provider"):
            ToolCallAccumulator().add({"event": "hello"})

    def test_nothing_yet(self):
        """Without a chunk there is no call."""
        assert parse_tool_calls(ToolCallAccumulator().message, TOOLS) == []


def part(index, id_=None, name=None, arguments=""):
    """A chunk of a chat completion with a piece of a call."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    head = {key: value for key, value in (("index", index), ("id", id_)) if value is not None}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [{**head, "function": function}]}}]}


def event(kind, **fields):
    """An event of the Responses API."""
    return {"type": f"response.{kind}", **fields}


def added(id_, name, **place):
    """The event of the Responses API that begins a call."""
    item = {"type": "function_call", "id": id_, "call_id": f"call_{id_}", "name": name}
    return event("output_item.added", item={**item, "arguments": ""}, **place)


def block(name, *pieces):
    """The events of a call in the Messages API, of a server that numbers each block 0."""
    start = {"type": "tool_use", "id": f"id_{name}", "name": name, "input": {}}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    for piece in pieces:
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}


AT, FOLDER = '{"at": "x"}', '{"folder": "/tmp/x"}'
MIXED = {
    "another id at a known index, its arguments at a new one": [
        part(0, "a", "look"),
        part(0, arguments=AT),
        part(0, "b", "clear"),
        part(1, arguments=FOLDER),
    ],
    "each call is 0": [
        part(0, "a", "look"),
        part(0, arguments=AT),
        part(0, "b", "clear"),
        part(0, arguments=FOLDER[:9]),
        part(0, arguments=FOLDER[9:]),
    ],
    "each call is 0, without ids": [
        part(0, name="look"),
        part(0, arguments=AT),
        part(0, name="clear"),
        part(0, arguments=FOLDER),
    ],
    "no index": [
        part(None, "a", "look"),
        part(None, arguments=AT),
        part(None, "b", "clear"),
        part(None, arguments=FOLDER),
    ],
    "another id with each piece": [
        part(0, "a", "look"),
        part(0, "a2", arguments=AT),
        part(1, "b", "clear"),
        part(1, "b2", arguments=FOLDER[:9]),
        part(1, "b3", arguments=FOLDER[9:]),
    ],
    "another id with each piece, and the name again": [
        part(0, "a", "look", AT),
        part(0, "b", "clear"),
        part(0, "b2", "clear", FOLDER[:9]),
        part(0, "b3", "clear", FOLDER[9:]),
    ],
    "a known id at the index of another call": [
        part(0, "a", "look"),
        part(1, "b", "clear"),
        part(0, "b", arguments=FOLDER),
        part(1, "a", arguments=AT),
    ],
    "equal ids": [
        part(0, "a", "look"),
        part(0, "a", arguments=AT),
        part(1, "a", "clear"),
        part(1, arguments=FOLDER),
        part(1),
    ],
}
MIXED_ELSEWHERE = {
    "responses, no index": [
        added("f1", "look"),
        added("f2", "clear"),
        event("function_call_arguments.delta", item_id="f2", delta=FOLDER),
        event("function_call_arguments.done", item_id="f1", arguments=AT),
    ],
    "responses, each item is 0": [
        added("f1", "look", output_index=0),
        event("function_call_arguments.delta", item_id="f1", output_index=0, delta=AT),
        added("f2", "clear", output_index=0),
        event("function_call_arguments.delta", item_id="f2", output_index=0, delta=FOLDER),
    ],
    "responses, another id with each event": [
        added("f1", "look", output_index=0),
        added("f2", "clear", output_index=1),
        event("function_call_arguments.delta", item_id="z1", output_index=1, delta=FOLDER),
        event("function_call_arguments.delta", item_id="z2", output_index=0, delta=AT),
    ],
    "anthropic, each block is 0": [*block("look", AT), *block("clear", FOLDER[:9], FOLDER[9:])],
}


class TestCallsOfServersThatCannotCount:
    """Whatever a server does with index and id: the arguments are at their call.

    Otherwise `clear` would be ready to run with its defaults.
    """

    @tool
    @staticmethod
    def look(at: str) -> str:
        """Look."""

    @tool
    @staticmethod
    def clear(folder: str = "/", force: bool = True) -> str:
        """Clear a folder."""

    def check(self, chunks):
        calls = parse_tool_calls(joined(chunks), [self.look, self.clear])
        assert [(call.name, call.arguments) for call in calls] == [
            ("look", {"at": "x"}),
            ("clear", {"folder": "/tmp/x"}),
        ]
        assert not any(call.error for call in calls)

    # Each case is a rule of its own
    @pytest.mark.every_case
    @pytest.mark.parametrize("kind", MIXED)
    def test_of_chat_completions(self, kind):
        """A known id wins; a piece without id and known index belongs to the open call."""
        self.check(MIXED[kind])

    @pytest.mark.every_case
    @pytest.mark.parametrize("kind", MIXED_ELSEWHERE)
    def test_of_others(self, kind):
        """An item is known by its id, a block by its start."""
        self.check(MIXED_ELSEWHERE[kind])


def delta(**fields):
    """A chunk of a chat completion."""
    return {"choices": [{"index": 0, "delta": fields}]}


def call_part(**fields):
    """A piece of the first call."""
    return delta(tool_calls=[{"index": 0, **fields}])


SIGNED = {"google": {"thought_signature": "U0lH"}}
FUNCTION = {"name": "look", "arguments": AT}
THOUGHT = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
SEALED = {"type": "reasoning.encrypted", "index": 1, "data": "c2VhbGVk", "id": "r1"}
CITED = {"type": "web_search_result_location", "encrypted_index": "aW5kZXg="}
WANTED_BACK = {
    "the signature of a call": (
        [call_part(id="c1", function=FUNCTION, extra_content=SIGNED)],
        lambda message: message["tool_calls"][0]["extra_content"] == SIGNED,
    ),
    "a signature that comes later, and alone": (
        [call_part(id="c1", function=FUNCTION), call_part(extra_content=SIGNED)],
        lambda message: message["tool_calls"][0]["extra_content"] == SIGNED,
    ),
    "details of reasoning": (
        [
            delta(reasoning_details=[{**THOUGHT, "text": "I lo"}]),
            delta(reasoning_details=[{**THOUGHT, "text": "ok."}, SEALED]),
            delta(reasoning_details=[{**THOUGHT, "signature": "c2ln"}]),
        ],
        lambda message: (
            message["reasoning_details"]
            == [{**THOUGHT, "text": "I look.", "signature": "c2ln"}, SEALED]
        ),
    ),
    "what nobody knows yet": (
        [delta(content="", seal={"key": "a", "text": "b"}), delta(seal={"text": "c"})],
        lambda message: message["seal"] == {"key": "a", "text": "bc"},
    ),
    "the sources of a text, of Claude": (
        [
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": "", "citations": []},
            },
            *(
                {"type": "content_block_delta", "index": 0, "delta": piece}
                for piece in (
                    {"type": "text_delta", "text": "So it is."},
                    {"type": "citations_delta", "citation": CITED},
                )
            ),
        ],
        lambda message: message["content"][0]["citations"] == [CITED],
    ),
}


class TestWhatAProviderWantsBack:
    # Each case is a rule of its own
    @pytest.mark.every_case
    @pytest.mark.parametrize("what", WANTED_BACK)
    def test_is_in_the_message(self, what):
        """As in an answer that came in one piece."""
        chunks, is_there = WANTED_BACK[what]
        message = joined(chunks)
        if "choices" in message:
            message = message["choices"][0]["message"]
        assert is_there(json.loads(json.dumps(message)))


class TestPartialArguments:
    """Gemini may send a call's values one by one, each with its path."""

    TOOL = taking({"text": {"type": "string"}, "deep": {}})

    def run(self, *pieces, key="partialArgs"):
        heads = [{"name": self.TOOL.name, "willContinue": True}]
        calls = [
            *heads,
            *({key: [piece], "willContinue": True} for piece in pieces),
            {},
        ]
        chunks = [
            {"candidates": [{"content": {"parts": [{"functionCall": call}]}}]} for call in calls
        ]
        (call,) = parse_tool_calls(joined(chunks), [self.TOOL])
        return call.arguments

    def test_text(self):
        """Text comes in pieces."""
        pieces = [{"jsonPath": "$.text", "stringValue": s} for s in ("a", "b", "c")]
        assert self.run(*pieces) == {"text": "abc"}

    def test_deep(self):
        """Objects and lists are made on the way."""
        assert self.run(
            {"jsonPath": "$.deep.list[1].n", "numberValue": 3},
            {"jsonPath": "$.deep.list[0]", "boolValue": False},
            {"jsonPath": "$.deep['a key']", "nullValue": "NULL_VALUE"},
        ) == {"deep": {"list": [False, {"n": 3}], "a key": None}}

    def test_snake(self):
        """The SDK's own spelling does as well."""
        piece = {"json_path": "$.text", "string_value": "x"}
        assert self.run(piece, key="partial_args") == {"text": "x"}

    @given(st.text(alphabet="$.[]'ab09\\", max_size=12))
    def test_any_path(self, path):
        """A path that leads nowhere breaks nothing."""
        self.run(
            {"jsonPath": "$.deep.a", "stringValue": "x"},
            {"jsonPath": path, "stringValue": "x"},
            {"jsonPath": f"$.deep{path}", "numberValue": 1},
        )

    def test_huge_index(self):
        """A path cannot ask for a million items."""
        arguments = self.run({"jsonPath": "$.deep.list[99999999]", "numberValue": 1})
        assert len(json.dumps(arguments)) < 1_000
