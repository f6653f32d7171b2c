"""Calls that a model wrote into its text, and calls that run and answer by themselves."""

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_llm.samples import GREP, WRITE
from toolbench import Observation, history, tool
from toolbench.llm import parse_tool_calls, respond
from toolbench.llm.calls.written_calls import written_calls
from toolbench.llm.message import Message, TextPart, ToolCallPart, ToolResultPart
from toolbench.llm.wire import WIRES

# What a model that is declared to write calls as text has said
calls_of = partial(parse_tool_calls, written_calls=True)
ARGUMENTS = {"pattern": "TODO", "limit": 5}
CALL = json.dumps({"name": "grep", "arguments": ARGUMENTS})
OTHER = json.dumps({"name": "file_editor", "arguments": {"path": "a", "content": "b"}})
PARAMETERS = CALL.replace("arguments", "parameters")
WRITINGS = {
    "bare": CALL,
    "fenced": f"```json\n{CALL}\n```",
    "tagged": f"<tool_call>\n{CALL}\n</tool_call>",
    "tag left open": f"<tool_call>{CALL}",
    "parameters": PARAMETERS,
    "function": json.dumps({"type": "function", "function": json.loads(CALL)}),
    "tool_calls": json.dumps({"tool_calls": [json.loads(CALL)]}),
    "words and tag": f"I look for it. <tool_call>{CALL}</tool_call>",
    "words and tag on its line": f"I look for it.\n<tool_call>\n{CALL}\n</tool_call>\n",
    "fence in a tag": f"<tool_call>\n```json\n{CALL}\n```\n</tool_call>",
    "tag in a fence": f"```xml\n<tool_call>{CALL}</tool_call>\n```",
    "thinking": f"<think>I write {OTHER}.</think>\n{CALL}",
    "words of thinking, opened by the template": f"I look for it</think>\n\n{CALL}",
    "words and an answer it made up": f"I look for it. <tool_call>{CALL}</tool_call>\n"
    "<tool_response>9 matches</tool_response> There are 9.",
    "words with a fence, and tag": f"I look for it:\n```\nls\n```\n<tool_call>{CALL}</tool_call>",
    "Llama": f"<|python_tag|>{PARAMETERS}<|eom_id|>",
    "Mistral": f"[TOOL_CALLS] [{CALL}]</s>",
    "Granite": f"<|tool_call|>[{CALL}]",
    "Phi": f"functools[{CALL}]",
    "Qwen coder": f"<tools>\n{CALL}\n</tools>",
    "function_call": f"<function_call> {CALL} </function_call>",
    "inline code": f"`{CALL}`",
}
QUOTED = {
    "in a sentence": f"I look for it: {CALL}",
    "as an example": f"Write {CALL} to call it.",
    "between two": f"First {CALL} and then {OTHER}",
    "fenced among words": f"I look for it:\n```json\n{CALL}\n```\nThen I tell you.",
    "fenced behind words": f"A call looks like this:\n```json\n{CALL}\n```",
    "fenced before words": f"```json\n{CALL}\n```\nThat is a call.",
    "a tag in a sentence": f"It is <tool_call>{CALL}</tool_call>, as you see.",
    "a tag before words": f"<tool_call>{CALL}</tool_call>\nThat is a call.",
    "a tag in inline code": f"Small models write `<tool_call>{CALL}</tool_call>`",
    "a tag in quotes": f'They write "<tool_call>{CALL}</tool_call>"',
    "a tag in a fence": f"Like this:\n```\n<tool_call>\n{CALL}\n</tool_call>\n```",
    "thought of": f"<think>I could write {CALL}</think>There is none.",
    "a tag that is thought of": f"<think><tool_call>{CALL}</tool_call></think>No.",
    "only thought of": f"<think><tool_call>{CALL}</tool_call>",
    "Llama's mark among words": f"Llama writes <|python_tag|>{CALL} for it.",
}
SHAPES = {
    "openai": lambda text: {"role": "assistant", "content": text},
    "anthropic": lambda text: {
        "role": "assistant",
        "type": "message",
        "content": [{"type": "text", "text": text}],
    },
    "gemini": lambda text: {"role": "model", "parts": [{"text": text}]},
    "responses": lambda text: {
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": text}],
            }
        ]
    },
}


