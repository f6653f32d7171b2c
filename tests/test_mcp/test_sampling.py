"""Sampling with tools: what a server asks of a model, in both eras and both ways."""

from typing import Annotated

import pytest
from mcp.server.mcpserver import Context, MCPServer, Resolve
from mcp.server.mcpserver.resolve import Sample
from mcp_types import (
    CreateMessageResultWithTools,
    SamplingMessage,
    TextContent,
    Tool,
    ToolChoice,
    ToolResultContent,
    ToolUseContent,
)

from toolbench.mcp import create_mcp_tools
from toolbench.mcp.elicitation import SamplingQuestion, answering, for_person
from toolbench.runs.questions import answering as in_advance

WEATHER = Tool(
    name="weather",
    description="The weather of a city.",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
)
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


def user(*content):
    """A message of the user."""
    return SamplingMessage(role="user", content=list(content))


def text(words):
    """A block of text."""
    return TextContent(type="text", text=words)


ASK = user(text("How is it in Oslo?"))


def calls_in(reply):
    """The calls of a reply, as one line."""
    blocks = reply.content if isinstance(reply.content, list) else [reply.content]
    calls = [b for b in blocks if isinstance(b, ToolUseContent)]
    return ", ".join(f"{c.name} {c.input} {c.id}" for c in calls) + (
        f" ({reply.stop_reason})" if calls else blocks[0].text
    )


def guide():
    """A server that lets a model call a tool of its own, as each protocol has it."""
    server = MCPServer("guide", log_level="ERROR")

    def sampled(choice):
        def ask():
            mode = ToolChoice(mode=choice)
            return Sample([ASK], max_tokens=9, tools=[WEATHER], tool_choice=mode)

        return ask

    def after():
        use = ToolUseContent(name="weather", id="call-1", input={"city": "Oslo"})
        result = ToolResultContent(tool_use_id="call-1", content=[text("12 degrees")])
        called = SamplingMessage(role="assistant", content=[use])
        return Sample([ASK, called, user(result)], max_tokens=9, tools=[WEATHER])

    @server.tool()
    def auto(
        reply: Annotated[CreateMessageResultWithTools, Resolve(sampled("auto"))],
    ) -> str:
        return calls_in(reply)

    @server.tool()
    def required(
        reply: Annotated[CreateMessageResultWithTools, Resolve(sampled("required"))],
    ) -> str:
        return calls_in(reply)

    @server.tool()
    def second(
        reply: Annotated[CreateMessageResultWithTools, Resolve(after)],
    ) -> str:
        return calls_in(reply)

    @server.tool()
    async def loop(ctx: Context) -> str:
        """Ask until there is no call (the older protocol)."""
        messages = [ASK]
        for _ in range(3):
            reply = await ctx.session.create_message(messages, max_tokens=9, tools=[WEATHER])
            blocks = reply.content_as_list
            uses = [b for b in blocks if isinstance(b, ToolUseContent)]
            if not uses:
                return blocks[0].text
            messages.append(SamplingMessage(role="assistant", content=blocks))
            messages.append(
                user(
                    *(
                        ToolResultContent(
                            tool_use_id=use.id,
                            content=[text(f"{use.input['city']}: 12 degrees")],
                        )
                        for use in uses
                    )
                )
            )
        return "no end"

    return server


@pytest.fixture(params=["auto", "legacy"])
def session(client, request):
    """The server in each era; nobody answers unless a test says so."""
    session = client.connect("guide", guide(), mode=request.param)
    session.answerer = lambda question: None
    return session


CALL = {"tool": "weather", "arguments": {"city": "Oslo"}}


