import pytest
from IPython.core.error import UsageError

from toolbench.core.registry import ToolRegistry
from toolbench.errors import ToolNotFoundError
from toolbench.magics.catalog import Catalog


@pytest.fixture
def empty():
    """The catalogue of a notebook without tools."""
    return Catalog({}, lambda: None, ToolRegistry())


class TestFind:
    def test_says_what_registers_a_runtime_tool(self, empty):
        """The runtime tools are one call away."""
        with pytest.raises(ToolNotFoundError, match="register_default_tools"):
            empty.find("web_read")

    def test_says_where_to_look_for_any_other(self, empty):
        """A name nobody knows leads to the list."""
        with pytest.raises(ToolNotFoundError, match="%tools lists them all"):
            empty.find("nope")


class TestTools:
    def test_means_the_tool_of_that_name_alone(self, shell):
        """A name may be a part of others, which were not meant."""
        shell.run_cell("@tool\ndef add_up(n: int) -> int:\n    'Add up.'\n    return n")
        assert {f.tool for f in shell.run_line_magic("tools", "add --lint")} == {"add"}
        found = {f.tool for f in shell.run_line_magic("tools", "ad --lint")}
        assert found == {"add", "add_up"}


class TestSources:
    def test_that_are_none_are_named(self, shell):
        """A filter that fits nothing by mistake says what it takes."""
        with pytest.raises(UsageError) as caught:
            shell.run_line_magic("tools", "--source nope")
        assert str(caught.value) == (
            "No tools come from 'nope': --source takes notebook or registry or mcp."
        )

    def test_may_have_no_tools(self, shell):
        """No server is connected: that is no mistake."""
        assert len(shell.run_line_magic("tools", "--source mcp")) == 0
