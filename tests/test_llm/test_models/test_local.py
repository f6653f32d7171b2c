"""A model in a file: the real weights of SmolLM2, in a real process of llama.cpp."""

import json
import os
import signal
import subprocess
import sys

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE, eventually

from test_llm.samples import GREP, taking
from toolbench.errors import MissingExtraError, ModelError, ModelStoppedError
from toolbench.llm import parse_tool_calls, respond_all, to_openai
from toolbench.llm.models import CancelToken, Chunk, LocalModel
from toolbench.llm.models.local_prompt import (
    Written,
    answer_schema,
    local_messages,
    written_message,
)

WEATHER = taking({"city": {"type": "string"}}, "city").model_copy(
    update={"name": "get_weather", "description": "Tell the weather of a city."}
)
QUESTION = [{"role": "user", "content": "What is the weather in Paris?"}]
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.fixture(scope="module")
def smollm():
    """The small model, loaded once."""
    model = LocalModel(options={"max_tokens": 40})
    yield model
    model.close()


@pytest.fixture(scope="module")
def called(smollm):
    """What it answers where there is a tool."""
    return smollm.complete(QUESTION, [WEATHER])


class TestSmolLM:
    def test_says_something(self, smollm):
        """Without tools: text as it comes, with what it took."""
        chunks = []
        messages = [{"role": "user", "content": "Say hello."}]
        answer = smollm.complete(messages, on_chunk=chunks.append)
        assert answer.text
        assert "".join(chunk.text for chunk in chunks) == answer.text
        assert answer.usage.input_tokens > 0
        assert answer.usage.output_tokens > 0
        assert answer.model == smollm.name

    def test_makes_calls_that_can_be_read(self, called):
        """The grammar lets through a call that fits its tool, or an answer, and nothing else."""
        (call,) = parse_tool_calls(called.message, [WEATHER])
        assert call.error is None
        assert list(call.arguments) == ["city"]
        assert call.id
        assert called.finish_reason == "tool_calls"

    def test_goes_on_after_a_call(self, smollm, called):
        """What the tool returned is part of what it is sent next."""
        (call,) = parse_tool_calls(called.message, [WEATHER])
        messages = [*QUESTION, called.message, *respond_all([(call, _sunny())])]
        sent = smollm.sent(messages, [WEATHER])
        assert [turn["role"] for turn in sent] == [
            "system",
            "user",
            "assistant",
            "user",
        ]
        assert "sunny" in sent[-1]["content"]
        assert smollm.complete(messages, [WEATHER]).message

    def test_answers_the_same_twice(self, smollm, called):
        """The same seed, the same words."""
        assert smollm.complete(QUESTION, [WEATHER]).message == called.message

    def test_stops(self, smollm):
        """In the middle of an answer, with what had come; the model answers on."""
        token = CancelToken()
        messages = [{"role": "user", "content": "Tell me a long story."}]
        with pytest.raises(ModelStoppedError) as raised:
            smollm.complete(messages, on_chunk=lambda _: token.cancel(), cancel=token)
        assert raised.value.answer is not None
        assert smollm.complete(messages).text

    @pytest.mark.slow
    def test_survives_its_process(self, smollm):
        """Which may end in the middle of an answer, without memory: one sentence, then it is loaded anew."""

        def kill(_):
            os.kill(smollm._server[0]._process.pid, signal.SIGKILL)

        messages = [{"role": "user", "content": "Tell me a long story."}]
        with pytest.raises(ModelError, match=r"SIGKILL.*Ask again"):
            smollm.complete(messages, on_chunk=kill)
        assert smollm.complete([{"role": "user", "content": "Hi"}]).text


def _sunny():
    from toolbench import Observation

    return Observation.from_text("21 degrees and sunny")


class TestFiles:
    @pytest.mark.parametrize("data", [b"", b"no model", b"<html>"])
    def test_that_are_no_model(self, tmp_path, data):
        """Known before a process is started for them."""
        path = tmp_path / "bad.gguf"
        path.write_bytes(data)
        with pytest.raises(ModelError, match=r"bad\.gguf is not a GGUF file"):
            LocalModel(path)

    def test_that_are_not_there(self, tmp_path):
        """One sentence, with the path."""
        with pytest.raises(ModelError, match="cannot be read: No such file"):
            LocalModel(tmp_path / "none.gguf")

    @pytest.mark.parametrize("kind", ["cut off", "noise"])
    def test_that_are_broken_end_no_kernel(self, tmp_path, smollm, kind):
        """llama.cpp refuses it, or falls over: one sentence, and this process goes on."""
        path = tmp_path / "broken.gguf"
        with smollm._settings.path.open("rb") as whole:
            head = whole.read(3_000_000 if kind == "cut off" else 16)
        path.write_bytes(head if kind == "cut off" else head + b"\xff" * 10_000)
        with pytest.raises(ModelError, match=r"broken\.gguf could not be loaded") as raised:
            LocalModel(path).complete(QUESTION)
        assert "\n" not in str(raised.value)

    def test_without_llama(self, monkeypatch):
        """The hint says what to install."""
        monkeypatch.setattr("toolbench.llm.models.local.find_spec", lambda _: None)
        with pytest.raises(MissingExtraError, match=r"jupyter-toolbench\[local\]"):
            LocalModel()


