"""All a server may ask, in both eras: forms, pages, messages of a model, roots."""

from typing import Annotated

import pytest
from mcp.server.mcpserver import Context, MCPServer, Resolve
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Sample
from mcp_types import CreateMessageResult, ListRootsResult, SamplingMessage, TextContent
from patience import PATIENCE
from pydantic import BaseModel

from test_mcp.peers import misbehaving
from test_mcp.servers.good import mcp as good
from toolbench.mcp import MCPClient
from toolbench.mcp.elicitation import (
    Answer,
    FormQuestion,
    SamplingQuestion,
    UrlQuestion,
    answering,
)


class Name(BaseModel):
    name: str


class Age(BaseModel):
    age: int


def curious():
    """A server that asks before it answers, as its protocol has it."""
    server = MCPServer("curious")

    def name():
        return Elicit("What is your name?", Name)

    def age(who: Annotated[Name, Resolve(name)]):
        return Elicit(f"How old are you, {who.name}?", Age)

    def poem():
        text = TextContent(type="text", text="A poem, please.")
        return Sample([SamplingMessage(role="user", content=text)], max_tokens=9)

    def roots():
        return ListRoots()

    @server.tool()
    def greet(who: Annotated[Name, Resolve(name)], years: Annotated[Age, Resolve(age)]) -> str:
        return f"{who.name} is {years.age}"

    @server.tool()
    def recite(reply: Annotated[CreateMessageResult, Resolve(poem)]) -> str:
        return reply.content.text

    @server.tool()
    def where(result: Annotated[ListRootsResult, Resolve(roots)]) -> str:
        return ", ".join(str(root.uri) for root in result.roots)

    @server.tool()
    async def visit(ctx: Context) -> str:
        answer = await ctx.elicit_url("Sign in.", "https://x/authorize", "e1")
        return answer.action

    return server


@pytest.fixture(params=["auto", "legacy"])
def server(request):
    """The curious server in both eras."""
    with MCPClient(timeout=PATIENCE, roots=["file:///work"]) as client:
        yield client.connect("curious", curious(), mode=request.param)


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
class TestQuestions:
    def test_come_in_rounds(self, server):
        """One call may ask again after an answer; the rounds are counted."""
        questions = []

        def answer(question):
            questions.append((question.round, question.message))
            return {"name": "Ann"} if "name" in question.message else {"age": 7}

        with answering(answer):
            assert server.tool("greet")({}).text == "Ann is 7"
        assert questions == [(1, "What is your name?"), (2, "How old are you, Ann?")]

    def test_may_be_refused(self, server):
        """A decline ends the call with an error of the server's, and no exception."""
        with answering(lambda question: Answer("decline")):
            assert server.tool("greet")({}).is_error

    def test_for_a_message_are_answered_by_a_person_or_a_model(self, server):
        """The answer is a text, or a whole message."""

        def answer(question):
            assert isinstance(question, SamplingQuestion)
            assert question.params["maxTokens"] == 9
            return "Roses are red."

        whole = {
            "role": "assistant",
            "model": "m",
            "content": {"type": "text", "text": "Violets."},
        }
        with answering(answer):
            assert server.tool("recite")({}).text == "Roses are red."
        with answering(lambda question: whole):
            assert server.tool("recite")({}).text == "Violets."

    @pytest.mark.parametrize("end", ["close", "reconnect"])
    def test_during_which_the_user_disconnects_say_so(self, server, end):
        """The answer cannot be sent any more: the call says why, in a sentence of ours."""

        def answer(question):
            getattr(server, end)()
            return {"name": "Ann"}

        with answering(answer):
            observation = server.tool("greet")({})
        assert observation.is_error
        assert "Server 'curious' was disconnected here during the call" in observation.text

    def test_for_roots_are_answered_by_the_client(self, server):
        """What the client was made with is told, without asking anybody."""
        assert server.tool("where")({}).text == "file:///work"


class TestTheOlderWay:
    def test_of_asking_says_how_to_reconnect(self, client):
        """A server that asks by requests of its own, connected in the newer protocol, says how."""
        session = client.connect("curious", curious())
        observation = session.tool("visit")({})
        assert observation.is_error
        assert observation.warnings == [
            "This server needs the older protocol to ask: run `%mcp reconnect curious --mode legacy`, "
            "or add --mode legacy in a shell."
        ]
        session.reconnect("legacy")
        with answering(lambda question: Answer("accept")):
            assert session.tool("visit")({}).text == "accept"

    def test_of_fastmcp_is_known_too(self, client):
        """`ctx.elicit` of FastMCP fails in words of its own."""
        session = client.connect("good", {"server": good})
        observation = session.tool("ask")({})
        assert "--mode legacy" in observation.warnings[0]
        assert "--mode legacy" not in str(observation.to_llm_content)


class TestForms:
    def test_for_a_visit_show_the_page(self, client):
        """A URL is put to the person as it is, and who accepts has been there."""
        session = client.connect("curious", curious(), mode="legacy")

        def answer(question):
            assert isinstance(question, UrlQuestion)
            assert question.url == "https://x/authorize"
            return Answer("accept")

        with answering(answer):
            assert session.tool("visit")({}).text == "accept"

    def test_beyond_the_protocol_are_asked_all_the_same(self, client):
        """A nested schema reaches the person: forms can do more than the protocol asks."""
        session = client.connect("calls", misbehaving("calls"))

        def answer(question):
            assert isinstance(question, FormQuestion)
            assert "deep" in question.schema["properties"]
            return {"deep": "answered"}

        with answering(answer):
            assert '"action": "accept"' in session.tool("ask_bad_form")({}).text

    def test_without_end_end_with_a_no(self, client):
        """Somebody who has had enough cancels: the server stops asking."""
        session = client.connect("calls", misbehaving("calls"))

        def answer(question):
            return {} if question.round < 5 else Answer("cancel")

        with answering(answer):
            assert "stopped at question 4" in session.tool("ask_forever")({}).text
