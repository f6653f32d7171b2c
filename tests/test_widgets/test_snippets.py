"""Every snippet runs as it is: in the notebook that shows the tool, or in a test file."""

import sys
from pathlib import Path

import httpx2
import pytest
from fastmcp import FastMCP
from forked import run_pytest
from shells import new_shell
from test_mcp.peers import serving

from test_widgets.front import named
from test_widgets.tooling import finish
from toolbench import answering, history
from toolbench.display.observations import observation_text
from toolbench.extension import load_ipython_extension, unload_ipython_extension
from toolbench.mcp import create_mcp_tools
from toolbench.mcp.servers import connected
from toolbench.testing import FakeMCPServer
from toolbench.tools.file_editor import FileEditorTool
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.panel.snippets import as_cell, as_pytest, as_python

DEFINE = '''
from toolbench import tool

@tool(name="{name}")
def add(a: int, b: int = 1, note: str = "", token: str = "") -> int:
    """Add two numbers."""
    return a + b
'''
CLASS = """
from toolbench import Action, Observation, ToolDefinition, ToolExecutor

class Number(Action):
    n: int

class Double(ToolExecutor):
    def __call__(self, action, conversation=None):
        return Observation.from_text(str(2 * action.n))

double = ToolDefinition(
    name="double", description="Double it.", action_type=Number, executor=Double()
)
"""
SERVER = '''
from fastmcp import FastMCP

library = FastMCP("library")

@library.tool
def find(title: str) -> str:
    """Find a book."""
    return title.upper()
'''
LIBRARY = '''
from datetime import date
from enum import Enum
from toolbench import tool

class Kind(Enum):
    BOOK = "book"

@tool
def lend(titles: list[str], borrower: str, kind: Kind, due_dates: list[date]) -> str:
    """Lend books."""
    days = ", ".join(map(str, due_dates))
    return f"{', '.join(titles)} to {borrower}: {kind.value} until {days}"
'''
LENDING = """
lend(titles=["Walden"], borrower="Dee", kind=Kind.BOOK, due_dates=[date(2026, 12, 6)])
"""
TIME = "connect time -- python -m mcp_server_time --local-timezone=UTC"
ODD = {"a": 2, "note": "quotes \" and ' and \\ and\nlines {x} $y é " + "long " * 30}


@pytest.fixture
def notebook(monkeypatch):
    """A shell whose variables are those of `__main__`, as in a kernel."""
    main = sys.modules["__main__"]
    before = dict(vars(main))
    with new_shell(user_module=main) as shell:
        load_ipython_extension(shell)
        monkeypatch.setattr("IPython.get_ipython", lambda: shell)
        yield shell
        unload_ipython_extension(shell)
        for name in set(vars(main)) - set(before):
            del vars(main)[name]
        history().clear()


OWN_TEXT = """
from toolbench import Action, Observation, TextContent, ToolDefinition, ToolExecutor

class Number(Action):
    n: int

class Sum(Observation):
    total: int

    @property
    def to_llm_content(self):
        return [TextContent(text=f"The sum is {self.total}.")]

class Adding(ToolExecutor):
    def __call__(self, action, conversation=None):
        return Sum(total=2 * action.n)

add = ToolDefinition(
    name="add", description="Add.", action_type=Number, observation_type=Sum, executor=Adding()
)
"""


def run(shell, code):
    shell.run_cell(code).raise_error()
    return history()[-1]


