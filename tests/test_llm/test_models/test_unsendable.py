"""What no request can carry, such as half a character of an odd name: the conversation goes on."""

import json
import math

import pytest

from test_llm.test_models.conftest import MODELS
from test_llm.test_models.provider_server import spoken
from toolbench import Conversation, tool
from toolbench.agent import Agent, AgentErrorEvent
from toolbench.errors import ModelError
from toolbench.llm import user_message
from toolbench.llm.models import as_model

# A byte of a name that is not UTF-8, and a character in two halves
ODD, SENT = "caf\udce9 \ud83d\ude42", "caf\ufffd \U0001f642"


@tool(read_only=True, description=f"List the files of {ODD}.")
def files() -> str:
    """List the files."""
    return f"{ODD}.txt"


def converse(model):
    """A conversation with the odd text in instructions, description, message and result."""
    conversation = Conversation(agent=Agent(model, [files], system_prompt=f"You are {ODD}."))
    conversation.send_message(f"What is in {ODD}?")
    return conversation


def test_is_sent_as_a_mark(model, server):
    """Else each further request would fail too, since the text stays in the history."""
    server.reply(spoken(model.provider, "", [("files", {})]), spoken(model.provider, "Ok."))
    conversation = converse(model)
    assert conversation.run() == "answered"
    sent = json.dumps(server.bodies[1], ensure_ascii=False)
    for text in ("You are {}.", "List the files of {}.", "What is in {}?", "{}.txt"):
        assert text.format(SENT) in sent
    assert ODD in str(conversation.events[0].content[0].text)


def test_is_not_given_to_a_function():
    """A function may send its messages with a client of its own."""
    seen = []

    def answer(messages, tools):
        seen.append(json.dumps([messages, tools], ensure_ascii=False).encode())
        return "Ok."

    assert converse(as_model(answer)).run() == "answered"
    assert f"What is in {SENT}?".encode() in seen[0]


@pytest.mark.parametrize("kind", ["an address", "openai", "openai, async", "anthropic"])
def test_what_cannot_be_written_is_not_said_of_the_answer(kind, server):
    """Nothing was sent: the sentence is about the request."""
    model = MODELS[kind][1](server.url)
    model._options = {"temperature": math.nan}
    with pytest.raises(ModelError, match=r"The request to .* cannot be written as JSON"):
        model.complete([user_message("Hello", model.provider)])
    assert server.bodies == []


@pytest.mark.parametrize("arguments", [{"n": math.nan}, '{"n": 1e999}'])
def test_a_number_that_no_request_can_carry_is_no_argument(model, arguments, server):
    """What a model sends is sent back with each request: NaN would end the conversation for good."""

    @tool(read_only=True)
    def double(n: float) -> float:
        """Double a number."""
        return 2 * n

    if model.provider == "gemini" and isinstance(arguments, str):
        pytest.skip("its arguments are no text")
    calls = [("double", arguments)]
    server.reply(spoken(model.provider, "", calls), spoken(model.provider, "Ok."))
    conversation = Conversation(agent=Agent(model, [double]))
    conversation.send_message("Double it.")
    assert conversation.run() == "answered"
    [error] = [event for event in conversation.events if isinstance(event, AgentErrorEvent)]
    assert "was not run" in error.error
