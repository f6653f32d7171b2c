"""Secrets that are known by their places alone are in no recording: short texts, and numbers."""

import pytest

from toolbench import current_run
from toolbench.mcp import create_mcp_tools
from toolbench.testing import FakeMCPServer

FORM = {
    "type": "object",
    "properties": {
        "password": {"type": "string"},
        "code": {"type": "integer", "format": "password"},
        "city": {"type": "string"},
    },
}


def shop(era):
    """A server that asks for secrets, and offers a prompt that is given one."""
    server = FakeMCPServer("n", era=era)

    @server.tool
    def log_in() -> str:
        """Log in."""
        answer = current_run().ask("Who are you?", FORM)
        return f"from {answer.content['city']}"

    server.prompt("greet", "Hello {who}.", arguments=["who", "api_key"])
    return server


def filled_in(question):
    """The form, with secrets too short to be looked for elsewhere."""
    return {"password": "x7z", "code": 9192939, "city": "Ulm"}


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_answers_to_questions_are_hidden(path, era):
    """What a form calls secret is a mark in the file; the replay answers by it all the same."""
    for source in (
        {"config": {"n": shop(era)}, "record": path},
        {"replay": path},
    ):
        with create_mcp_tools(**source, elicitation_handler=filled_in) as client:
            assert client["log_in"]({}).text == "from Ulm"
    with create_mcp_tools(replay=path) as client:
        assert client["log_in"]({}).text == "from Ulm"
    text = path.read_text()
    assert "x7z" not in text
    assert "9192939" not in text
    assert '"city":"Ulm"' in text


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_each_answer_belongs_to_its_form(path, era):
    """Forms that are asked for one after the other hide each what it calls secret."""
    server = FakeMCPServer("n", era=era)

    @server.tool
    def log_in() -> str:
        """Log in."""
        for name in ("town", "password"):
            form = {"type": "object", "properties": {name: {"type": "string"}}}
            current_run().ask(f"Your {name}?", form)
        return "ok"

    def answer(question):
        return dict.fromkeys(question.schema["properties"], "x7z")

    with create_mcp_tools({"n": server}, record=path, elicitation_handler=answer) as client:
        assert client["log_in"]({}).text == "ok"
    assert '"town":"x7z"' in path.read_text()
    assert '"password":"x7z"' not in path.read_text()


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_arguments_of_prompts_are_hidden(path, era):
    """An argument of a prompt that is named as a secret is one, however short it is."""
    with create_mcp_tools({"n": shop(era)}, record=path) as client:
        session = client.servers["n"]
        text = session.get_prompt("greet", who="Ada", api_key="x7z").text
    assert "x7z" not in path.read_text()
    assert '"who":"Ada"' in path.read_text()
    with create_mcp_tools(replay=path) as client:
        session = client.servers["n"]
        assert session.get_prompt("greet", who="Ada", api_key="other").text == text
