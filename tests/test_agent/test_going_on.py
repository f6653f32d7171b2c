"""What a conversation says of itself, and how it goes on after a model that would not."""

import json
from dataclasses import replace

import pytest
from pydantic import TypeAdapter
from test_llm.samples import sdk

from test_agent.checks import check_answered, check_sent, of, sent
from test_agent.scripts import PROVIDERS, add, call, calls, calls_of, talk
from toolbench import Conversation, ImageContent, TextContent, tool
from toolbench.agent import (
    ActionEvent,
    Agent,
    MessageEvent,
    NoticeEvent,
    ObservationEvent,
    StopEvent,
)
from toolbench.errors import ModelError
from toolbench.llm.compose import model_message
from toolbench.llm.models import Answer, ScriptedModel, Usage, as_model
from toolbench.llm.models.model import Chunk
from toolbench.llm.wire import WIRES

PICTURE = "data:image/png;base64,iVBORw0KGgo="
LEFT_OUT = "an image was left out"


def refusal(words, status=None):
    error = ModelError(words)
    error.status = status
    return error


def paid(message, cost=0.3):
    return Answer(message, None, Usage(100, 10, cost))


@tool(read_only=True)
def look() -> ImageContent:
    """Look."""
    return ImageContent(image_urls=[PICTURE])


class TestAStepByHand:
    def test_that_meets_the_limit_of_cost_says_so(self):
        """It asks nothing, and the event says why, once."""
        c = talk([paid(calls(call("add", {"a": 1})), 2.0), "more"], max_cost=1.0)
        c.step()
        [stop] = c.step()
        assert stop.reason == "max_cost" and "dollars" in stop.detail
        assert c.step() == [] and c.ask() == []
        assert len(c.agent.llm.requests) == 1

    def test_that_was_paused_says_so(self):
        """The pause holds once."""
        c = talk([calls(call("add", {"a": 1}))])
        c.pause()
        assert [event.reason for event in c.step()] == ["paused"]
        c.step()
        check_answered(c)
        assert of(c, ActionEvent)

    def test_when_the_task_is_over_says_so(self):
        """Nothing is asked after the answer."""
        c = talk(["Done."])
        c.step()
        assert [event.reason for event in c.step()] == ["answered"]
        assert c.run() == "answered" and len(of(c, StopEvent)) == 1


class Busy(ScriptedModel):
    """Says before each answer that the request is sent again."""

    def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
        on_chunk(Chunk("retry", "The server asks to wait; once more in 2 s."))
        return super().complete(messages, tools, on_chunk=on_chunk, cancel=cancel)


def test_a_request_that_is_sent_again_is_an_event():
    """A person who runs it outside of a panel sees it too."""
    c = talk(Busy(["Done."]))
    assert c.run() == "answered"
    [notice] = of(c, NoticeEvent)
    assert "once more in 2 s" in notice.text
    assert "once more in 2 s" in c.to_html()


PICTURES = {
    "openai": {"role": "assistant", "images": [{"image_url": {"url": PICTURE}}]},
    "gemini": {
        "role": "model",
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}],
    },
    "responses": {
        "role": "assistant",
        "output": [{"type": "image_generation_call", "result": "iVBORw0KGgo="}],
    },
    "parts": {
        "role": "assistant",
        "content": [{"type": "image_url", "image_url": {"url": PICTURE}}],
    },
}


