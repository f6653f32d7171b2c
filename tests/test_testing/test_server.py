"""The fake server, through our own client: what it is told to do is what the client sees."""

import threading

import pytest
from patience import PATIENCE, eventually, join

from toolbench import current_run
from toolbench.core.content import TextContent
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient, create_mcp_tools
from toolbench.mcp.elicitation import Answer, reporting
from toolbench.testing import HANG_UP, NEVER, FakeMCPServer, InTurn, Raw, RpcError

NAME = {"type": "object", "properties": {"name": {"type": "string"}}}


@pytest.fixture(params=["modern", "legacy"])
def server(request):
    """A server without tools, in each era."""
    return FakeMCPServer("fake", era=request.param, instructions="Be kind.")


@pytest.fixture
def client():
    with MCPClient(timeout=PATIENCE) as client:
        yield client


@pytest.fixture
def session(client, server):
    """A session with the server."""
    session = client.connect("fake", server)
    session.call_seconds = 10
    return session


def call(session, name, **arguments):
    session.refresh()
    return session.tool(name)(arguments)


class TestTarget:
    def test_speaks_its_era_and_says_who_it_is(self, session, server):
        """The client negotiates as with any server."""
        assert session.era == server.era
        assert session.server_info["name"] == "fake"
        assert session.instructions == "Be kind."

    def test_stands_for_a_whole_configuration(self, server):
        """It is called what it calls itself; in a mapping, what the mapping says."""
        server.answer("a", "b")
        with create_mcp_tools(server) as client:
            assert list(client.servers) == ["fake"]
        with create_mcp_tools({"mine": server}) as client:
            assert client.server("mine").tool("a")({}).text == "b"

    def test_serves_several_clients(self, client, server):
        """Each connection is its own; the calls of all are kept."""
        server.answer("a", "b")
        for name in ("one", "two"):
            client.connect(name, server).call("a")
        assert [received.tool for received in server.calls] == ["a", "a"]

    def test_serves_the_raw_client_too(self, server):
        """Any client of FastMCP can be given its transport."""
        from fastmcp import Client

        from toolbench.core.background_loop import portal

        async def ask():
            async with Client(server.client_transport()) as client:
                return await client.call_tool("sum", {"a": 1, "b": 2})

        server.tool(lambda_named_sum())
        assert portal.call(ask).structured_content == {"result": 3}


def lambda_named_sum():
    def sum(a: int, b: int) -> int:
        """Add."""
        return a + b

    return sum


class TestAnswers:
    @pytest.mark.parametrize(
        ("answer", "text", "data"),
        [
            ("a text", "a text", "a text"),
            ({"eur": 3}, '"eur": 3', {"eur": 3}),
            ([{"a": 1}], '"a": 1', [{"a": 1}]),
            (7, "7", 7),
            (None, "", None),
            (TextContent(text="t"), "t", "t"),
        ],
    )
    def test_a_value_is_the_result(self, session, server, answer, text, data):
        """Text stays text; what JSON can carry is structured content as well."""
        server.answer("t", answer)
        observation = call(session, "t")
        assert not observation.is_error
        assert observation.warnings == []
        assert text in observation.text
        if data is not None:
            assert observation.data == data

    def test_an_exception_is_a_failed_call(self, session, server):
        """The model reads what went wrong."""
        server.answer("t", ValueError("no such item"))
        observation = call(session, "t")
        assert observation.is_error
        assert observation.text == "no such item"

    def test_an_rpc_error_is_no_result(self, session, server):
        """Code and data reach the user."""
        server.answer("t", RpcError("locked", -32001, {"by": "me"}))
        assert "no answer in time" in call(session, "t").text.lower()
        server.answer("t", RpcError("locked", -32050, {"by": "me"}))
        text = call(session, "t").text
        assert "locked" in text.lower()
        assert "-32050" in text
        assert "me" in text

    def test_a_raw_result_goes_out_as_it_is(self, session, server):
        """Violations of the protocol can be tried."""
        server.answer("t", Raw({"content": "no list"}))
        observation = call(session, "t")
        assert observation.text == "no list"
        assert observation.warnings

    def test_answers_in_turn(self, session, server):
        """One for each call, and the last one for all that follow."""
        server.answer("t", InTurn("a", ValueError("b"), "c"))
        assert [call(session, "t").text for _ in range(4)] == ["a", "b", "c", "c"]

    def test_a_promise_is_checked_by_the_client(self, session, server):
        """What does not fit the output schema is shown with a warning."""
        promise = {"type": "object", "required": ["x"]}
        server.answer("t", {"y": 1}, output_schema=promise)
        observation = call(session, "t")
        assert observation.data == {"y": 1}
        assert "output schema" in observation.warnings[0]

    def test_a_tool_that_is_not_offered(self, session, server):
        """The server refuses it, and the call is kept all the same."""
        assert "Unknown tool" in session.call("nope").text
        assert server.calls[0].tool == "nope"


