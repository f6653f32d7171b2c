"""%mcp connect NAME --dev -- COMMAND: an edit is one step away from its result, in a line and a panel."""

import shlex
import sys

import pytest
from IPython.core.error import UsageError
from patience import eventually
from test_mcp.author import NUMBER, TEXT, Author
from test_widgets.front import click
from test_widgets.panes import choose, open_panel
from test_widgets.tooling import buttons, finish, shown, wait_for_ticker

from toolbench import history
from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.mcp.servers import connected
from toolbench.widgets.explorer import Explorer
from toolbench.widgets.fields.text_box import as_read


@pytest.fixture
def author(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Author(tmp_path)


@pytest.fixture
def connect(shell, mcp, author):
    """Connects the author's server; the words are options."""
    command = shlex.join([sys.executable, "server.py"])
    yield lambda *options: mcp(" ".join(["connect", "lib", *options, "--", command]))
    mcp("disconnect --all")


@pytest.fixture
def run(shell):
    """Runs a line of %tool."""
    return lambda line: shell.run_line_magic("tool", line)


class TestTheLine:
    def test_has_the_new_result_and_one_note(self, connect, run, author, capsys):
        """The same line again, after the file was written; nobody is asked."""
        assert "1 file watched" in repr(connect("--dev"))
        assert run("find q=x").text == "one"
        author.write("two")
        assert run("find q=x").text == "two"
        assert run("find q=x").warnings == []
        [note] = capsys.readouterr().out.splitlines()
        assert note.startswith("server.py changed")
        assert [record.decision for record in history()] == [
            "allowed: you develop its server and make the call"
        ] * 3

    def test_reads_its_words_by_the_new_schema(self, connect, run, author, capsys):
        """A new tool is found too, and the tool that went is missed."""
        connect("--dev")
        author.write("two", tool="seek", code=TEXT)
        assert run("seek code=0012").text == "two"
        assert history()[-1].arguments == {"code": "0012"}
        assert "- additive: seek: the tool is new." in capsys.readouterr().out
        with pytest.raises(ToolNotFoundError):
            run("find q=x")

    def test_says_why_the_server_does_not_start(self, connect, run, mcp, author):
        """In a call and in the list of servers, until the file is mended."""
        connect("--dev")
        author.break_it()
        with pytest.raises(ServerError, match=r"(?s)server.py changed.*SyntaxError"):
            run("find q=x")
        assert "SyntaxError" in repr(mcp("list lib"))
        author.write("three")
        assert run("find q=x").text == "three"

    @pytest.mark.parametrize("starts_at_first", [True, False])
    def test_finds_a_new_tool_when_the_server_is_mended(
        self, connect, run, author, starts_at_first
    ):
        """The line is enough, also if the server did not start at first."""
        if starts_at_first:
            connect("--dev")
        author.break_it()
        with pytest.raises(ServerError, match="SyntaxError"):
            if starts_at_first:
                run("find q=x")
            else:
                connect("--dev")
        author.write("two", tool="seek")
        assert run("seek q=x").text == "two"

    def test_lists_and_reconnects_with_what_changed(self, connect, mcp, author, capsys):
        """A list is of the newest source; a reconnect does not list all of it again."""
        connect("--dev")
        author.write("two", tool="seek")
        assert mcp("list lib").rows[0][0] == "seek"
        assert "- additive: seek: the tool is new." in capsys.readouterr().out
        assert mcp("reconnect lib") is None
        assert "lib was started again.\nIt offers the same as before." in capsys.readouterr().out
        author.write("two", tool="seek", n=NUMBER)
        mcp("reconnect lib")
        said = capsys.readouterr().out
        assert said.startswith("lib was started again.\n- ")
        assert "'n'" in said

    def test_holds_until_it_is_connected_without_it(self, connect, mcp, author, tmp_path, shell):
        """What is saved knows nothing of it, and nothing was approved by it."""
        kept = []
        for options in (["--dev"], ["--dev", "--watch"], []):
            connect(*options)
            mcp(f"save {tmp_path / 'saved.json'} --overwrite")
            kept.append((tmp_path / "saved.json").read_text())
            approved = (tmp_path / "state" / "toolbench" / "approved-servers").exists()
            assert approved == (not options)
        assert kept[0] == kept[1] == kept[2]
        assert connected.session("lib").development is None

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("--watch -- python server.py", "--watch belongs to --dev"),
            ("http://127.0.0.1:9/mcp --dev", "--dev is for a server that a command starts"),
            ("server --dev", "--dev is for a server that a command starts"),
            ("--dev --replay x.jsonl", "leave out --dev"),
            ("--dev --config x.json", "leave out --dev"),
        ],
    )
    def test_is_for_a_command(self, shell, mcp, line, words):
        """One sentence says so otherwise."""
        shell.user_ns["server"] = object()
        with pytest.raises(UsageError, match=words):
            mcp(f"connect lib {line}")


class TestThePanel:
    def test_shows_the_new_result_after_one_click(self, connect, run, author):
        """The click starts the server again; the note is beside the result."""
        connect("--dev")
        panel = run("find")
        panel.form.value = {"q": "x"}
        click(buttons(panel)["Run"])
        finish(panel)
        author.write("two")
        panel.form.value = {"q": "y"}
        click(buttons(panel)["Run"])
        finish(panel)
        assert panel.result.text == "two"
        assert "server.py changed" in shown(panel)
        assert "earlier code" not in shown(panel)

    def test_keeps_its_values_over_a_change_of_the_schema(self, connect, run, author):
        """Without another click: one that no longer fits stays as it was typed, with its error."""
        connect("--dev")
        panel = run("find")
        panel.form.value = {"q": "a word"}
        author.write("two", q=NUMBER, more=TEXT)
        click(buttons(panel)["Run"])
        finish(panel)
        assert set(panel.tool.input_schema["properties"]) == {"q", "more"}
        assert as_read(panel.form.typed) == {"q": "a word"}
        assert [path for path, _ in panel.form.errors] == [("q",)]
        assert "Reload" not in buttons(panel)
        author.write("three", q=TEXT)
        panel.controls.expect_click()
        click(buttons(panel)["Run"])
        # The new form is there a moment before its values
        eventually(lambda: panel.form.value == {"q": "a word"})
        assert not panel.form.errors
        author.write("four", more=TEXT)
        click(buttons(panel)["Run"])
        finish(panel)
        assert panel.result.text == "four"
        assert panel.form.value == {"q": "a word"}

    def test_follows_a_watched_server_without_a_click(self, connect, run, author):
        """The form has the new field soon, with the values as they were."""
        connect("--dev", "--watch")
        panel = run("find")
        panel.form.value = {"q": "x"}
        author.write("two", q=TEXT, more=TEXT)
        eventually(lambda: "more" in panel.tool.input_schema["properties"])
        eventually(lambda: panel.form.value == {"q": "x"})
        click(buttons(panel)["Run"])
        finish(panel)
        assert panel.result.text == "two"
        assert "server.py changed" in shown(panel)

    def test_in_the_explorer_keeps_its_values_too(self, connect, run, author):
        """A line that starts the server again is enough."""
        connect("--dev")
        explorer = Explorer(connected.session("lib").client, "lib")
        pane = explorer.page.lists.pane
        choose(pane, "find")
        panel = open_panel(pane)
        panel.form.value = {"q": "x"}
        author.write("two", q=TEXT, more=TEXT)
        run("find q=x")
        eventually(lambda: "more" in panel.tool.input_schema["properties"])
        wait_for_ticker()
        eventually(lambda: panel.form.value == {"q": "x"})
        assert "Reload" not in buttons(panel)
        explorer.close()