class TestProcess:
    def test_ends_with_the_program(self):
        """However that ends: here it is killed, while a fork of it keeps the pipe to llama.cpp open."""
        code = (
            "import os, signal, time\nfrom toolbench.llm.models import LocalModel\n"
            "m = LocalModel(options={'max_tokens': 2})\n"
            "m.complete([{'role': 'user', 'content': 'Hi'}])\n"
            "fork = os.fork()\n"
            "if fork == 0:\n    os.close(1); os.close(2); time.sleep(600)\n"
            "print(fork, m._server[0]._process.pid, flush=True)\n"
            "os.kill(os.getpid(), signal.SIGKILL)"
        )
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        fork, pid = map(int, done.stdout.split())
        try:
            eventually(lambda: not psutil.pid_exists(pid), what="the end of llama.cpp")
        finally:
            os.kill(fork, signal.SIGKILL)

    def test_can_be_stopped_while_it_loads(self):
        """Nobody waits for a large file that nobody wants any more."""
        token = CancelToken()
        token.cancel()
        with pytest.raises(ModelStoppedError, match="while it was loaded"):
            LocalModel().complete(QUESTION, cancel=token)

    def test_takes_requests_with_its_key_only(self, smollm):
        """Another program of this machine cannot ask it."""
        import httpx2

        smollm.complete(QUESTION)
        url = f"{smollm._server[0].address}/v1/chat/completions"
        response = httpx2.post(url, json={"messages": QUESTION}, timeout=PATIENCE)
        assert response.status_code == 401
        assert smollm._server[0].key not in repr(vars(smollm))


class TestWritten:
    @given(texts, st.integers(1, 9))
    def test_text_comes_as_it_is_written(self, text, size):
        """However it is cut into pieces: what is passed on is the text of the answer."""
        raw, chunks = json.dumps({"answer": text}), []
        written = Written(chunks.append)
        for at in range(0, len(raw), size):
            written.add(Chunk("text", raw[at : at + size]))
        assert "".join(chunk.text for chunk in chunks) == text
        assert written_message(raw)["content"] == text

    @given(st.dictionaries(texts, texts | st.integers(), max_size=3), texts)
    def test_a_call_is_a_call(self, arguments, name):
        """With the name and the arguments that were written."""
        raw = json.dumps({"name": name, "arguments": arguments}, indent=2)
        (call,) = written_message(raw)["tool_calls"]
        assert call["function"]["name"] == name
        assert json.loads(call["function"]["arguments"]) == arguments

    @given(st.integers(0, 60))
    def test_what_is_cut_off_is_never_lost(self, end):
        """An answer keeps its beginning; a call is one that cannot be read, or text."""
        raw = '{"name": "grep", "arguments": {"pattern": "a long pattern"}}'
        message = written_message(raw[:end])
        calls = parse_tool_calls(message, [GREP], provider="openai")
        assert calls or message["content"] == raw[:end]
        whole = {"pattern": "a long pattern"}
        assert not calls or calls[0].error or calls[0].arguments == whole


class TestPrompt:
    def test_turns_alternate(self):
        """As every chat template wants it: instructions once, then turn about."""
        tools = [to_openai(GREP)]
        call = {
            "id": "a",
            "function": {"name": "grep", "arguments": '{"pattern": "x"}'},
        }
        messages = [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": "Look"}]},
            {"role": "assistant", "content": None, "tool_calls": [call, call]},
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "tool", "tool_call_id": "a", "content": "two"},
            {"role": "user", "content": [{"type": "image_url", "image_url": {}}]},
        ]
        turns = local_messages(messages, tools)
        assert [t["role"] for t in turns] == ["system", "user", "assistant", "user"]
        assert "Be kind." in turns[0]["content"]
        assert '"grep"' in turns[0]["content"]
        assert turns[2]["content"].count('"arguments": {"pattern": "x"}') == 2
        assert all(word in turns[3]["content"] for word in ("one", "two", "an image"))

    def test_schema_has_no_references(self):
        """A grammar has no room for definitions: they are put in place, recursion is left open."""
        node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
        first = {"type": "object", "properties": {"first": {"$ref": "#/$defs/Node"}}}
        schema = {**first, "$defs": {"Node": node}}
        offer = {"function": {"name": "x", "parameters": schema}}
        assert "$ref" not in json.dumps(answer_schema([offer]))

    def test_schema_knows_what_allof_and_references_lead_to(self):
        """The grammar holds the model to what the one reader of schemas finds there."""
        level = {"$ref": "#/$defs/Level", "description": "How loud."}
        count = {"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 3}]}
        schema = {
            "type": "object",
            "properties": {
                "level": level,
                "count": count,
                "note": {"type": ["string", "null"]},
            },
            "$defs": {"Level": {"enum": ["low", "high"]}},
        }
        offer = {"function": {"name": "x", "parameters": schema}}
        arguments = answer_schema([offer])["anyOf"][0]["properties"]["arguments"]
        assert arguments["properties"] == {
            "level": {"enum": ["low", "high"]},
            "count": {"type": "integer", "minimum": 3},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        }
