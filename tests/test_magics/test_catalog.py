import pytest
from IPython.core.error import UsageError

from toolbench import Action, Observation, ToolDefinition, history, run_tool, tool
from toolbench.core.registry import ToolRegistry
from toolbench.errors import ToolNotFoundError
from toolbench.magics.catalog import Catalog
from toolbench.mcp import create_mcp_tools
from toolbench.runs.parallel import run_tools
from toolbench.testing import FakeMCPServer


@pytest.fixture
def empty():
    """The catalogue of a notebook without tools."""
    return Catalog({}, lambda: None, ToolRegistry())


class TestFind:
    def test_says_what_registers_a_runtime_tool(self, empty):
        """The runtime tools are one call away."""
        with pytest.raises(ToolNotFoundError, match="register_default_tools"):
            empty.find("web_read")

    def test_says_where_the_history_is(self, empty):
        """`%tool history` is what people try for the runs; they are no tool."""
        with pytest.raises(ToolNotFoundError, match="%tools history shows the last"):
            empty.find("history")

    def test_says_where_to_look_for_any_other(self, empty):
        """A name nobody knows leads to the list."""
        with pytest.raises(ToolNotFoundError, match="%tools lists them all"):
            empty.find("nope")


class TestFindAfterARestart:
    def test_says_that_a_cell_has_to_run_again(self, empty):
        """A new kernel knows no tool; a newcomer does not know that."""
        with pytest.raises(ToolNotFoundError) as error:
            empty.find("nope")
        assert "After a restart of the kernel, run the cell that defines it again." in (
            str(error.value)
        )

    def test_knows_the_tools_of_earlier_sessions(self, shell, tmp_path):
        """Their runs are in the file that `persist` loads."""
        history().persist(tmp_path / "runs.jsonl")
        shell.run_line_magic("tool", "add a=1")
        number = history()[-1].id
        history().clear()
        del shell.user_ns["add"]
        history().persist(tmp_path / "runs.jsonl")
        with pytest.raises(ToolNotFoundError) as error:
            shell.run_line_magic("tool", "add a=1")
        assert str(error.value) == (
            f"There is no tool called 'add'. It ran before (run {number}), and is gone: run the "
            "cell that defines it again."
        )

    def test_names_the_server_of_a_tool(self, empty):
        """By the name of the tool, the name with the server in front, and the address."""
        server = FakeMCPServer("shop")
        server.answer("find", "Emma")
        with create_mcp_tools(server) as client:
            run_tool(client["find"], {})
        for name in ("find", "shop_find", "shop.find"):
            with pytest.raises(ToolNotFoundError, match="its server 'shop' again"):
                empty.find(name)
        history().clear()


class TestClashes:
    def test_are_told_below_the_list(self, shell, registered):
        """A tool whose name another one has: which of them is meant, and what the other is."""
        source = """
from toolbench import Action, ToolDefinition, register_tool
class AddTool(ToolDefinition):
    @classmethod
    def create(cls, conv_state=None):
        return [cls(name="add", action_type=Action)]
register_tool("add", AddTool)
"""
        registered("add")
        shell.run_cell(source).raise_error()
        note = (
            "add is the tool of a function (notebook), not the one of the class AddTool (registry)."
        )
        listing = shell.run_line_magic("tools", "")
        assert listing.notes == (note,)
        assert note in listing._repr_mimebundle_()["text/html"]
        assert shell.run_line_magic("tools", "greet").notes == ()

    def test_name_the_way_to_a_tool_of_a_server(self):
        """The tool of a server has an address as well."""

        @tool
        def add(a: int) -> int:
            """Add."""
            return a

        server = FakeMCPServer("math")
        server.answer("add", "3")
        with create_mcp_tools(server) as client:
            catalog = Catalog({"add": add}, lambda: client, ToolRegistry())
            [note] = catalog.clashes(catalog.entries("add"))
        assert note.endswith("of the server 'math' (math.add).")

    def test_a_closed_client_hides_no_tool_of_another_server(self, shell, mcp):
        """Its own tool is found by its address, and by its name once nothing else has that."""
        source = """
from toolbench.mcp import create_mcp_tools
from toolbench.testing import FakeMCPServer
shop, store = FakeMCPServer("shop"), FakeMCPServer("store")
shop.answer("price", "3")
store.answer("price", "4")
with create_mcp_tools(shop) as closed:
    pass
"""
        shell.run_cell(source).raise_error()
        mcp("connect store store")
        listing = shell.run_line_magic("tools", "price")
        assert [row[1] for row in listing.rows] == ["mcp:store"] and listing.notes == ()
        assert run_tool("price", {}).text == "4"
        assert "disconnected" in run_tool("shop.price", {}).text
        mcp("disconnect store")
        listing = shell.run_line_magic("tools", "price")
        assert [row[1] for row in listing.rows] == ["mcp:shop"]


class TestRunTool:
    def test_finds_by_name_what_the_magic_finds(self, shell):
        """`%tool add` and `run_tool("add")` mean the same tool, registered or not."""
        assert run_tool("add", a=1, b=2).text == "3"
        shell.run_cell("@tool\ndef triple(n: int) -> int:\n    'Triple.'\n    return 3 * n")
        assert run_tool("triple", n=2).text == "6"
        assert run_tools([("triple", {"n": 3})])[0].text == "9"

    def test_finds_only_registered_tools_once_the_extension_is_out(self, shell):
        """Without a notebook there is only the registry."""
        shell.extension_manager.unload_extension("toolbench")
        try:
            with pytest.raises(ToolNotFoundError, match="is registered"):
                run_tool("add", a=1, b=2)
        finally:
            shell.extension_manager.load_extension("toolbench")


class TestFullName:
    def test_finds_a_server_s_tool(self):
        """`server_tool` is a name of it, whether another server has a tool of that name or not."""
        server = FakeMCPServer("shop")
        server.answer("find", "a hat")
        with create_mcp_tools(server) as client:
            catalog = Catalog({}, lambda: client, ToolRegistry())
            assert catalog.find("shop_find").name == "find"
            assert client["shop_find"].name == "find"
            assert catalog.find("find") is not None
            in_a_variable = Catalog({"client": client}, lambda: None, ToolRegistry())
            assert in_a_variable.find("shop_find").name == "find"

    def test_is_not_asked_of_a_tool_from_elsewhere(self):
        """A tool whose class names a source of its own has no server; a wrong name is one sentence."""

        class Local(ToolDefinition[Action, Observation]):
            source = "local"

        catalog = Catalog({"local": Local()}, lambda: None, ToolRegistry())
        assert catalog.find("local").source == "local"
        with pytest.raises(ToolNotFoundError, match="no tool called 'shop_find'"):
            catalog.find("shop_find")


class TestTools:
    def test_means_the_tool_of_that_name_alone(self, shell):
        """A name may be a part of others, which were not meant."""
        shell.run_cell("@tool\ndef add_up(n: int) -> int:\n    'Add up.'\n    return n")
        assert {f.tool for f in shell.run_line_magic("tools", "lint add")} == {"add"}
        names = {f.tool for f in shell.run_line_magic("tools", "lint ad")}
        assert names == {"add", "add_up"}


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