class TestFates:
    def test_never_ends_when_the_client_gives_up(self, session, server):
        """The server is told, and knows which call it was."""
        server.answer("t", NEVER)
        session.call_seconds = 0.2
        assert "No answer within" in call(session, "t").text
        eventually(lambda: server.calls[0].was_cancelled)

    def test_hang_up_breaks_the_call_and_the_next_one_reconnects(self, session, server):
        """As with a server that crashes and is started again."""
        server.answer("t", InTurn(HANG_UP, "back"))
        assert "broke during the call" in call(session, "t").text
        assert session.status == "lost"
        assert call(session, "t").text == "back"

    def test_the_connection_can_end_between_calls(self, session, server):
        """Nobody notices but for the status."""
        server.answer("t", "ok")
        server.hang_up()
        eventually(lambda: session.status == "lost")
        assert call(session, "t").text == "ok"


class TestFunctions:
    def test_the_signature_is_the_schema(self, session, server):
        """Arguments are checked where they arrive, too."""

        @server.tool
        def repeat(text: str, times: int = 2) -> str:
            """Repeat a text."""
            return text * times

        assert call(session, "repeat", text="ab").text == "abab"
        assert session.tool("repeat").description == "Repeat a text."
        assert "times" in session.call("repeat", {"text": "a", "times": "x"}).text
        assert server.calls[0].arguments == {"text": "ab"}

    def test_a_coroutine_works_too(self, session, server):
        """It awaits what it asks."""

        @server.tool
        async def slow() -> str:
            current_run().progress(1)
            return "done"

        @server.tool
        async def curious() -> str:
            return (await current_run().ask_async("Really?")).action

        @server.tool
        async def hasty() -> str:
            return str(current_run().ask("?"))

        session.answerer = lambda question: {"answer": True}
        assert call(session, "slow").text == "done"
        assert call(session, "curious").text == "accept"
        assert "await current_run().ask_async" in call(session, "hasty").text

    def test_progress_and_logs_reach_the_client(self, session, server):
        """In order, and before the result."""

        @server.tool
        def work() -> str:
            for i in range(3):
                current_run().progress(i, 3, f"step {i}")
            current_run().log("careful", "warning")
            return "done"

        updates = []
        with reporting(lambda *update: updates.append(update)):
            assert call(session, "work").text == "done"
        assert updates == [(float(i), 3.0, f"step {i}") for i in range(3)]
        assert [(e.level, e.text) for e in session.log] == [("warning", "careful")]

    def test_a_question_is_an_elicitation(self, session, server):
        """The answer comes back, whichever it is, however often one asks."""

        @server.tool
        def greet() -> list[str]:
            first = current_run().ask("Who?", NAME)
            second = current_run().ask("Really?")
            return [first.action, str(first.content), second.action]

        questions = []

        def answerer(question):
            questions.append((question.server, question.tool, question.message))
            return {"name": "Ann"} if question.message == "Who?" else Answer("decline")

        session.answerer = answerer
        answers = call(session, "greet").data
        assert answers == ["accept", "{'name': 'Ann'}", "decline"]
        assert questions == [("fake", "greet", "Who?"), ("fake", "greet", "Really?")]

    def test_a_cancelled_call_is_told_to_the_function(self, session, server):
        """`cancelled` and `on_cancel` work as in a run of our own."""
        started, stopped = threading.Event(), threading.Event()

        @server.tool
        def wait() -> str:
            current_run().on_cancel(stopped.set)
            started.set()
            assert stopped.wait(PATIENCE)
            return str(current_run().cancelled)

        session.refresh()
        tool = session.tool("wait")
        thread = threading.Thread(target=tool, args=({},))
        thread.start()
        assert started.wait(PATIENCE)
        tool.executor.interrupt()
        assert stopped.wait(PATIENCE)
        join(thread)
        assert server.calls[0].was_cancelled


class TestNews:
    def test_a_new_tool_is_announced(self, session, server):
        """A client that is connected hears of it by itself."""
        server.answer("late", 1)
        eventually(lambda: [tool.name for tool in session.tools] == ["late"])
        server.remove("late")
        eventually(lambda: session.tools == [])

    def test_a_log_message_can_be_sent_at_any_time(self, session, server):
        """Any notification can."""
        server.notify("notifications/message", {"level": "error", "data": "hot"})
        eventually(lambda: [str(entry) for entry in session.log] == ["ERROR: hot"])


class TestRest:
    def test_resources_and_prompts(self, client, server):
        """They are listed, read and written as they were given."""
        server.resource("fake://a", {"x": 1}, mime_type="application/json")
        server.prompt("greet", "Hello, {name}!", arguments=["name"])
        session = client.connect("fake", server)
        assert [resource.uri for resource in session.resources] == ["fake://a"]
        assert session.read_resource("fake://a").data == {"x": 1}
        assert [prompt.name for prompt in session.prompts] == ["greet"]
        assert session.get_prompt("greet", name="Ann").text == "Hello, Ann!"
        assert session.resources.templates == []
        with pytest.raises(ServerError, match="not offered: fake://b"):
            session.read_resource("fake://b")