class TestInTheNotebook:
    @pytest.mark.parametrize("name", ["add", "my tool", "weird'name"])
    @pytest.mark.parametrize("write", [as_python, as_cell])
    @pytest.mark.parametrize("arguments", [{"a": 1}, ODD])
    def test_runs(self, notebook, name, write, arguments):
        """Whatever the tool and its arguments are called and hold."""
        run_cell = notebook.run_cell(DEFINE.replace("{name}", name.replace("'", "\\'")))
        run_cell.raise_error()
        code = write(notebook.user_ns["add"], arguments)
        record = run(notebook, code)
        assert record.observation.text == str(arguments["a"] + 1)
        assert dict(record.arguments) == arguments

    @pytest.mark.parametrize("write", [as_python, as_cell])
    def test_runs_after_a_call_with_objects(self, notebook, write):
        """The copy needs no name of the call's objects, and makes the same action."""
        notebook.run_cell(LIBRARY).raise_error()
        first = run(notebook, LENDING)
        notebook.run_cell("del Kind, date").raise_error()
        again = run(notebook, write(notebook.user_ns["lend"], first.known_arguments))
        assert again.observation.text == first.observation.text
        assert dict(again.arguments) == first.arguments

    @pytest.mark.parametrize("is_variable", [True, False])
    def test_shows_what_the_model_read(self, notebook, is_variable):
        """Also of a result without text, whose class writes its own content for a model."""
        notebook.run_cell(OWN_TEXT).raise_error()
        if not is_variable:
            notebook.user_ns["tools_of_mine"] = [notebook.user_ns.pop("add")]
        [tool] = notebook.user_ns.get("tools_of_mine", [notebook.user_ns.get("add")])
        code = as_python(tool, {"n": 21})
        value = notebook.run_cell(code).result
        assert not history()[-1].observation.content
        assert "The sum is 42." in observation_text(value)

    def test_finds_the_variable(self, notebook):
        """A tool goes by the variable that holds it, not by its own name."""
        notebook.run_cell(DEFINE.replace("{name}", "other_name")).raise_error()
        code = as_python(notebook.user_ns["add"], {"a": 1})
        assert "run_tool(add, {'a': 1})" in code

    def test_without_a_variable_is_by_name(self, notebook):
        """A tool no variable holds is run by the name that `run_tool` finds it by."""
        notebook.run_cell(DEFINE.replace("{name}", "add")).raise_error()
        notebook.user_ns["tools_of_mine"] = [notebook.user_ns.pop("add")]
        code = as_python(notebook.user_ns["tools_of_mine"][0], {"a": 1})
        assert "run_tool('add', {'a': 1})" in code
        assert run(notebook, code).observation.text == "2"

    def test_of_a_runtime_tool_makes_it(self, notebook, tmp_path):
        """A tool that is made by `create` is made again."""
        (tmp_path / "x.txt").write_text("hello\n")
        [editor] = FileEditorTool.create()
        arguments = {"command": "view", "path": str(tmp_path / "x.txt")}
        code = as_python(editor, arguments)
        # Of the package or of its folder
        assert " import FileEditorTool\n" in code
        assert "hello" in run(notebook, code).observation.text
        editor.executor.close()

    def test_marks_secrets(self, notebook):
        """A secret is dots, and a comment says so."""
        notebook.run_cell(DEFINE.replace("{name}", "add")).raise_error()
        code = as_python(notebook.user_ns["add"], {"a": 1, "token": "<secret-hidden>"})
        assert "# <secret-hidden> stands for a secret" in code


class TestOfServersWithAToolOfOneName:
    @pytest.mark.parametrize("write", [as_python, as_cell])
    def test_calls_the_tool_of_its_panel(self, notebook, write):
        """Copied before or after the other server came, and by a tool that was renamed since."""
        for server in ("git", "desk"):
            notebook.user_ns[server] = FakeMCPServer(server)
            notebook.user_ns[server].answer("status", server)
        notebook.run_line_magic("mcp", "connect git git")
        alone = connected.tool("git", "status")
        before = write(alone, {})
        notebook.run_line_magic("mcp", "connect desk desk")
        if write is as_python:
            assert "from toolbench import run_tool\n" in before
            assert "observation = run_tool('git.status', {})" in before
        assert run(notebook, before).observation.text == "git"
        assert run(notebook, write(alone, {})).observation.text == "git"
        code = write(connected.tool("desk", "status"), {})
        assert run(notebook, code).observation.text == "desk"

    def test_calls_the_tool_of_a_client_in_a_variable(self, notebook):
        """By the name that the client has for it now."""
        servers = {name: FakeMCPServer(name) for name in ("git", "desk")}
        for name, server in servers.items():
            server.answer("status", name)
        with create_mcp_tools({"mcpServers": servers}) as client:
            notebook.user_ns["client"] = client
            for name in servers:
                code = as_python(connected.tool(name, "status"), {})
                assert f"client['{name}_status']" in code
                assert run(notebook, code).observation.text == name


