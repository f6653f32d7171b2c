"""Calls are found in whatever a provider or its SDK hands over."""

import json
from copy import deepcopy
from typing import ClassVar

import pytest

from test_llm.chat import TOOLS, chat, one, repair_texts
from test_llm.recorded import FIRST, KINDS, MESSAGES, SECOND, TEXT
from test_llm.samples import GREP, GrepAction, sdk
from toolbench.errors import BodyError
from toolbench.llm.calls import parse_tool_calls


@pytest.mark.parametrize("provider", MESSAGES)
class TestRecorded:
    """The four providers' messages, in every form they come in."""

    def check(self, calls, provider):
        first, second = calls
        assert first.action == GrepAction(**FIRST)
        assert (first.id, first.name, first.arguments) == ("call_1", "grep", FIRST)
        assert (second.id, second.name, second.arguments) == (
            "call_2",
            "file_editor",
            SECOND,
        )
        assert TEXT in first.thought
        assert second.thought == ""
        assert first.error is second.error is None
        assert first.repairs == second.repairs == ()
        for index, call in enumerate(calls):
            assert call.metadata.provider == provider
            assert (call.metadata.index, call.metadata.total) == (index, 2)

    def test_dict(self, provider):
        """A dict, as `json.loads` makes it."""
        calls = parse_tool_calls(MESSAGES[provider], TOOLS)
        self.check(calls, provider)
        whole = MESSAGES[provider]
        assert calls[0].metadata.response_id == whole.get("id", whole.get("responseId"))
        assert calls[0].metadata.finish

    def test_text(self, provider):
        """JSON text, also as bytes."""
        text = json.dumps(MESSAGES[provider])
        self.check(parse_tool_calls(text, TOOLS), provider)
        self.check(parse_tool_calls(text.encode(), TOOLS), provider)

    def test_sdk_object(self, provider):
        """The object the provider's own SDK returns."""
        module, name = KINDS[provider]
        response = getattr(sdk(module), name).model_validate(MESSAGES[provider])
        self.check(parse_tool_calls(response, TOOLS), provider)

    def test_unharmed(self, provider):
        """The message is left as it was."""
        before = deepcopy(MESSAGES[provider])
        parse_tool_calls(MESSAGES[provider], TOOLS)
        assert before == MESSAGES[provider]

    def test_model(self, provider):
        """Which model it was is kept."""
        call = parse_tool_calls(MESSAGES[provider], TOOLS)[0]
        assert call.metadata.model in json.dumps(MESSAGES[provider])