class TestImagesOfTheModel:
    @pytest.mark.parametrize("provider", PICTURES)
    def test_alone_are_an_answer(self, provider, tmp_path):
        """The image is in the event, on the page and in the file; the talk goes on."""
        dialect = provider if provider in PROVIDERS else "openai"
        script = [PICTURES[provider], "It is red."]
        c = talk(ScriptedModel(script, provider=dialect))
        assert c.run() == "answered"
        message = of(c, MessageEvent)[-1]
        assert [block.image_urls for block in message.content] == [[PICTURE]]
        assert PICTURE in c.to_html()
        c.save(tmp_path / "talk.jsonl")
        other = Agent(ScriptedModel(["It is red."]))
        again = Conversation.load(tmp_path / "talk.jsonl", agent=other)
        assert [*again.events[1].content] == [*message.content]
        for conversation in (c, again):
            conversation.send_message("What colour?")
            assert conversation.run() == "answered"
        assert all(m.get("content") != "" for m in sent(again))

    @pytest.mark.parametrize("other", PROVIDERS)
    @pytest.mark.parametrize("provider", PICTURES)
    def test_go_to_the_model_of_another_provider(self, provider, other, tmp_path):
        """Beside a call and alone; where a model's message may hold none, as the user's, after the result."""
        dialect = provider if provider in PROVIDERS else "openai"
        wire = WIRES[dialect]
        shown, called = (
            wire.read(PICTURES[provider]),
            wire.read(calls_of(dialect, ("add", {"a": 1}))),
        )
        [both] = wire.write(replace(shown, parts=shown.parts + called.parts))
        c = talk(ScriptedModel([both, PICTURES[provider]], provider=dialect))
        assert c.run() == "answered"
        c.save(tmp_path / "talk.jsonl")
        model = ScriptedModel(["It is red."], provider=other)
        again = Conversation.load(tmp_path / "talk.jsonl", agent=Agent(model, [add]))
        again.send_message("What colour?")
        assert again.run() == "answered"
        assert "It is red." in again.to_html()
        wire = WIRES[other]
        body = wire.request("m", [wire.read(message) for message in sent(again)], [], {})
        kind, turns = typed(other, body)
        TypeAdapter(kind).validate_python(turns)
        whole = json.dumps(body)
        assert whole.count("iVBORw0KGgo=") == 2
        of_model = json.dumps([t for t in turns if t.get("role") in ("assistant", "model")])
        if other != "gemini":
            assert "iVBORw0KGgo=" not in of_model
        if other == "openai":
            check_sent(turns)
        assert whole.index('"2"') < whole.rindex("iVBORw0KGgo=")


def typed(provider, body):
    """The type of the messages of a request, as the package of *provider* has it, and the messages."""
    match provider:
        case "openai":
            return list[sdk("openai.types.chat").ChatCompletionMessageParam], body["messages"]
        case "responses":
            # The API takes what a model said without an id, which the package asks for
            said = ("message", "image_generation_call")
            kind = list[sdk("openai.types.responses").ResponseInputItemParam]
            return kind, [item for item in body["input"] if item.get("type") not in said]
        case "anthropic":
            return list[sdk("anthropic.types").MessageParam], body["messages"]
    return list[sdk("google.genai.types").Content], body["contents"]


