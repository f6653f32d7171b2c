"""What an MCP server asks in the middle of a run goes to the person the run is for."""

from threading import current_thread

import pytest
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations
from patience import PATIENCE, join
from pydantic import BaseModel, Field

from toolbench import history, run_tool, tool
from toolbench.mcp import MCPClient
from toolbench.runs.perform import perform, start
from toolbench.runs.questions import Answer, answering
from toolbench.runs.run import Run, run_here

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
SERVER = """
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel

class Name(BaseModel):
    name: str

server = MCPServer("curious")

@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def greet(ctx: Context) -> str:
    answer = await ctx.elicit("What is your name?", Name)
    return f"Hello {answer.data.name}." if answer.action == "accept" else answer.action
"""
IN_A_KERNEL = f"""
%load_ext toolbench
{SERVER}
from toolbench.mcp import MCPClient
from toolbench.widgets.panel import ToolPanel
client = MCPClient(timeout=60)
client.connect("curious", server, mode="legacy")
"""
AFTERWARDS = "client.sync_close()"

MAGIC = "get_ipython().run_line_magic('tool', 'greet {}').text"


class Name(BaseModel):
    name: str


class Day(BaseModel):
    until: str = Field(json_schema_extra={"format": "date"})


@pytest.fixture
def greet():
    """A server's tool that asks for a name before it answers."""
    server = MCPServer("curious")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    async def greet(ctx: Context) -> str:
        answer = await ctx.elicit("What is your name?", Name)
        accepted = answer.action == "accept"
        return f"Hello {answer.data.name}." if accepted else answer.action

    with MCPClient(timeout=PATIENCE) as client:
        yield client.connect("curious", server, mode="legacy").tool("greet")


@pytest.fixture
def lend():
    """A server's tool that asks for a day."""
    server = MCPServer("library")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    async def lend(ctx: Context) -> str:
        answer = await ctx.elicit("Until when?", Day)
        return f"until {answer.data.until}"

    with MCPClient(timeout=PATIENCE) as client:
        yield client.connect("library", server, mode="legacy").tool("lend")


class TestQuestions:
    def test_of_a_cell_are_answered_on_the_main_thread(self, greet, monkeypatch):
        """Only there does `input()` work."""
        threads = []

        def answer(prompt):
            threads.append(current_thread())
            assert "'curious' asks: What is your name?" in prompt
            return "Ada"

        monkeypatch.setattr("builtins.input", answer)
        observation = perform(run_here(greet, {}, "magic"))
        assert observation.text == "Hello Ada."
        assert threads == [current_thread()]

    def test_of_a_button_are_answered_by_its_panel(self, greet):
        """In the run's own thread, as any question of a tool."""
        questions = []

        def answer(question):
            questions.append(question.message)
            return Answer("accept", {"name": "Ada"})

        run = Run(greet, {}, source="button", asker=answer)
        join(start(run))
        assert run.observation.text == "Hello Ada."
        assert questions == ["Server 'curious' asks: What is your name?"]
        assert history()[-1].state == "ok"

    def test_of_a_call_an_async_tool_awaits_are_asked_too(self, greet, monkeypatch):
        """The person its run is for is there: the main thread waits for it."""

        @tool
        async def outer() -> str:
            """Await the server."""
            return (await greet.acall({})).text

        monkeypatch.setattr("builtins.input", lambda prompt: "Ada")
        assert run_tool(outer).text == "Hello Ada."

    def test_are_declined_where_nobody_is(self, greet, monkeypatch):
        """At once: the server goes on."""
        monkeypatch.setattr("builtins.input", _nobody)
        assert perform(run_here(greet, {}, "magic")).text == "decline"

    def test_may_be_answered_in_advance(self, greet):
        """As those of any tool."""
        with answering({"name": "Ada"}):
            assert perform(run_here(greet, {}, "magic")).text == "Hello Ada."


class TestFormats:
    """What a server asks for by `format` is what it gets, whoever answers."""

    def test_a_cell_asks_again(self, lend, monkeypatch):
        """The reason says how a date is written."""
        prompts, typed = [], iter(["31.12.2026", "2026-02-30", "2026-12-31"])

        def answer(prompt):
            prompts.append(prompt)
            return next(typed)

        monkeypatch.setattr("builtins.input", answer)
        assert perform(run_here(lend, {}, "magic")).text == "until 2026-12-31"
        reason = 'Until: should be a date such as 2024-01-31, not "31.12.2026"'
        assert reason in prompts[1]
        assert "2026-02-30" in prompts[2]

    def test_a_preset_is_refused(self, lend):
        """Before it is sent."""
        with answering({"until": "31.12.2026"}):
            observation = perform(run_here(lend, {}, "magic"))
        assert "until 31.12.2026" not in observation.text
        assert "should be a date such as 2024-01-31" in observation.text


def _nobody(prompt):
    raise EOFError


@pytest.mark.slow
class TestInAKernel:
    def test_a_magic_asks_in_the_cell(self, kernel):
        """`%tool` puts the server's question into the front end's input box."""
        [prompt], printed = kernel.answer(f"print({MAGIC})", "Ada")
        assert "What is your name?" in prompt
        assert "Hello Ada." in printed

    def test_a_magic_declines_where_nobody_is(self, kernel):
        """nbval, nbconvert and papermill do not hang."""
        assert kernel.run(f"print({MAGIC})").strip() == "decline"

    def test_a_panel_asks_in_a_form(self, kernel):
        """The question's form is in the panel, and a click answers it."""
        kernel.run("panel = ToolPanel(client['greet']); panel")
        kernel.click("Run")
        kernel.wait_for("What is your name?")
        kernel.click("Decline")
        kernel.wait_for("The user and the model read the same")
        assert kernel.value("panel.result.text") == "decline"