class TestFound:
    # Each case is a rule of its own
    @pytest.mark.every_case
    @pytest.mark.parametrize("provider", SHAPES)
    @pytest.mark.parametrize("writing", WRITINGS)
    def test_and_answered_in_the_dialect_of_the_message(self, writing, provider):
        """However it is written: the call, said to be mended, and an answer of that provider."""
        message = SHAPES[provider](WRITINGS[writing])
        (call,) = calls_of(message, [GREP, WRITE])
        assert (call.name, call.arguments, call.error) == ("grep", ARGUMENTS, None)
        assert call.metadata.provider == provider
        assert "written as text" in str(call.repairs[0])
        assert ("I look for it" in call.thought) == ("words" in writing)
        kinds = {
            "openai": lambda m: m["role"] == "tool" and m["tool_call_id"] == call.id,
            "anthropic": lambda m: m["content"][0]["type"] == "tool_result",
            "gemini": lambda m: "functionResponse" in m["parts"][0],
            "responses": lambda m: m["type"] == "function_call_output",
        }
        assert kinds[provider](respond(call, Observation.from_text("3 matches")))

    def test_several(self):
        """One after the other, each with an id of its own."""
        for text in (
            f"[{CALL}, {OTHER}]",
            f"<tool_call>{CALL}</tool_call><tool_call>{OTHER}</tool_call>",
            f"<tool_call>{CALL}\n{OTHER}</tool_call>",
            f"<|python_tag|>{CALL}; {OTHER}",
            f"```json\n{CALL}\n```\n```json\n{OTHER}\n```",
            f"{CALL}\n{OTHER}",
        ):
            calls = calls_of(SHAPES["openai"](text), [GREP, WRITE])
            assert [call.name for call in calls] == ["grep", "file_editor"]
            assert len({call.id for call in calls}) == 2

    @pytest.mark.parametrize(
        "mark",
        ["<tool_call>", "</tool_call>", "</s>", "</think>", "```", "[TOOL_CALLS]"],
    )
    @pytest.mark.parametrize("form", ["{}", "<tool_call>{}</tool_call>"])
    def test_with_a_mark_in_its_arguments(self, form, mark):
        """What stands in a string of the call is no mark."""
        arguments = {"pattern": mark, "limit": 5}
        text = form.format(json.dumps({"name": "grep", "arguments": arguments}))
        (call,) = calls_of(SHAPES["openai"](text), [GREP])
        assert call.arguments == arguments

    def test_of_an_unknown_tool_is_an_error(self):
        """The model is told which tools there are, as of any call."""
        text = CALL.replace("grep", "find_everything")
        (call,) = calls_of(SHAPES["openai"](text), [GREP])
        assert "grep" in str(call.error)

    def test_that_is_cut_off_is_an_error(self):
        """Between tags it is known to be a call: it is never guessed what it was to be."""
        message = SHAPES["openai"](f"<tool_call>{CALL[:-9]}")
        (call,) = calls_of(message, [GREP])
        assert call.name == "grep"
        assert "JSON" in str(call.error)

    def test_only_where_none_were_sent(self):
        """Beside a real call the text is what it says."""
        function = {"name": "file_editor", "arguments": '{"path": "a", "content": "b"}'}
        message = SHAPES["openai"](CALL) | {
            "tool_calls": [{"id": "1", "type": "function", "function": function}]
        }
        (call,) = calls_of(message, [GREP, WRITE])
        assert call.name == "file_editor"

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "No call at all.",
            '{"name": "Bob", "age": 3}',
            '{"a": 1}',
            "[1, 2]",
            'Write {"name": "your_tool", "arguments": {}} to call a tool.',
            "a {brace} and a }",
            '{"name": "grep"',
            '{"answer": "grep"}',
        ],
    )
    def test_nowhere_else(self, text):
        """Other JSON, an example in the middle of words, a text that only looks like it."""
        assert calls_of(SHAPES["openai"](text), [GREP]) == []

    # Each case is a rule of its own
    @pytest.mark.every_case
    @pytest.mark.parametrize("provider", SHAPES)
    @pytest.mark.parametrize("writing", QUOTED)
    def test_never_where_it_is_only_quoted(self, writing, provider):
        """JSON of a call among words, in quoted code, or thought of: the model speaks of it."""
        message = SHAPES[provider](QUOTED[writing])
        assert calls_of(message, [GREP, WRITE]) == []

    @given(st.text(alphabet='{}[]"name:, argumentsgrep<tool_call>/`\n', max_size=60))
    def test_never_fails(self, text):
        """Any text is read, or left as it is."""
        calls, words = written_calls(text)
        assert calls or words == text