class TestImagesThatAModelDoesNotTake:
    @pytest.mark.parametrize("provider", PROVIDERS)
    @pytest.mark.parametrize(
        "error",
        [
            refusal("refused the request (400)", 400),
            refusal("failed (500): image input is not supported", 500),
        ],
        ids=["status", "words"],
    )
    def test_are_left_out_of_the_next_request(self, provider, error):
        """One request fails; the next one has words in the place of the image."""
        c = Conversation(agent=Agent(ScriptedModel([error, "A cat."], provider=provider)))
        image = ImageContent(image_urls=[PICTURE])
        c.send_message([TextContent(text="What is it?"), image])
        assert c.run() == "error"
        assert "1 image" in of(c, NoticeEvent)[-1].text
        assert c.run() == "answered"
        assert "iVBORw0KGgo" in str(sent(c, 0)) and LEFT_OUT not in str(sent(c, 0))
        assert "iVBORw0KGgo" not in str(sent(c)) and LEFT_OUT in str(sent(c))

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_nor_those_of_a_tool(self, provider):
        """What a tool returned is left out too; its call stays answered."""
        error = refusal("refused the request (400)", 400)
        script = [calls_of(provider, ("look", {})), error, "A cat."]
        c = talk(ScriptedModel(script, provider=provider), [look])
        assert c.run() == "error"
        assert c.run() == "answered"
        assert "iVBORw0KGgo" not in str(sent(c)) and LEFT_OUT in str(sent(c))
        check_answered(c)

    def test_stay_left_out_once_saved_or_forked(self, tmp_path):
        """Who goes on with it is not refused again."""
        error = refusal("refused the request (400)", 400)
        c = Conversation(agent=Agent(ScriptedModel([error, *["Nothing."] * 3])))
        c.send_message([TextContent(text="What?"), ImageContent(image_urls=[PICTURE])])
        c.run(), c.run()
        c.save(tmp_path / "talk.jsonl")
        for other in (c.fork(), Conversation.load(tmp_path / "talk.jsonl", c.agent)):
            other.send_message("And now?")
            assert other.run() == "answered"
            assert PICTURE not in str(sent(c)) and LEFT_OUT in str(sent(c))
            blocks = [block for e in of(other, MessageEvent) for block in e.content]
            assert ImageContent(image_urls=[PICTURE]) in blocks

    def test_are_all_left_out_for_another_model(self, tmp_path):
        """The model of a loaded conversation took none of its images."""
        c = Conversation(agent=Agent(ScriptedModel(["A cat.", "Yes."])))
        c.send_message([ImageContent(image_urls=[PICTURE])])
        c.run()
        c.save(tmp_path / "talk.jsonl")
        error = refusal("failed (500): image input is not supported", 500)
        agent = Agent(ScriptedModel([error, "Red."]))
        other = Conversation.load(tmp_path / "talk.jsonl", agent)
        other.send_message("Is it red?")
        assert other.run() == "error"
        assert other.run() == "answered"
        assert PICTURE not in str(sent(other)) and LEFT_OUT in str(sent(other))

    def test_stay_where_the_model_took_them(self):
        """What it answered to once is no reason for a refusal."""
        error = refusal("refused the request (400)", 400)
        c = Conversation(agent=Agent(ScriptedModel(["A cat.", error, "Yes."])))
        c.send_message([ImageContent(image_urls=[PICTURE])])
        c.run()
        c.send_message("Is it red?")
        assert c.run() == "error" and not of(c, NoticeEvent)
        assert c.run() == "answered"
        assert PICTURE in str(sent(c))

    def test_stay_where_something_else_failed(self):
        """A network that is gone says nothing of images."""
        c = Conversation(agent=Agent(ScriptedModel([ModelError("It is gone."), "A cat."])))
        c.send_message([ImageContent(image_urls=[PICTURE])])
        assert c.run() == "error"
        assert c.run() == "answered"
        assert PICTURE in str(sent(c))


def test_a_call_written_as_text_is_answered_as_text():
    """A function that answers for a model is sent no result to a call that it never sent."""
    requests = []

    def model(messages, tools):
        requests.append(messages)
        return '{"name": "add", "arguments": {"a": 1}}' if len(requests) == 1 else "2."

    c = talk(as_model(model, written_calls=True), [add])
    assert c.run() == "answered"
    assert [m["role"] for m in requests[-1]] == ["user", "assistant", "user"]
    assert "<tool_response>\n2\n</tool_response>" in requests[-1][-1]["content"]
    check_sent(requests[-1])
    assert of(c, ObservationEvent)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_image_that_a_written_call_returned_is_sent(provider):
    """Beside the text that answers the call, in the user's message."""
    call = '<tool_call>{"name": "look", "arguments": {}}</tool_call>'
    model = ScriptedModel([call, "A cat."], provider=provider)
    model.written_calls = True
    c = talk(model, [look])
    assert c.run() == "answered"
    assert "tool_response" in str(sent(c)[-1]) and "iVBORw0KGgo" in str(sent(c)[-1])


class Plain(ScriptedModel):
    """A user's own model, which makes its answers by hand."""

    def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
        return Answer(super().complete(messages, tools).message)


SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"server_tool": 1}}


def keys_of(value):
    """All keys in the JSON *value*."""
    found = set()
    json.loads(json.dumps(value), object_pairs_hook=lambda pairs: found.update(dict(pairs)))
    return found


