"""%model and %%chat: a model uses the tools of the notebook."""

import re

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.error import UsageError

from toolbench import Conversation, history
from toolbench.llm.models import ScriptedModel

MODELS = """
from toolbench.llm.models import ScriptedModel
def scripted(*more):
    function = {"name": "add", "arguments": '{"a": 2, "b": 3}'}
    call = {"id": "c1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return ScriptedModel([message, "It is **5**.", *more])
"""


STREAM = """
from toolbench.llm.models import Answer
from toolbench.llm.models.model import Chunk
class Streaming:
    name, provider = "streaming", "openai"
    def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
        for n in range(10_000):
            on_chunk(Chunk("text", "word " * 20))
        return Answer({"role": "assistant", "content": "word " * 200_000}, "stop")
model_that_streams = Streaming()
"""


INTERRUPTED = """
from toolbench import tool
from toolbench.llm.models import as_model
import _thread
asked = []
@as_model
def in_the_model(messages, tools):
    asked.append(messages)
    if len(asked) == 1:
        raise KeyboardInterrupt
    return "Gone on."
@tool(read_only=True)
def stop() -> str:
    'Interrupt the main thread, as the kernel does.'
    _thread.interrupt_main()
    return "stopped"
function = {"name": "stop", "arguments": "{}"}
call = {"id": "c1", "type": "function", "function": function}
in_the_tool = ScriptedModel([{"role": "assistant", "tool_calls": [call]}, "Gone on."])
"""


WATCHED = """
from patience import eventually
from toolbench import tool
@tool(read_only=True)
def watch() -> str:
    'Wait until the cell shows this call.'
    eventually(lambda: outputs and ">running<" in outputs[-1]["data"]["text/html"])
    return "seen"
function = {"name": "watch", "arguments": "{}"}
call = {"id": "c1", "type": "function", "function": function}
watching = ScriptedModel([{"role": "assistant", "tool_calls": [call]}, "Done."])
"""


DESK = """
from fastmcp import FastMCP
desk = FastMCP("desk")
@desk.tool
def lend(title: str) -> str:
    'Lend a book.'
    return title
@desk.tool
def list_books() -> list[str]:
    'List the books.'
    return ["Emma"]
"""


@pytest.fixture
def chat(shell):
    """Runs a cell of %%chat, and returns what it shows, as text and as HTML."""
    shell.run_cell(MODELS).raise_error()

    def run(line, cell="What is 2 + 3?"):
        before, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
        try:
            assert shell.run_cell_magic("chat", line, cell) is None
            [output] = shell.display_pub.outputs
        finally:
            shell.display_pub = before
        return output["data"]["text/plain"], output["data"]["text/html"]

    return run


def model(shell, line):
    return shell.run_line_magic("model", line)


class TestModel:
    def test_names_what_answers(self, shell, chat):
        """An expression of the notebook, or a URL; the list shows both."""
        model(shell, "mine scripted()")
        model(shell, "small http://localhost:1/v1#tiny")
        rows = list(model(shell, ""))
        assert [(row[0], row[2]) for row in rows] == [
            ("mine", "openai"),
            ("small", "openai"),
        ]
        assert model(shell, "mine").name == "scripted"

    @pytest.mark.parametrize(
        "expression",
        ["PersonModel()", "ScriptedModel(['Hi.'])", "as_model(lambda m, tools: 'Hi.')"],
    )
    def test_needs_no_import_of_what_answers(self, shell, expression):
        """The names of toolbench.llm.models are known; one of the notebook goes before."""
        shell.run_line_magic("model", f"of_the_line {expression}")
        assert model(shell, "of_the_line").provider == "openai"
        shell.user_ns["PersonModel"] = lambda: shell.user_ns["own"]
        shell.user_ns["own"] = ScriptedModel(["Mine."])
        shell.run_line_magic("model", "mine PersonModel()")
        assert model(shell, "mine") is shell.user_ns["own"]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("x nope()", "'nope' is not defined: import or define it first"),
            ("x (", "not a Python expression"),
            ("x 3", "int cannot answer for a model"),
            ("x 1/0", "division by zero"),
            ("x ScriptedModel", "is a class"),
            ("x RecordedModel('/no/such/file')", "/no/such/file is not there"),
            ("x http://", "not the address of a model"),
        ],
    )
    def test_that_is_none_is_one_sentence(self, shell, line, message):
        """No traceback: what is wrong, and what to do."""
        with pytest.raises(UsageError, match=re.escape(message)) as caught:
            shell.run_line_magic("model", line)
        assert "\n" not in str(caught.value)

    def test_of_no_name_says_what_is_missing(self, shell):
        """A name that stands for nothing yet is a line of help."""
        with pytest.raises(UsageError, match="There is no model mine yet"):
            model(shell, "mine")
        assert "No models yet" in repr(model(shell, ""))


