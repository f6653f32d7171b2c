"""What every model keeps: answers, usage, what is wrong with an answer, and how it is stopped."""

import threading
from concurrent.futures import ThreadPoolExecutor

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE

from test_llm.recorded import FIRST, KINDS, MESSAGES, TEXT
from test_llm.samples import GREP, WRITE, sdk
from toolbench.errors import ModelError, ModelScriptError, ModelStoppedError
from toolbench.llm import parse_tool_calls, system_message, user_message
from toolbench.llm.models import (
    Answer,
    CancelToken,
    Model,
    PersonModel,
    ScriptedModel,
    Usage,
    as_model,
)
from toolbench.llm.models.model import as_answer

PROVIDERS = ["openai", "responses", "anthropic", "gemini"]
USAGES = {
    "openai": Usage(82, 17),
    "responses": None,
    "anthropic": Usage(472, 89),
    "gemini": Usage(90, None),
}
PICTURE = "data:image/png;base64,iVBO/+"
HELLO = [{"role": "user", "content": "Hello"}]


class TestAnswer:
    @pytest.mark.parametrize("form", ["dict", "SDK object"])
    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_is_the_message_of_a_whole_response(self, provider, form):
        """Whichever provider: its calls, its text, why it ended, what it took."""
        whole = MESSAGES[provider]
        if form == "SDK object":
            module, kind = KINDS[provider]
            whole = getattr(sdk(module), kind).model_validate(whole)
        answer = as_answer(whole, provider)
        calls = parse_tool_calls(answer.message, [GREP, WRITE], provider=provider)
        assert [call.name for call in calls] == ["grep", "file_editor"]
        assert calls[0].arguments == FIRST
        assert answer.text == TEXT
        assert answer.finish_reason == "tool_calls"
        assert answer.usage == USAGES[provider]
        assert answer.problem is None
        assert answer.response_id
        assert answer.model

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_is_a_text(self, provider):
        """A text becomes a message of the provider, which says the same text."""
        answer = as_answer("So it is.", provider)
        assert answer.text == "So it is."
        assert answer.finish_reason == "stop"

    @pytest.mark.parametrize("value", [None, 3, ["a"], object()])
    def test_is_not_made_of_what_is_no_message(self, value):
        """One sentence says what came instead."""
        with pytest.raises(ModelError, match="It should be a message"):
            as_answer(value, "openai")

    @pytest.mark.parametrize(
        ("provider", "whole"),
        [
            ("openai", {"choices": [{"finish_reason": "length", "message": {"content": "On"}}]}),
            ("responses", {"status": "incomplete", "output": [], "incomplete_details": {"reason": "max_output_tokens"}}),
            ("anthropic", {"content": [], "stop_reason": "max_tokens"}),
            ("gemini", {"candidates": [{"finishReason": "MAX_TOKENS", "content": {"parts": []}}]}),
        ],
    )  # fmt: skip
    def test_that_was_cut_off_says_so(self, provider, whole):
        """The limit of tokens is a sentence, and what had come stays."""
        answer = as_answer(whole, provider)
        assert answer.finish_reason == "length"
        assert "cut off" in answer.problem

    @pytest.mark.parametrize(
        ("provider", "whole"),
        [
            ("openai", {"choices": [{"finish_reason": "stop", "message": {"refusal": "I won't."}}]}),
            ("responses", {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "I won't."}]}]}),
            ("anthropic", {"content": [{"type": "text", "text": "I won't."}], "stop_reason": "refusal"}),
            ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}),
        ],
    )  # fmt: skip
    def test_that_is_a_refusal_says_so(self, provider, whole):
        """With the words of the refusal, where there are any."""
        answer = as_answer(whole, provider)
        assert answer.finish_reason == "refusal"
        assert "refused to answer" in answer.problem
        assert provider == "gemini" or "I won't." in answer.problem

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_that_is_empty_says_so(self, provider):
        """Neither text nor a call: one sentence."""
        assert "answered nothing" in as_answer("", provider).problem

    @pytest.mark.parametrize(
        ("provider", "message"),
        [
            ("openai", {"content": "", "images": [{"image_url": {"url": PICTURE}}]}),
            ("responses", {"output": [{"type": "image_generation_call", "result": "iVBO/+"}]}),
            ("gemini", {"parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBO/+"}}]}),
            ("gemini", {"parts": [{"inline_data": {"mime_type": "image/png", "data": "iVBO_-"}}]}),
        ],
    )  # fmt: skip
    def test_may_be_an_image(self, provider, message):
        """Wherever the provider puts it; an answer of an image alone is not empty."""
        answer = as_answer(message, provider)
        assert answer.images == [PICTURE]
        assert answer.problem is None

    def test_of_a_failed_response_is_an_error(self):
        """A provider's own words for it are kept."""
        failed = {"status": "failed", "error": {"message": "The server had an error"}}
        with pytest.raises(ModelError, match="The server had an error"):
            as_answer(failed, "responses")


class TestUsage:
    numbers = st.none() | st.integers(0, 10**9)
    usages = st.builds(Usage, numbers, numbers, st.none())

    @given(usages, usages, usages)
    def test_adds_up_in_any_order(self, a, b, c):
        """What is not known is left out of the sum."""
        assert (a + b) + c == a + (b + c)
        assert a + b == b + a
        assert a + Usage() == a