class TestShapes:
    """The message alone, its list of parts, or one call will do as well."""

    OPENAI = MESSAGES["openai"]["choices"][0]
    GEMINI = MESSAGES["gemini"]["candidates"][0]
    BLOCKS = MESSAGES["anthropic"]["content"]
    PARTS: ClassVar = {
        "openai choice": OPENAI,
        "openai message": OPENAI["message"],
        "openai calls": OPENAI["message"]["tool_calls"],
        "responses items": MESSAGES["responses"]["output"],
        "responses calls": MESSAGES["responses"]["output"][2:],
        "anthropic blocks": BLOCKS,
        "anthropic turn": {"role": "assistant", "content": BLOCKS},
        "gemini candidate": GEMINI,
        "gemini content": GEMINI["content"],
        "gemini parts": GEMINI["content"]["parts"],
    }

    @pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
    def test_parts(self, part):
        """Any part that holds the calls."""
        calls = parse_tool_calls(part, TOOLS)
        assert [call.arguments for call in calls] == [FIRST, SECOND]

    @pytest.mark.parametrize(
        "call",
        [
            {
                "id": "x",
                "type": "function",
                "function": {"name": "grep", "arguments": "{}"},
            },
            {
                "type": "function_call",
                "call_id": "x",
                "name": "grep",
                "arguments": "{}",
            },
            {"type": "tool_use", "id": "x", "name": "grep", "input": {}},
            {"functionCall": {"id": "x", "name": "grep", "args": {}}},
            {"function_call": {"id": "x", "name": "grep", "args": {}}},
            {
                "method": "tools/call",
                "id": "x",
                "params": {"name": "grep", "arguments": {}},
            },
            {"id": "x", "name": "grep", "arguments": {}},
        ],
    )
    def test_one(self, call):
        """A single call, of any provider."""
        tool_call = one(call)
        assert (tool_call.id, tool_call.name) == ("x", "grep")
        assert [p.where for p in tool_call.error.problems] == ["pattern"]

    def test_old_function_call(self):
        """OpenAI's first form, one function call in the message."""
        message = {
            "role": "assistant",
            "function_call": {"name": "grep", "arguments": '{"pattern": "x"}'},
        }
        assert one(message).action.pattern == "x"

    def test_ollama(self):
        """A local server that sends the arguments as an object."""
        function = {"name": "grep", "arguments": {"pattern": "x"}}
        message = {"message": {"role": "assistant", "tool_calls": [{"function": function}]}}
        assert one(message).action.pattern == "x"
        assert one(message).id is None

    def test_objects_inside(self):
        """A dict with the SDK's objects in it, as a history is kept."""
        block = sdk("anthropic.types").ToolUseBlock(
            id="x", type="tool_use", name="grep", input={"pattern": "x"}
        )
        message = {"role": "assistant", "content": [block]}
        assert one(message).action.pattern == "x"

    @pytest.mark.parametrize(
        "message",
        [
            {"role": "assistant", "content": "Done."},
            {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
            {"choices": []},
            {"type": "message", "role": "assistant", "content": []},
            {"object": "response", "output": []},
            {"candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}}]},
            {"candidates": []},
            [{"type": "text", "text": "Done."}],
            [
                {
                    "type": "message",
                    "content": [{"type": "output_text", "text": "Done."}],
                }
            ],
        ],
    )
    def test_only_words(self, message):
        """A model that only spoke has called nothing."""
        assert parse_tool_calls(message, TOOLS) == []

    @pytest.mark.parametrize(
        "message",
        [
            "Done.",
            "",
            "{",
            "[]",
            "3",
            "null",
            b"\xff\xfe",
            None,
            3,
            pytest.param(object(), id="an object"),
            {},
            [],
            {"role": "user", "content": "Hi"},
            dict,
        ],
        ids=repr,
    )
    def test_nothing_known(self, message):
        """What no provider sends is wrong use."""
        with pytest.raises(BodyError):
            parse_tool_calls(message, TOOLS)

    def test_no_tools(self):
        """A model that was offered nothing cannot call."""
        call = one(chat({}), [])
        assert "The tools are: none" in str(call.error)

    def test_mapping_of_tools(self):
        """The tools may come by name, or one by one."""
        assert one(chat(FIRST), {"grep": GREP}).action
        assert one(chat(FIRST), (tool for tool in TOOLS)).action


class TestTextAround:
    """A message pasted from a chat has words around its JSON."""

    def test_fence(self):
        """A code fence is taken off, and that is told."""
        call = one(f"```json\n{json.dumps(chat(FIRST))}\n```")
        assert call.action
        assert repair_texts(call) == ["the message: the code fence around it was removed"]

    def test_prose(self):
        """The words become the thought."""
        text = f"I look:\n{json.dumps({'name': 'grep', 'arguments': FIRST})}\nand wait."
        call = one(text)
        assert call.action
        assert call.thought.startswith("I look:")
        assert "read as the model's thought" in repair_texts(call)[0]

    def test_several(self):
        """Several calls one after the other, as local models write them."""
        part = json.dumps({"name": "grep", "arguments": FIRST})
        calls = parse_tool_calls(f"<tool_call>{part}</tool_call>\n" * 2, TOOLS)
        assert [call.arguments for call in calls] == [FIRST, FIRST]
        assert calls[0].thought == ""

    def test_cut_off(self):
        """A part of a message that was cut off is never run."""
        text = json.dumps(chat(FIRST))
        for end in range(1, len(text)):
            with pytest.raises(BodyError):
                parse_tool_calls(text[:end], TOOLS)