class TestChat:
    def test_shows_message_call_and_answer(self, shell, chat):
        """The transcript is the output of the cell, and the conversation a variable."""
        model(shell, "mine scripted()")
        text, html = chat("")
        assert "What is 2 + 3?" in text and "It is" in text
        assert "<strong>5</strong>" in html and "<details" in html
        conversation = shell.user_ns["chat"]
        assert isinstance(conversation, Conversation)
        assert [(r.tool, r.source) for r in history()] == [("add", "model")]

    def test_goes_on_in_the_next_cell(self, shell, chat):
        """The second cell shows what is new."""
        model(shell, "mine scripted('You are welcome.')")
        chat("talk --model mine --tools add")
        text, _ = chat("talk", "Thanks.")
        assert "You are welcome." in text and "2 + 3" not in text
        assert len(shell.user_ns["talk"].agent.llm.requests[-1][0]) == 5

    def test_offers_the_tools_that_are_named(self, shell, chat):
        """Those, and no others; without the option, those of the notebook."""
        model(shell, "mine scripted()")
        chat("--tools add,greet")
        [first, *_] = shell.user_ns["chat"].agent.llm.requests
        assert [t["function"]["name"] for t in first[1]] == ["add", "greet"]
        model(shell, "mine scripted()")
        chat("other")
        [first, *_] = shell.user_ns["other"].agent.llm.requests
        assert {"add", "greet", "erase", "fail"} <= {t["function"]["name"] for t in first[1]}

    def test_offers_all_tools_of_a_server(self, shell, chat, mcp):
        """The name of a server stands for its tools."""
        shell.run_cell(DESK).raise_error()
        mcp("connect desk desk")
        model(shell, "mine scripted()")
        chat("--tools add,desk")
        [first, *_] = shell.user_ns["chat"].agent.llm.requests
        offered = [t["function"]["name"] for t in first[1]]
        assert offered == ["add", "lend", "list_books"]

    @pytest.mark.parametrize(
        "line",
        [
            "--tools add, greet",
            "--tools add ,greet,",
            "--tools=add , greet other",
            "--tools add, greet --model mine",
            "--tools 'add, greet'",
        ],
    )
    def test_takes_blanks_beside_the_commas(self, shell, chat, line):
        """People write a list of names so; what follows the list is still read."""
        model(shell, "mine scripted()")
        chat(line)
        name = "other" if "other" in line else "chat"
        [first, *_] = shell.user_ns[name].agent.llm.requests
        assert [t["function"]["name"] for t in first[1]] == ["add", "greet"]

    def test_anew_takes_another_model(self, shell, chat):
        """Only with --new: a conversation does not change its model in silence."""
        shell.run_cell("one, two = scripted(), scripted()")
        chat("--model one")
        with pytest.raises(UsageError, match="--new"):
            shell.run_cell_magic("chat", "--model two", "Again.")
        chat("--model two --new")
        assert len(shell.user_ns["two"].requests) == 2

    @pytest.mark.parametrize(
        ("line", "cell", "message"),
        [
            ("", "Hello.", "With which model"),
            ("--model nobody", "Hello.", "no model called 'nobody'"),
            ("add", "Hello.", "is not a chat"),
            ("--tools", "Hello.", "expected one argument"),
            ("--tools , --new", "Hello.", "',' has no name: write names with commas"),
            ("--tools add greet", "Hello.", "greet is a tool, .* --tools add,greet"),
            ("", " \n", "What do you want to say"),
        ],
    )
    def test_wrong_use_is_one_line(self, shell, line, cell, message):
        """What is missing, and what to type."""
        with pytest.raises(UsageError, match=message):
            shell.run_cell_magic("chat", line, cell)

    def test_a_model_that_fails_is_in_the_transcript(self, shell, chat):
        """The conversation stays, and can go on."""
        shell.run_cell("broken = ScriptedModel([])")
        text, _ = chat("--model broken")
        assert "script" in text and "Stopped by an error" in text