@pytest.mark.parametrize(
    ("provider", "more"), [*((name, []) for name in PROVIDERS), ("anthropic", [SEARCH])]
)
@pytest.mark.parametrize("kind", [Plain, ScriptedModel])
def test_an_answer_of_only_text_is_sent_again_as_it_was(provider, more, kind, tmp_path):
    """It looks like a message of any provider, and has what only its own knows, and others refuse."""
    [item] = model_message("Hi.", provider="responses")["output"]
    message = {
        "openai": {"role": "assistant", "content": "Hi.", "annotations": [{"url": "x"}]},
        "responses": {"role": "assistant", "output": [{**item, "id": "m1"}]},
        "anthropic": {
            "role": "assistant",
            "content": [{"type": "text", "text": "Hi.", "citations": [{"cited_text": "x"}]}, *more],
        },
        "gemini": {"role": "model", "parts": [{"text": "Hi.", "thoughtSignature": "c2ln"}]},
    }[provider]
    c = talk(kind([Answer(message), "Bye."], provider=provider))
    c.run()
    c.send_message("Go on.")
    assert c.run() == "answered"
    assert sent(c)[-2] == message == of(c, MessageEvent)[1].message
    c.save(tmp_path / "talk.jsonl")
    for other in PROVIDERS:
        agent = Agent(ScriptedModel([], provider=other))
        loaded = Conversation.load(tmp_path / "talk.jsonl", agent)
        said = loaded.next_request.messages[1]
        own = {"url", "cited_text", "server_tool"}
        assert said == message if other == provider else not own & keys_of(said)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_conversation_with_gemini_goes_on_with_another_provider(provider, tmp_path):
    """Gemini's calls have no ids; others refuse a call without a result of its id, or without a name."""
    script = [calls_of("gemini", ("add", {"a": 1}), ("add", {"a": 1}), ("add", {})), "Twice."]
    for part in script[0]["parts"]:
        part["functionCall"].pop("id", None)
    script[0]["parts"][2]["functionCall"]["name"] = " "
    script[0]["parts"].insert(0, {"text": "I add."})
    c = talk(ScriptedModel(script, provider="gemini"))
    c.run()
    c.save(tmp_path / "talk.jsonl")
    other = Agent(ScriptedModel(["More."], provider=provider), [add])
    loaded = Conversation.load(tmp_path / "talk.jsonl", agent=other)
    loaded.send_message("Go on.")
    assert loaded.run() == "answered"
    check_answered(loaded)
    assert "tool_response" not in str(sent(loaded))
    assert "I add." in str(sent(loaded))
    if provider == "openai":
        check_sent(sent(loaded))
    # Gemini gets back the calls that it sent, so their results have no ids either
    loaded.save(tmp_path / "talk.jsonl", overwrite=True)
    back = Conversation.load(
        tmp_path / "talk.jsonl", Agent(ScriptedModel([], provider="gemini"), [add])
    )
    assert "'id'" not in str(back.next_request.messages)


class TestAFork:
    def script(self):
        return [
            *(paid(calls(call("add", {"a": n}, id=f"i{n}"))) for n in range(4)),
            "No.",
        ]

    def test_has_spent_what_led_to_it(self, tmp_path):
        """From the end all of it, from an earlier step what was spent by then; also once loaded."""
        c = talk(self.script())
        c.step(), c.step(), c.step()
        c.save(tmp_path / "talk.jsonl")
        loaded = Conversation.load(tmp_path / "talk.jsonl", agent=c.agent)
        for origin in (c, loaded):
            second = of(origin, ActionEvent)[1]
            assert origin.fork().usage == origin.usage == Usage(300, 30, pytest.approx(0.9))
            assert origin.fork(second).usage == Usage(200, 20, pytest.approx(0.6))
            assert origin.fork(1).usage == Usage()

    def test_is_stopped_by_the_limit_of_both(self):
        """Forking is no way around max_cost; the conversation it is of spends nothing for it."""
        c = talk(self.script(), max_cost=0.7)
        c.step(), c.step()
        fork = c.fork()
        assert fork.run() == "max_cost"
        assert len(of(fork, ActionEvent)) == 3
        assert c.usage.cost == pytest.approx(0.6)