class TestAHandler:
    def test_gets_the_tools_and_calls_one(self, session):
        """The question has the tools; the call goes back to the server, which runs it."""
        questions = []

        def answer(question):
            questions.append(question)
            return CALL

        with answering(answer):
            line = session.tool("auto")({}).text
        assert line == "weather {'city': 'Oslo'} call-1 (toolUse)"
        assert isinstance(questions[0], SamplingQuestion)
        assert questions[0].tools[0]["inputSchema"] == WEATHER.input_schema
        with answering(lambda question: [CALL, CALL]):
            assert "call-1, weather {'city': 'Oslo'} call-2" in session.tool("auto")({}).text
        with answering(lambda question: "Rain."):
            assert session.tool("auto")({}).text == "Rain."

    def test_may_answer_with_a_whole_message(self, session):
        """A message of a model passes as it is, with several blocks."""
        use = {
            "type": "tool_use",
            "id": "u7",
            "name": "weather",
            "input": {"city": "O"},
        }
        words = {"type": "text", "text": "Let me look."}
        message = {
            "role": "assistant",
            "model": "m",
            "content": [words, use],
            "stopReason": "toolUse",
        }
        with answering(lambda question: message):
            assert session.tool("auto")({}).text == "weather {'city': 'O'} u7 (toolUse)"

    def test_sees_the_call_and_its_result_in_the_next_question(self, session):
        """The conversation is one text, with the call and what it gave."""
        questions = []
        with answering(lambda question: questions.append(question.whole) or "12."):
            assert session.tool("second")({}).text == "12."
        (whole,) = questions
        assert 'assistant: calls weather with {"city": "Oslo"} [call-1]' in whole
        assert "user: [call-1] gave: 12 degrees" in whole
        assert "The model may call: weather (" in whole

    @pytest.mark.parametrize(
        ("tool", "reply", "message"),
        [
            (
                "auto",
                {"tool": "wether"},
                'calls "wether", and the request offers weather',
            ),
            ("auto", {"tool": "weather", "arguments": 3}, "with 3, not an object"),
            ("required", "Rain.", "has to call a tool of the request: weather"),
        ],
        ids=["another tool", "no object", "no call"],
    )
    def test_that_answers_wrongly_fails_the_request(self, session, tool, reply, message):
        """The server, and with it the person, gets the reason."""
        with answering(lambda question: reply):
            assert message in session.tool(tool)({}).text

    def test_that_is_missing_is_a_clear_refusal(self, session):
        """Without a handler and a person the server is told so."""
        observation = session.tool("auto")({})
        assert observation.is_error
        assert "The client has no handler for sampling" in observation.text


def test_calls_and_results_go_back_and_forth_until_there_is_a_message():
    """In the older protocol one call of a tool may ask again and again."""
    questions = []

    def sample(question):
        questions.append(question.whole)
        return CALL if len(questions) == 1 else "It is 12 degrees."

    with create_mcp_tools(guide(), sampling_handler=sample) as client:
        client.servers["guide"].reconnect("legacy")
        assert client["loop"]({}).text == "It is 12 degrees."
    assert "[call-1] gave: Oslo: 12 degrees" in questions[1]


def test_the_capability_is_declared(session):
    """A server asks only a client that says it takes tools."""
    sent = session.traffic.find(direction="sent", kind="request")
    assert any('"sampling":{"tools":{}}' in message.text for message in sent)


class TestAPerson:
    def question(self, choice="auto", schema=WEATHER.input_schema):
        """The question of a request with one tool."""
        tool = {"name": "weather", "inputSchema": schema}
        params = {"tools": [tool], "toolChoice": {"mode": choice}}
        return SamplingQuestion(server="s", message="?", messages=[], params=params)

    def test_writes_a_message_or_fills_in_a_call(self, session):
        """The form has both; what it holds is what the server gets."""
        question = for_person(self.question())
        message, call = question.schema["properties"]["answer"]["oneOf"]
        assert message["type"] == "string"
        assert call["properties"]["arguments"] == WEATHER.input_schema
        assert question.problems({"answer": CALL}) == []
        assert question.problems({"answer": {"tool": "weather", "arguments": {}}})
        with in_advance(CALL):
            line = "weather {'city': 'Oslo'} call-1 (toolUse)"
            session.answerer = None
            assert session.tool("auto")({}).text == line

    @pytest.mark.parametrize(
        "schema",
        [{"$ref": "#/$defs/x", "$defs": {"x": {}}}, {"type": 3}, "text", None],
        ids=["reference", "invalid", "text", "none"],
    )
    def test_fills_in_any_object_for_a_schema_of_no_use(self, schema):
        """A schema that cannot stand in the form's own does not break the question."""
        question = for_person(self.question(schema=schema))
        assert question.problems({"answer": {"tool": "weather", "arguments": {"a": 1}}}) == []

    def test_has_the_choice_that_the_server_gives(self):
        """A call only where one is required; a message only where none may be made."""
        required = for_person(self.question("required")).schema["properties"]["answer"]
        assert [part["title"] for part in required["oneOf"]] == ["Call weather"]
        none = for_person(self.question("none"))
        assert none.schema["properties"]["answer"]["type"] == "string"
        assert "may call" not in none.message
