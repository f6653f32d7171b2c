import json
import os
from io import StringIO
from typing import Annotated, Literal

import pytest
from pydantic import Field
from rich.console import Console
from test_llm.test_models.provider_server import KEY, provider_server, spoken

from test_agent.checks import check_answered, check_sent, of, sent
from test_agent.scripts import PROVIDERS, add, call, calls, calls_of
from toolbench import Conversation, Observation, history, tool
from toolbench.agent import (
    ActionEvent,
    Agent,
    LLMSecurityAnalyzer,
    MessageEvent,
    NoticeEvent,
    ObservationEvent,
)
from toolbench.llm.models import ScriptedModel, as_model
from toolbench.redaction import MARK

WORDS = ("user", "assistant", "tool", "function", "add", "c1", "1", "kind", "text", "a")
LONG = "TOPSECRET99"


class Heard(Observation):
    """A result with a field that a delegated task has too."""

    transcript: list[str]


def talk_with(secret, script, tools=(add,), provider="openai", **options):
    model = ScriptedModel(script, provider=provider)
    agent = Agent(model, tools, **options)
    c = Conversation(agent=agent, secrets={"S": secret})
    c.send_message("Do it.")
    return c


def shape(value, key=""):
    """What of a message no person and no model wrote."""
    if isinstance(value, dict):
        return {k: shape(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [shape(item, key) for item in value]
    is_plain = key in ("role", "type", "id", "name", "tool_call_id", "call_id")
    return value if is_plain or not isinstance(value, str) else "text"


@pytest.mark.parametrize("secret", WORDS)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_secret_that_is_a_common_word_leaves_the_protocol_alone(secret, provider):
    """What a model is sent has the same keys, roles, types, ids and names as without it."""
    script = [calls_of(provider, ("add", {"a": 1})), "Done."]
    c, plain = (talk_with(s, script, provider=provider) for s in (secret, "nowhere"))
    assert c.run() == plain.run() == "answered"
    assert shape(sent(c)) == shape(sent(plain))
    check_answered(c)
    if provider == "openai":
        check_sent(sent(c))
        [sent_call] = sent(c)[1]["tool_calls"]
        assert json.loads(sent_call["function"]["arguments"]) == {"a": 1}


@pytest.mark.every_case
@pytest.mark.parametrize("secret", [*WORDS, "agent", "openai", "answered", "id"])
def test_a_secret_that_is_a_common_word_leaves_a_saved_file_whole(secret, tmp_path):
    """All events come back as what they were, and the conversation goes on."""
    c = talk_with(secret, [calls(call("add", {"a": 1})), "Done."])
    c.run()
    c.save(tmp_path / "c.jsonl")
    again = Conversation.load(tmp_path / "c.jsonl", Agent(ScriptedModel(["More."]), [add]))
    assert [*map(type, again.events)] == [*map(type, c.events)]
    assert again.events[-1].reason == "answered"
    again.send_message("Go on.")
    assert again.run() == "answered"
    check_sent(sent(again))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_somebody_wrote_is_hidden(provider, tmp_path):
    """Texts, values of arguments, results and answers, in what is sent and in what is saved."""

    @tool(read_only=True)
    def echo(text: str, more: list[str]) -> str:
        """Say it."""
        return f"{text} {more}"

    arguments = {"text": f'"{LONG}"', "more": [LONG]}
    asked = calls_of(provider, ("echo", arguments))
    script = [asked, f"It is {LONG}.", asked, "Bye."]
    c = talk_with(LONG, script, [echo], provider, system_prompt=f"Mind {LONG}.")
    c.run()
    c.send_message(f"{LONG}?")
    c.ask()
    c.answer_pending(None, Heard(transcript=[LONG]))
    c.run()
    c.save(tmp_path / "c.jsonl")
    assert LONG not in json.dumps(c.agent.llm.requests)
    assert LONG not in (tmp_path / "c.jsonl").read_text()
    assert of(c, ActionEvent)[0].tool_call.arguments == arguments


ONLY_OF_ITS_PROVIDER = {
    "openai": {
        "role": "assistant",
        "content": "Hi.",
        "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "x", "input": "w0rd"}}],
    },
    "responses": {
        "role": "assistant",
        "output": [
            {"type": "x_call", "input": {"name": "w0rd"}, "result": "w0rd", "detail": LONG},
            {
                "type": "message",
                "content": [
                    {"type": "output_text", "text": "w0rd"},
                    {"type": "output_text", "text": "it is"},
                ],
            },
        ],
    },
    "anthropic": {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Hi."},
            {"type": "server_tool_use", "id": "s1", "name": "w", "input": {"name": "w0rd"}},
        ],
    },
    "gemini": {
        "role": "model",
        "parts": [
            {"text": "Hi."},
            {"toolCall": {"args": {"name": "w0rd"}}},
            {"toolResponse": {"response": {"result": "w0rd"}}},
        ],
    },
}


# Each case is a rule of its own. The short secret is no number and has letters that
# no identifier has: the file is full of random ones, and of times.
@pytest.mark.every_case
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("secret", ["w0rd", LONG])
def test_what_only_a_provider_knows_is_hidden(provider, secret, tmp_path):
    """The arguments of a search that it made itself, the free text of a call, a text in blocks."""
    message = json.loads(json.dumps(ONLY_OF_ITS_PROVIDER[provider]).replace("w0rd", secret))
    key = next(key for key, value in message.items() if isinstance(value, list))
    [one] = calls_of(provider, ("add", {"a": 1}))[key]
    also = message | {key: [*message[key], one]}
    c = talk_with(secret, [message, also, *["Bye."] * 3], provider=provider)
    for _ in range(3):
        c.run()
        c.send_message("Go on.")
    c.save(tmp_path / "c.jsonl")
    places = [json.dumps(c.agent.llm.requests), json.dumps(c.requests[-1].to_dict())]
    places += [(tmp_path / "c.jsonl").read_text(), c.to_html()]
    assert not [place for place in places if secret in place]


def test_what_is_told_of_a_tool_is_hidden():
    """A description may quote a secret; the names of the tool and its arguments stay."""

    @tool(read_only=True)
    def add2(a: int) -> int:
        """Add with TOPSECRET99."""
        return a

    c = talk_with(LONG, ["Done."], [add2])
    c.run()
    [offered] = c.agent.llm.requests[0][1]
    assert LONG not in json.dumps(offered)
    assert offered["function"]["name"] == "add2"
    assert "a" in offered["function"]["parameters"]["properties"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_a_schema_holds_is_hidden(provider):
    """Defaults, samples, allowed values and patterns, also of arguments called like keywords."""

    @tool(read_only=True)
    def get(
        default: dict = {"k": f"Bearer {LONG}"},  # noqa: B006 - as a user may write it
        enum: Annotated[Literal["TOPSECRET99", "b"], Field(description="Which.")] = "b",
        const: Literal["TOPSECRET99"] | None = None,
        sample: Annotated[dict, Field(examples=[{"k": [LONG]}])] = {},  # noqa: B006
        pattern: Annotated[str, Field(pattern=f"^{LONG}$")] = "",
    ) -> str:
        """Get it."""
        return f"{default} {enum} {const} {sample} {pattern}"

    c = talk_with(LONG, ["Done."], [get], provider)
    c.run()
    [offered] = c.agent.llm.requests[0][1]
    text = json.dumps(offered)
    assert LONG not in text
    function = offered.get("function", offered)
    keys = ("parameters", "input_schema")
    schema = next(function[key] for key in keys if key in function)
    names = {"default", "enum", "const", "sample", "pattern"}
    assert schema["properties"].keys() == names
    assert schema["properties"]["enum"]["enum"] == [MARK, "b"]
    assert schema["properties"]["enum"]["description"].startswith("Which.")


def test_a_secret_that_is_a_keyword_leaves_a_schema_whole():
    """Only what somebody wrote is hidden; the words of the language of schemas stay."""
    plain = talk_with("nowhere", ["Done."])
    plain.run()
    for secret in ("object", "integer", "function", "properties", "a", "type"):
        c = talk_with(secret, ["Done."])
        c.run()
        [[messages, offered], [_, other]] = (x.agent.llm.requests[0] for x in (c, plain))
        assert messages and shape(offered) == shape(other)


def test_a_model_that_rates_calls_sees_no_secret():
    """It is asked about the call with the secret hidden; the tool gets it as it is."""

    @tool(read_only=True)
    def put(text: str) -> str:
        """Put it."""
        return str(len(text))

    rater = ScriptedModel(["LOW"])
    c = talk_with(
        LONG,
        [calls(call("put", {"text": LONG})), "Done."],
        [put],
        security_analyzer=LLMSecurityAnalyzer(rater),
    )
    c.run()
    assert len(rater.requests) == 1 and LONG not in json.dumps(rater.requests)
    assert of(c, ObservationEvent)[0].observation.text == str(len(LONG))


def test_a_message_keeps_its_kind_of_content():
    """A secret that is the name of a kind of content hides nothing of it."""
    c = talk_with("text", ["Done."])
    assert c.run() == "answered"
    assert [e.text for e in of(c, MessageEvent)] == ["Do it.", "Done."]


def test_the_key_of_the_model_is_hidden(tmp_path, monkeypatch):
    """A tool that prints it gives it to nobody: no request, event, run, page or file."""
    monkeypatch.setenv("MY_KEY", KEY)

    @tool(read_only=True)
    def env() -> str:
        """Show the variables."""
        return f"MY_KEY={os.environ['MY_KEY']}"

    with provider_server() as server:
        model = as_model(f"{server.url}/v1#toy", api_key_env="MY_KEY")
        server.reply(spoken("openai", "", [("env", {})]), spoken("openai", KEY))
        c = Conversation(agent=Agent(model, [env]))
        c.send_message("Show it.")
        assert c.run() == "answered"
        c.save(tmp_path / "c.jsonl")
        places = [json.dumps(server.bodies[-1]), repr(list(c.events)), c.to_html()]
        places += [(tmp_path / "c.jsonl").read_text(), history().to_json()]
        model.close()
    assert not [place for place in places if KEY in place]
    # No tool can read it there
    assert "api_key" not in c.state.secrets


def test_a_key_that_is_there_twice_hides_its_first_value():
    """A reader of JSON takes the last one; the text has both."""
    twice = call("add", f'{{"a": "{LONG}", "a": 1}}')
    c = talk_with(LONG, [calls(twice), "Done."])
    c.run()
    assert LONG not in json.dumps(sent(c))
    check_answered(c)


def test_an_event_that_is_shown_alone_is_hidden_and_clean():
    """Arguments, texts and the failure of a callback have no secret and no terminal sequence."""

    def callback(event):
        raise ValueError(f"no {LONG}")

    title = "\x1b]0;pwn\x07"
    answer = calls(call("nothing", {"text": LONG + title}), text=title)
    model = ScriptedModel([answer, title])
    c = Conversation(agent=Agent(model, []), secrets={"S": LONG}, callbacks=[callback])
    c.send_message("Do it.")
    c.run()
    console = Console(file=StringIO(), width=200, force_terminal=True)
    for event in c.events:
        console.print(event.visualize)
    output = console.file.getvalue()
    assert LONG not in output and "\x1b]0" not in output
    assert "pwn" in output and "A callback failed" in output
    assert LONG not in "".join(e.text for e in of(c, NoticeEvent))