class TestInAFile:
    @pytest.mark.parametrize("arguments", [{"a": 1}, ODD])
    def test_runs_as_a_test(self, notebook, tmp_path, arguments):
        """With the cell that defines the tool saved beside it."""
        define = DEFINE.replace("{name}", "add")
        notebook.run_cell(define).raise_error()
        (tmp_path / "my_tools.py").write_text(define)
        code = as_pytest(notebook.user_ns["add"], arguments)
        assert passes(tmp_path, code)

    def test_runs_as_a_test_after_a_call_with_objects(self, notebook, tmp_path):
        """Without an import for them."""
        notebook.run_cell(LIBRARY).raise_error()
        (tmp_path / "my_tools.py").write_text(LIBRARY)
        record = run(notebook, LENDING)
        assert record.observation.text == "Walden to Dee: book until 2026-12-06"
        code = as_pytest(notebook.user_ns["lend"], record.known_arguments)
        assert passes(tmp_path, code)

    @pytest.mark.parametrize("arguments", [{"a": 1}, ODD])
    def test_holds_the_cells_it_needs(self, notebook, tmp_path, arguments):
        """Pasted into an empty folder it runs: with what defines the tool, and nothing else."""
        cells = [
            "%load_ext toolbench",
            "from __future__ import annotations",
            "unused = open('/nowhere')",
            "import math\nfrom toolbench import tool\nLEAST = 0",
            "def at_least(n):\n    return max(n, math.floor(LEAST))",
            "LEAST = 1",
            DEFINE.replace("{name}", "add").replace("a + b", "at_least(a + b)"),
        ]
        for cell in cells:
            notebook.run_cell(cell, store_history=True)
        code = as_pytest(notebook.user_ns["add"], arguments)
        assert "nowhere" not in code
        assert passes(tmp_path, code)

    def test_defines_a_tool_of_a_class(self, notebook, tmp_path):
        """A ToolDefinition of the notebook is made as its cell makes it."""
        notebook.run_cell(CLASS, store_history=True).raise_error()
        assert passes(tmp_path, as_pytest(notebook.user_ns["double"], {"n": 2}))

    @pytest.mark.long
    def test_connects_the_server(self, notebook, tmp_path):
        """A tool of a server that is started runs with that server, started anew."""
        notebook.run_line_magic("mcp", TIME).rows  # noqa: B018
        tool = connected.tool("time", "convert_time")
        arguments = {
            "source_timezone": "UTC",
            "time": "16:30",
            "target_timezone": "Asia/Tokyo",
        }
        code = as_pytest(tool, arguments)
        assert passes(tmp_path, code)

    @pytest.mark.long
    def test_defines_the_server(self, notebook, tmp_path):
        """A server that is an object of the notebook is defined by its cells."""
        notebook.run_cell(SERVER, store_history=True).raise_error()
        client = create_mcp_tools({"mcpServers": {"books": notebook.user_ns["library"]}})
        with client:
            code = as_pytest(client["find"], {"title": "emma"})
        assert passes(tmp_path, code)

    def test_says_which_objects_it_lacks(self):
        """An object that authorizes at the server has no place in a file."""
        library = FastMCP("library")
        library.tool(lambda title: title.upper(), name="find")
        with serving(library) as url:
            entry = {"url": url, "auth": httpx2.BasicAuth("ada", "a-long-secret")}
            with create_mcp_tools({"mcpServers": {"books": entry}}) as client:
                code = as_pytest(client["find"], {"title": "emma"})
        assert "# 'auth' has objects of its notebook: add them here\nSERVERS" in code
        assert "a-long-secret" not in code

    def test_of_a_runtime_tool_runs_alone(self, tmp_path):
        """Nothing has to be saved beside it."""
        (tmp_path / "x.txt").write_text("hello\n")
        [editor] = FileEditorTool.create()
        arguments = {"command": "view", "path": str(tmp_path / "x.txt")}
        code = as_pytest(editor, arguments)
        editor.executor.close()
        assert passes(tmp_path, code)