class TestInterrupt:
    @pytest.mark.usefixtures("no_collector")
    @pytest.mark.parametrize("place", ["model", "tool"])
    def test_ends_the_cell_in_one_line_and_keeps_the_conversation(self, shell, place, capsys):
        """Kernel > Interrupt, while the model or a tool is at work: the next cell goes on."""
        shell.run_cell(MODELS).raise_error()
        shell.run_cell(INTERRUPTED).raise_error()
        capsys.readouterr()
        done = shell.run_cell(f"%%chat talk --model in_the_{place} --tools stop\nGo.")
        assert isinstance(done.error_in_exec, KeyboardInterrupt)
        output = "".join(capsys.readouterr())
        assert "kept in talk: continue with %%chat talk or talk.run()" in output
        assert "Paused: interrupted." in output and "Traceback" not in output
        talk = shell.user_ns["talk"]
        assert not talk.pending and talk.run() == "answered"
        assert talk.final_text == "Gone on."


class TestCompletion:
    def offered(self, shell, line):
        shell.run_cell(MODELS)
        model(shell, "mine scripted()")
        with provisionalcompleter():
            return [c.text for c in shell.Completer.completions(line, len(line))]

    @pytest.mark.parametrize(
        ("line", "offer"),
        [
            ("%%chat --", "--model"),
            ("%%chat --model m", "mine"),
            ("%%chat talk --tools gr", "greet"),
            ("%%chat talk --tools add,gr", "greet"),
            ("%%chat talk --tools add, gr", "greet"),
            ("%model m", "mine"),
        ],
    )
    def test_knows_models_and_tools(self, shell, line, offer):
        """Options, the names of models, and each of the tools."""
        assert any(match.endswith(offer) for match in self.offered(shell, line))

    def test_knows_servers(self, shell, mcp):
        """Their names stand for their tools."""
        shell.run_cell(DESK).raise_error()
        mcp("connect desk desk")
        matches = self.offered(shell, "%%chat talk --tools add,de")
        assert any(match.endswith("desk") for match in matches)


class TestDrawing:
    def test_a_call_is_shown_while_it_runs(self, shell):
        """Also if it comes right after something was drawn, and nothing comes after it."""
        shell.run_cell(MODELS).raise_error()
        before, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
        shell.user_ns["outputs"] = shell.display_pub.outputs
        shell.run_cell(WATCHED).raise_error()
        # As in a notebook: it is drawn while it goes on
        shell.kernel = None
        try:
            shell.run_cell_magic("chat", "--model watching --tools watch", "Watch.")
            outputs = shell.display_pub.outputs
        finally:
            shell.display_pub = before
            del shell.kernel
        assert shell.user_ns["chat"].result("watch").text == "seen"
        assert ">running<" not in outputs[-1]["data"]["text/html"]


class TestLongText:
    def test_a_megabyte_costs_few_messages_and_little_of_each(self, shell):
        """What streams in is drawn seldom and by its end; the cell keeps both ends of it."""
        shell.run_cell(STREAM).raise_error()
        before, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
        # As in a notebook: it is drawn while it comes
        shell.kernel = None
        try:
            shell.run_cell_magic("chat", "--model model_that_streams", "Write.")
            outputs = shell.display_pub.outputs
        finally:
            shell.display_pub = before
            del shell.kernel
        size = sum(len(text) for output in outputs for text in output["data"].values())
        assert size < 300_000
        assert "left out" in outputs[-1]["data"]["text/html"]
        assert len(shell.user_ns["chat"].final_text) == 1_000_000


class TestStepping:
    def test_leaves_the_calls_waiting(self, shell, chat):
        """Without a page to press buttons in, the model is asked once and nothing runs."""
        model(shell, "mine scripted()")
        text, html = chat("--step")
        assert "waits for you" in html and "What is 2 + 3?" in text
        conversation = shell.user_ns["chat"]
        assert len(conversation.pending) == 1 and len(history()) == 0
        assert conversation.run() == "answered"

    def test_a_message_does_not_let_them_run(self, shell, chat):
        """A person who writes "no" has not said yes: what waits is decided first."""
        model(shell, "mine scripted('As you like.')")
        chat("--step")
        with pytest.raises(UsageError, match=r"1 call of chat .* chat\.reject_pending"):
            shell.run_cell_magic("chat", "", "No, do not do that!")
        conversation = shell.user_ns["chat"]
        assert len(history()) == 0 and not conversation.agent_state.unread
        conversation.reject_pending("No.")
        chat("")
        assert len(history()) == 0