NOT_JSON = {
    "Qwen coder": "<tool_call>\n<function=grep>\n<parameter=pattern>\nTODO\n</parameter>\n"
    "</function>\n</tool_call>",
    "Qwen coder, without the tag": "I look.\n<function=grep>\n<parameter=pattern>TODO</parameter>"
    "</function>",
    "Llama 3": '<function=grep>{"pattern": "TODO"}</function>',
    "Llama 4": '[grep(pattern="TODO", limit=5)]',
    "Mistral": '[TOOL_CALLS]grep[ARGS]{"pattern": "TODO"}',
    "GLM": "<tool_call>grep\n<arg_key>pattern</arg_key>\n<arg_value>TODO</arg_value>\n</tool_call>",
    "Kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.grep:0"
    '<|tool_call_argument_begin|>{"pattern": "TODO"}<|tool_call_end|><|tool_calls_section_end|>',
    "DeepSeek V3": "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>"
    'function<\uff5ctool\u2581sep\uff5c>grep\n```json\n{"pattern": "TODO"}\n```'
    "<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>",
    "DeepSeek V3.1": "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>grep"
    '<\uff5ctool\u2581sep\uff5c>{"pattern": "TODO"}<\uff5ctool\u2581call\u2581end\uff5c>',
    "gpt-oss": "<|channel|>commentary to=functions.grep <|constrain|>json<|message|>"
    '{"pattern": "TODO"}<|call|>',
}


class TestOfAFormThatIsNotRead:
    # Each case is a rule of its own
    @pytest.mark.every_case
    @pytest.mark.parametrize("model", NOT_JSON)
    def test_is_an_error_that_says_how(self, model):
        """It is never guessed, and never the answer: the model can send the call again."""
        (call,) = calls_of(SHAPES["openai"](NOT_JSON[model]), [GREP])
        assert (call.name, call.tool, call.arguments) == ("grep", GREP, {})
        assert "write it as JSON" in str(call.error)

    @pytest.mark.every_case
    @pytest.mark.parametrize("model", NOT_JSON)
    def test_is_no_call_where_it_is_quoted(self, model):
        """As with JSON: the model speaks of it."""
        text = f"{model} writes:\n```\n{NOT_JSON[model]}\n```"
        assert calls_of(SHAPES["openai"](text), [GREP]) == []


class TestSentBack:
    @pytest.mark.parametrize("provider", SHAPES)
    def test_as_text_of_the_user(self, provider):
        """The provider never saw a call: it would refuse a result."""
        message = SHAPES[provider](CALL)
        if provider == "responses":
            message["role"] = "assistant"
        (call,) = calls_of(message, [GREP], provider=provider)
        answer = call.answer(Observation.from_text("3 matches"))
        wire = WIRES[provider]
        body = wire.request("m", [wire.read(message), wire.read(answer)], [], {})
        text = json.dumps(body)
        assert "<tool_response>\\n3 matches\\n</tool_response>" in text
        for mark in ("tool_call_id", "tool_result", "function_call_output"):
            assert mark not in text
        assert "functionResponse" not in text

    @pytest.mark.parametrize("provider", SHAPES)
    def test_beside_the_result_of_a_call(self, provider):
        """Of two results only that of a call that was sent is one for the provider."""
        said = Message("assistant", (ToolCallPart("now", {}, "c1"),))
        results = (
            ToolResultPart("c1", "now", (TextPart("noon"),)),
            ToolResultPart("c9", "grep", (TextPart("3 matches"),)),
        )
        text = json.dumps(WIRES[provider].request("m", [said, Message("tool", results)], [], {}))
        assert text.count("<tool_response>") == 1
        assert text.index('"noon"') < text.index("<tool_response>\\n3 matches")


class TestCall:
    @tool
    @staticmethod
    def double(x: int) -> int:
        """Return twice the number."""
        return 2 * x

    def call(self, arguments, tools=None):
        function = {"name": "double", "arguments": json.dumps(arguments)}
        calls = [{"id": "c1", "type": "function", "function": function}]
        message = {"role": "assistant", "tool_calls": calls}
        (call,) = parse_tool_calls(message, [self.double] if tools is None else tools)
        return call

    def test_runs(self):
        """As a run like any other: in the history, asked for by a model."""
        call = self.call({"x": 21})
        observation = call.run()
        assert observation.text == "42"
        assert history()[-1].source == "model"
        assert call.answer(observation) == respond(call, observation)

    @pytest.mark.parametrize("arguments", [{"x": "many"}, {}])
    def test_that_does_not_fit_is_not_run(self, arguments):
        """What is wrong with it is what came of it."""
        call = self.call(arguments)
        before = len(history())
        observation = call.run()
        assert observation.is_error
        assert call.answer() == call.answer(observation)
        assert len(history()) == before

    def test_of_no_tool_is_not_run(self):
        """Nor is a call of what is not there."""
        assert self.call({"x": 1}, tools=[GREP]).run().is_error
