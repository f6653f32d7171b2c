"""What a provider sent is what it gets back: a message that is read and written is the same message."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest

from test_llm.recorded import MESSAGES
from toolbench.llm.calls import parse_tool_calls, respond
from toolbench.llm.compose import model_message, user_message
from toolbench.llm.message import (
    ImagePart,
    Message,
    OtherPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from toolbench.llm.models import Answer
from toolbench.llm.models.model import as_answer
from toolbench.llm.names import PROVIDERS as OFFERED
from toolbench.llm.wire import WIRES

PIXEL = "data:image/png;base64,iVBORw0KGgo="
PROVIDERS = [provider for provider in WIRES if provider != "mcp"]
CONTENTS = {
    "openai": ["content", "tool_calls", "tool_call_id"],
    "responses": ["content", "output", "type", "call_id"],
    "anthropic": ["content"],
    "gemini": ["parts"],
}
"""Where a message has its parts."""
SENT = {
    "openai": [
        {"role": "system", "content": "Be kind.", "name": "teacher"},
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "UklG"}}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PIXEL}}]},
        {"role": "assistant", "content": None, "refusal": "No.", "audio": {"id": "a1"}},
        {"content": "Yes.", "role": "assistant", "refusal": None, "function_call": None},
        {"role": "function", "name": "grep", "content": None},
        {"role": "assistant", "reasoning_content": "Hm.", "content": "Yes.", "annotations": []},
        {"role": "assistant", "reasoning": "Hm.", "reasoning_details": [{"data": "gAAA"}]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "assistant", "content": "", "images": [{"image_url": {"url": PIXEL}}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "custom",
                    "custom": {"input": "TODO", "name": "grep"},
                },
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "grep", "arguments": '{"pattern": "a"'},
                    "extra_content": {"google": {"thought_signature": "EqQB"}},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "3 lines"}]},
        {"role": "tool", "tool_call_id": "c2", "content": "3 lines"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "file", "file_id": "f1"}]},
    ],
    "responses": [
        {"role": "user", "content": [{"type": "input_file", "file_id": "f1"}]},
        {"role": "user", "content": [{"type": "input_image", "image_url": PIXEL}]},
        {"type": "function_call_output", "call_id": "c1", "output": "3 lines"},
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": [{"type": "input_text", "text": "A"}, {"type": "input_file", "file_id": "f"}],
        },
        {"type": "item_reference", "id": "rs_1"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "3 lines"},
        {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": "3 lines"}]},
        {"type": "additional_tools", "role": "developer", "tools": []},
        {"content": "Yes.", "role": "assistant", "phase": "final_answer"},
        {
            "role": "assistant",
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
                {"type": "web_search_call", "id": "ws_1", "status": "completed"},
                {"type": "image_generation_call", "id": "ig_1", "result": "iVBORw0KGgo="},
                {
                    "type": "message",
                    "id": "m1",
                    "role": "assistant",
                    "content": [
                        {"type": "output_text", "text": "One, ", "annotations": [{"url": "x"}]},
                        {"type": "refusal", "refusal": "not two."},
                    ],
                },
            ],
        },
    ],
    "anthropic": [
        {"content": "Hello", "role": "user"},
        {"role": "user", "content": [{"type": "document", "source": {"type": "text"}}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"},
                {"type": "redacted_thinking", "data": "EqQB"},
                {"type": "text", "text": "Yes.", "citations": [{"cited_text": "yes"}]},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
                {"type": "tool_use", "id": "c1", "name": "grep", "input": {"pattern": "a"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": "3 lines",
                    "cache_control": {"type": "ephemeral"},
                },
                {"type": "text", "text": "And now?"},
            ],
        },
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "Hello"}, {"fileData": {"fileUri": "gs://a"}}]},
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True, "thoughtSignature": "EqQB"},
                {"executableCode": {"code": "1", "language": "PYTHON"}},
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
                {"functionCall": {"name": "grep", "args": {"a": 1}}, "thoughtSignature": "EqQB"},
                {"functionCall": {"name": "now"}},
            ],
        },
        {"parts": [{"text": "Yes.", "thoughtSignature": None}], "role": "model"},
        {"role": "user", "parts": [{"functionResponse": {"name": "grep", "response": {"x": 1}}}]},
    ],
}


def as_bytes(value):
    """*value* as it is sent: the order of keys counts."""
    return json.dumps(value)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_message_goes_back_as_it_came(provider):
    """Signatures, citations, encrypted reasoning and what no module here knows, in their order."""
    wire = WIRES[provider]
    answer = as_answer(MESSAGES[provider], provider)
    for message in [answer.message, *SENT[provider]]:
        before = deepcopy(message)
        assert as_bytes(wire.write(wire.read(message))) == as_bytes([message])
        assert message == before


@pytest.mark.parametrize("provider", PROVIDERS)
def test_another_provider_gets_the_parts_it_can_take(provider):
    """Text, calls and results of each provider go to each other one, without what only the first knows."""
    wire = WIRES[provider]
    said = as_answer(MESSAGES[provider], provider).parsed
    for message in [said, *map(wire.read, SENT[provider])]:
        for other in PROVIDERS:
            if other == provider:
                continue
            written = WIRES[other].write(message)
            assert "EqQB" not in as_bytes(written)
            read = [WIRES[other].read(one) for one in written]
            assert "".join(one.text for one in read) == message.text
            names = [call.name for one in read for call in one.calls]
            assert names == [call.name for call in message.calls]
            assert not [part for one in read for part in one.parts if isinstance(part, OtherPart)]
            for one in written:
                assert {} not in list(one.get("output", ()))
                assert one.keys() <= {"role", *CONTENTS[other]}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_developer_is_the_system(provider):
    """OpenAI's newer word for instructions: the others know no such role, and refuse the request."""
    wire = WIRES[provider]
    said = {"role": "developer", "content": "Be brief."}
    of_openai = WIRES["openai"].read(said)
    for messages in ([wire.read(said)], [wire.read(one) for one in wire.write(of_openai)]):
        body = wire.request("m", messages, [], {})
        match provider:
            case "anthropic":
                assert (body["system"], body["messages"]) == ("Be brief.", [])
            case "gemini":
                assert (body["config"]["system_instruction"], body["contents"]) == ("Be brief.", [])
            case _:
                [turn] = body.get("messages") or body["input"]
                assert turn["role"] in ("developer", "system")
                assert turn["content"] == "Be brief."


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_is_made_here_is_read_again(provider):
    """Text, images, calls and results; of several results, each is with its call."""
    wire = WIRES[provider]
    calls = [ToolCallPart("grep", {"pattern": "a"}, "c1"), ToolCallPart("grep", "{}", "c2")]
    said = wire.read(model_message("Let me look.", calls, provider))
    assert said.text == "Let me look."
    assert [call.name for call in said.calls] == ["grep", "grep"]
    asked = wire.read(user_message([], provider) | user_message("Look!", provider))
    assert (asked.role, asked.text) == ("user", "Look!")
    results = tuple(
        ToolResultPart(f"c{n}", "grep", (TextPart(f"{n} lines"), ImagePart(PIXEL))) for n in (1, 2)
    )
    read = [wire.read(message) for message in wire.write(Message("tool", results))]
    found = [result for message in read for result in message.results]
    assert [result.content[0].text.partition("\n")[0] for result in found] == ["1 lines", "2 lines"]
    images = [image for message in read for image in message.images]
    images += [image.url for result in found for image in result.images]
    assert images == [PIXEL, PIXEL]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_has_the_role_of_the_model(provider):
    """An answer that a function returned can be sent: Gemini takes no role "assistant"."""
    message = model_message("Yes.", provider=provider)
    assert as_answer(Answer(message), provider).message == message


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_changed_part_is_what_is_sent(provider):
    """The fields of a part stand above what came with it: a masked text, an edited call, a new id."""
    wire = WIRES[provider]
    said = as_answer(MESSAGES[provider], provider).parsed
    parts = []
    for part in said.parts:
        if isinstance(part, TextPart):
            part = replace(part, text="changed")
        if isinstance(part, ToolCallPart):
            part = replace(part, arguments={"pattern": "other"}, id="new")
        parts.append(part)
    [written] = wire.write(replace(said, parts=tuple(parts)))
    read = wire.read(written)
    assert read.text == "changed"
    for call in parse_tool_calls(written, [], provider=provider):
        assert call.arguments == {"pattern": "other"}
        assert call.id == "new"
        assert "new" in as_bytes(respond(call))


def test_lines_offer_every_format():
    """Magics offer the formats without loading them: the names are those of the formats."""
    assert tuple(WIRES) == OFFERED
