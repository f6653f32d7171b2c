"""%mcp serve: the tools of the notebook, for agents."""

import threading

import httpx2
import pytest
from IPython.core.error import UsageError
from test_serving.clients import call, post

from toolbench.errors import ToolNotFoundError
from toolbench.extension import unload_ipython_extension
from toolbench.serving.access.connection_file import folder

RUNTIME = "from toolbench.tools import GlobTool\n[files] = GlobTool.create(None)"


class TestServe:
    def test_serves_what_the_notebook_defines(self, shell, mcp):
        """Its own tools alone: a runtime tool in a variable is served by name only."""
        shell.run_cell(RUNTIME).raise_error()
        served = mcp("serve")
        assert set(served.tools) == {"add", "greet", "erase", "fail"}
        result = call(served, "add", {"a": 1})
        assert result.content[0].text == "2"
        for names in ("glob add", "glob, add", "glob,add"):
            assert set(mcp(f"serve {names}").tools) == {"glob", "add"}

    def test_a_cell_that_runs_again_is_served_anew(self, shell, mcp):
        """And a tool that a later cell defines is served too."""
        served = mcp("serve")
        cell = "@tool\ndef add(a: int) -> str:\n    'Add.'\n    return f'{a}!'"
        shell.run_cell(cell).raise_error()
        shell.run_cell(cell.replace("add", "later")).raise_error()
        assert call(served, "add", {"a": 1}).content[0].text == "1!"
        assert call(served, "later", {"a": 2}).content[0].text == "2!"

    def test_again_takes_the_place_of_the_first(self, mcp):
        """One server a notebook."""
        first = mcp("serve add")
        second = mcp("serve greet")
        assert first.is_closed
        assert list(second.tools) == ["greet"]

    def test_is_stopped(self, mcp, capsys):
        """And says so, once."""
        served = mcp("serve")
        mcp("serve --stop")
        assert served.is_closed
        assert "'notebook' is not served any more" in capsys.readouterr().out
        with pytest.raises(UsageError, match="Nothing is served"):
            mcp("serve --stop")

    def test_ends_with_the_extension(self, shell, mcp):
        """No thread, socket or file stays."""
        served = mcp("serve")
        [path] = folder().glob("notebook~*")
        unload_ipython_extension(shell)
        assert served.is_closed
        assert not path.exists()
        names = [thread.name for thread in threading.enumerate()]
        assert "toolbench-serve-notebook" not in names
        with pytest.raises(httpx2.ConnectError):
            post(served)

    def test_says_what_is_wrong(self, shell, mcp):
        """In one line."""
        with pytest.raises(ToolNotFoundError):
            mcp("serve no_such_tool")
        with pytest.raises(UsageError, match="leave out add"):
            mcp("serve --stop add")
        shell.run_cell("del add, greet, erase, fail").raise_error()
        with pytest.raises(UsageError, match="defines no tool yet"):
            mcp("serve")

    def test_shows_how_clients_get_there(self, shell, mcp):
        """And not the token."""
        served = mcp("serve")
        data, _ = shell.display_formatter.format(served)
        assert "toolbench connect notebook" in data["text/plain"]
        assert served.token not in str(data)