LENDS = '''
from datetime import datetime
from toolbench import current_run, tool

@tool
def lend(title: str, token: str = "", copies: int = 1) -> dict:
    """Lend a book."""
    if not copies:
        raise ValueError("No copies left.")
    until = current_run().ask("Until when?", {"type": "string"}).value
    if title == "Walden":
        return {"title": title, "at": datetime.now().isoformat()}
    return {"title": title * copies, "until": until, "by": token, "ratio": 1 / 3}
'''


@pytest.mark.usefixtures("no_open_panels")
class TestOfTheRunOnScreen:
    @pytest.fixture
    def code_after(self, notebook, tmp_path):
        """Return the test in the tab Code after a run with some arguments."""
        notebook.run_cell(LENDS).raise_error()
        (tmp_path / "my_tools.py").write_text(LENDS)

        def code_after(arguments, *answers, then=None):
            panel = ToolPanel(notebook.user_ns["lend"], arguments)
            with answering(*answers):
                panel.run()
            finish(panel)
            panel.form.value = then or arguments
            panel.tabs.widget.selected_index = 3
            named(panel.tabs.widget, "Copy as").value = "pytest"
            return named(panel.tabs.widget, "Code").value

        return code_after

    def test_expects_what_was_returned(self, code_after, tmp_path):
        """The questions are answered as they were."""
        code = code_after({"title": 'Em"ma'}, "2027-01-31")
        assert "with answering('2027-01-31'):" in code
        assert "expect = {'result': {" in code and "'until': '2027-01-31'" in code
        assert passes(tmp_path, code)
        with pytest.raises(AssertionError, match=r"until.*2028-01-31"):
            passes(tmp_path, code.replace("answering('2027", "answering('2028"))

    def test_expects_an_error(self, code_after, tmp_path):
        """With its text."""
        code = code_after({"title": "Emma", "copies": 0})
        assert "expect = {'text': 'ValueError: No copies left.', 'error': True}" in code
        assert passes(tmp_path, code)

    def test_takes_any_time(self, code_after, tmp_path):
        """For the one that was returned."""
        code = code_after({"title": "Walden"}, "May")
        assert "'loosen': ['times']" in code
        assert passes(tmp_path, code)
        with pytest.raises(AssertionError, match='"W" was expected, and "Walden"'):
            passes(
                tmp_path, code.replace("'result': {'title': 'Walden'", "'result': {'title': 'W'")
            )

    def test_leaves_out_what_is_secret_too_long_or_of_another_call(self, code_after, tmp_path):
        """What is left out is said, but for another call."""
        secret = code_after({"title": "Emma", "token": "hunter2hunter2"}, "May")
        assert "# The result has a secret" in secret and "hunter2" not in secret
        long = code_after({"title": "Emma", "copies": 2_000}, "May")
        assert "# The result is too long to be here (8,0" in long and passes(tmp_path, long)
        other = code_after({"title": "Emma"}, "May", then={"title": "Persuasion"})
        assert "expect = {}" in other and "May" not in other


def passes(folder: Path, code: str) -> bool:
    (folder / "test_it.py").write_text(code)
    done = run_pytest(folder, "test_it.py")
    assert done.returncode == 0, done.stdout
    return "1 passed" in done.stdout