class TestScriptedModel:
    def test_says_its_script(self):
        """Texts, messages and answers, one a request; then an error of its own."""
        message = {"role": "assistant", "content": "Two."}
        model = ScriptedModel(["One.", message, Answer(message, "length")])
        answers = [model.complete(HELLO) for _ in range(3)]
        assert [answer.text for answer in answers] == ["One.", "Two.", "Two."]
        assert answers[2].finish_reason == "length"
        with pytest.raises(
            ModelScriptError,
            match=r"^The script of this ScriptedModel is over: it has 3 answers, and this is request 4",
        ):
            model.complete(HELLO)

    def test_keeps_what_it_was_sent(self):
        """As it was then, with the tools in the words of its provider."""
        model, messages = (
            ScriptedModel(["Yes."], provider="anthropic"),
            [dict(HELLO[0])],
        )
        model.complete(messages, [GREP])
        messages[0]["content"] = "changed"
        ((sent, tools),) = model.requests
        assert sent == HELLO
        assert tools[0]["name"] == "grep"
        assert "input_schema" in tools[0]

    def test_raises_an_exception_of_the_script(self):
        """So that a lesson can show a network that is gone."""
        model = ScriptedModel([ModelError("The network is gone."), "Back."])
        with pytest.raises(ModelError, match="gone"):
            model.complete(HELLO)
        assert model.complete(HELLO).text == "Back."

    def test_reports_its_answer_in_chunks(self):
        """The text, then each call with its name and its arguments."""
        chunks = []
        ScriptedModel([MESSAGES["openai"]]).complete(HELLO, on_chunk=chunks.append)
        assert [(c.kind, c.name, c.index) for c in chunks] == [
            ("text", None, 0),
            ("call", "grep", 0),
            ("call", "file_editor", 1),
        ]

    def test_does_not_answer_once_it_is_stopped(self):
        """A token that is cancelled already is an error, and the script stays where it is."""
        token, model = CancelToken(), ScriptedModel(["One."])
        token.cancel()
        with pytest.raises(ModelStoppedError):
            model.complete(HELLO, cancel=token)
        assert model.complete(HELLO).text == "One."


class TestFunction:
    def test_is_a_model(self):
        """It gets copies of the messages, and the tools as OpenAI is sent them."""

        def parrot(messages, tools):
            return f"{messages[-1]['content']} {tools[0]['function']['name']}"

        model = as_model(parrot)
        assert isinstance(model, Model)
        assert (model.name, model.provider) == ("parrot", "openai")
        assert model.complete(HELLO, [GREP]).text == "Hello grep"

    def test_may_speak_another_dialect(self):
        """Then its tools and its answer are that provider's."""
        model = as_model(lambda m, t: t[0]["input_schema"]["type"], provider="anthropic")
        answer = model.complete(HELLO, [GREP])
        assert answer.message["content"] == [{"type": "text", "text": "object"}]

    @pytest.mark.filterwarnings("error")
    def test_may_be_async(self):
        """It is awaited, and what it raises comes out as it is; from any thread."""

        async def parrot(messages, tools):
            await anyio.lowlevel.checkpoint()
            return messages[-1]["content"]

        async def broken(messages, tools):
            raise ZeroDivisionError

        assert as_model(parrot).complete(HELLO).text == "Hello"
        with ThreadPoolExecutor(1) as other:
            answer = other.submit(as_model(parrot).complete, HELLO).result()
        assert answer.text == "Hello"
        with pytest.raises(ZeroDivisionError):
            as_model(broken).complete(HELLO)

    @pytest.mark.filterwarnings("error")
    def test_that_is_async_can_be_stopped(self):
        """The coroutine is cancelled."""
        token, ended = CancelToken(), threading.Event()

        async def waits(messages, tools):
            token.cancel()
            try:
                await anyio.sleep_forever()
            finally:
                ended.set()

        with pytest.raises(ModelStoppedError):
            as_model(waits).complete(HELLO, cancel=token)
        assert ended.wait(PATIENCE)

    def test_that_is_a_model_already_stays(self):
        """Converting twice changes nothing."""
        model = ScriptedModel([])
        assert as_model(model) is model

    @pytest.mark.parametrize("x", [None, 3, ScriptedModel])
    def test_that_is_none_is_a_type_error(self, x):
        """One sentence says what it is."""
        with pytest.raises(TypeError):
            as_model(x)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_text_and_images_of_a_person_are_a_message(provider):
    """A text alone, and instructions, are messages of every provider."""
    assert user_message("Hi", provider)["role"] == "user"
    assert system_message("Be kind.", provider)["role"] == "system"


class TestCopies:
    @pytest.mark.parametrize("kind", ["function", "person", "scripted"])
    def test_are_the_models_own(self, kind):
        """What it changes in a message or a tool, however deep, is changed for nobody else."""

        def change(messages, tools):
            for message in messages:
                message["content"][0]["text"] = "changed"
            for offer in tools:
                offer["function"]["name"] = "changed"
            return "Done."

        def ask(request, cancel):
            return change(request.messages, request.tools)

        scripted = ScriptedModel(["Done."])
        models = {
            "function": as_model(change),
            "person": PersonModel(ask),
            "scripted": scripted,
        }
        messages = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]
        tools = [{"type": "function", "function": {"name": "add"}}]
        assert models[kind].complete(messages, tools).text == "Done."
        if kind == "scripted":
            change(*scripted.requests[0])
        assert messages[0]["content"][0]["text"] == "Hello"
        assert tools[0]["function"]["name"] == "add"

    def test_are_not_made_again_with_each_request(self):
        """A message that stays is copied once, so a long conversation grows evenly."""
        model = ScriptedModel(["Done."] * 50)
        messages = []
        for number in range(50):
            messages.append({"role": "user", "content": str(number)})
            model.complete(messages)
        copies = {id(m) for sent, _ in model.requests for m in sent}
        assert len(copies) == 50
        messages[0]["content"] = "changed"
        assert model.requests[-1][0][0]["content"] == "0"
