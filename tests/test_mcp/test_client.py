"""Several servers as one collection of tools."""

import gc
import signal
import sys
import threading
from contextlib import contextmanager

import pytest
from patience import PATIENCE, when

from test_mcp.peers import (
    LIGHT,
    children,
    eventually,
    is_running,
    light,
    misbehaving,
)
from toolbench import mcp
from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.mcp import MCPClient, create_mcp_tools
from toolbench.testing import FakeMCPServer


@contextmanager
def interrupt_at_a_new_process():
    """Kernel > Interrupt as soon as the block has started a process."""
    before, main = children(), threading.main_thread().ident
    # It would be lost in a callback of the collector
    gc.disable()
    try:
        with when(lambda: children() - before, lambda: signal.pthread_kill(main, signal.SIGINT)):
            yield
    finally:
        gc.enable()


class TestCreate:
    def test_gives_the_tools_of_a_configuration(self):
        """FastMCP's format in, a closed-at-the-end sequence of tools out."""
        config = {"mcpServers": {"a": light("a", "x", "y")}}
        with create_mcp_tools(config, timeout=PATIENCE) as client:
            assert client[0].name == "x"
            assert client["y"]({}).text == "a"
            assert [tool.name for tool in client] == [t.name for t in client.tools]
            assert len(client) == len(client.tools) == 2
            pid = client.servers["a"].connection.pid
            assert is_running(pid)
        assert not is_running(pid)
        assert client.servers["a"].status == "closed"
        client.sync_close()

    def test_one_dead_server_hides_no_other(self):
        """The living one works; the dead one says what is wrong with it."""
        config = {"dead": {"command": "no-such-command"}, "a": light("a", "x")}
        with create_mcp_tools(config, timeout=PATIENCE) as client:
            assert client["x"]({}).text == "a"
            assert client.servers["dead"].status == "failed"
            assert "command not found: 'no-such-command'" in client.servers["dead"].error

    def test_raises_if_nobody_answers(self):
        """A collection without any server is a mistake, and every reason is told."""
        config = {"a": {"command": "no-such-a"}, "b": {"command": "${NOT_SET}"}}
        with pytest.raises(ServerError) as caught:
            create_mcp_tools(config)
        assert "'no-such-a'" in str(caught.value)
        assert "'NOT_SET'" in str(caught.value)


class TestNames:
    def test_are_the_servers_own(self, client):
        """With one server of a name, nothing is renamed."""
        client.connect("a", light("a", "x", "y"))
        client.connect("b", light("b", "z"))
        assert [t.name for t in client] == ["x", "y", "z"]

    def test_that_clash_get_their_server_in_front(self, client):
        """Only what comes later is renamed; the server is still asked for its own name."""
        client.connect("a", light("a", "x", "same"))
        client.connect("b", light("b", "same"))
        assert [t.name for t in client] == ["x", "same", "b_same"]
        assert client["b_same"]({}).text == client["b.same"]({}).text == "b"

    def test_stay_until_a_server_is_forgotten(self, client):
        """A name goes to no other server without a word, whatever becomes of its own."""
        client.connect("a", light("a", "same"))
        client.connect("b", light("b", "same"))
        client.disconnect("a")
        assert [t.name for t in client] == ["b_same"]
        with pytest.raises(ToolNotFoundError, match=r"'b\.same'.*reconnect a"):
            client["same"]
        with pytest.raises(ServerError):
            client.connect("a", {"command": "no-such-command-at-all"})
        assert [t.name for t in client] == ["b_same"]
        client.connect("a", light("a", "same"))
        assert client["same"]({}).text == "a"
        client.forget("a")
        assert [t.name for t in client] == ["same"]
        client.connect("a", light("a", "same"))
        assert [t.name for t in client] == ["same", "a_same"]

    def test_are_not_of_what_failed_or_was_added_later(self, client):
        """The tools that were there first keep their names, in whichever order the servers were named."""
        with pytest.raises(ServerError):
            client.connect("a", {"command": "no-such-command-at-all"})
        server = FakeMCPServer("b")
        server.answer("same", "b")
        client.connect("b", server)
        client.connect("a", light("a", "same", "more"))
        assert [t.name for t in client] == ["a_same", "more", "same"]
        for name in ("a_same", "more"):
            server.answer(name, "b")
        client.servers["b"].refresh()
        assert [t.name for t in client] == ["a_same", "more", "same", "b_a_same", "b_more"]

    def test_that_clash_in_one_configuration_all_get_their_server_in_front(self, client):
        """Also where one of them was connected before: as it will be in the next session."""
        entries = {name: light(name, "same") for name in ("a", "b")}
        client.connect("a", entries["a"])
        client.add({"mcpServers": entries})
        client.connect("c", light("c", "same"))
        assert [t.name for t in client] == ["a_same", "b_same", "c_same"]
        with pytest.raises(ToolNotFoundError, match=r"'a\.same' and 'b\.same' and 'c\.same'"):
            client["same"]

    def test_of_a_disconnected_server_come_back_with_it(self, client):
        """Until then an error says how; a new server of the name takes its place."""
        client.connect("a", light("a", "x"))
        client.disconnect("a")
        assert (list(client), list(client.servers)) == ([], [])
        with pytest.raises(ToolNotFoundError, match="'a' is disconnected"):
            client.server("a")
        with pytest.raises(ToolNotFoundError, match=r"'a', which is disconnected.*'a'"):
            client.tool("a_x")
        assert client.reconnect("a") is client.servers["a"]
        assert client["x"]({}).text == "a"
        client.disconnect("a")
        client.connect("a", light("a", "y"))
        assert [t.name for t in client] == ["y"]
        assert not client.former

    def test_that_clash_are_named_beside_those_of_a_disconnected_server(self, client):
        """The name that a tool of several servers had says what it is called now."""
        servers = ("old", "reports", "parcels")
        client.add({"mcpServers": {name: light(name, "search") for name in servers}})
        names = r"There are 'old\.search' and 'reports\.search'\."
        client.disconnect("parcels")
        with pytest.raises(ToolNotFoundError, match=rf"{names} Another .* 'parcels'"):
            client.tool("search")
        client.forget("parcels")
        with pytest.raises(ToolNotFoundError, match=f"{names}$"):
            client.tool("search")

    def test_are_never_two_tools(self, client):
        """A tool whose own name is what another would get keeps it: the other gets a longer one."""
        servers = {"git": "status", "svn": "status", "x": "git_status"}
        client.add({"mcpServers": {name: light(name, tool) for name, tool in servers.items()}})
        names = [t.name for t in client]
        assert names == ["git_git_status", "svn_status", "git_status"]
        assert [client[name]({}).text for name in names] == ["git", "svn", "x"]

    def test_that_are_unknown_are_told_with_the_nearest(self, client):
        """A wrong name says which are near."""
        client.connect("a", light("a", "search"))
        with pytest.raises(ToolNotFoundError, match="Did you mean 'search'"):
            client["serach"]
        with pytest.raises(ToolNotFoundError, match="No server 'b'"):
            client.server("b")

    def test_of_a_server_that_is_not_there_are_told_with_those_that_are(self, client):
        """Also those that did not connect, which are not called connected."""
        client.connect("good", light("good", "x"))
        with pytest.raises(ServerError):
            client.connect("dead", misbehaving("exit-at-start"))
        there = r"Servers: good \(connected\), dead \(failed\)\."
        with pytest.raises(ToolNotFoundError, match=there):
            client.server("zzz")


class TestNewTools:
    @pytest.mark.parametrize("era", ["modern", "legacy"])
    @pytest.mark.parametrize("earlier", [[], ["a"]])
    def test_are_told_to_whoever_asked(self, era, earlier):
        """What a server offers later is told, as tools that can be called there and then."""
        server, offers = FakeMCPServer("shop", era=era), []
        for name in earlier:
            server.answer(name, name)

        def hear(tools):
            offers.extend((tool.name, tool({}).text) for tool in tools)

        with create_mcp_tools(server, on_tools_changed=hear) as client:
            assert len(client) == len(earlier)
            server.answer("late", "here")
            eventually(lambda: offers == [("late", "here")])
            server.remove("late")
            eventually(lambda: len(client) == len(earlier))
        assert offers == [("late", "here")]

    @pytest.mark.parametrize("args", [(), ("--modern",)], ids=["legacy", "modern"])
    def test_of_a_process_are_told(self, args):
        """A server in a process of its own, which swaps its tools while one is called."""
        new_tools = []
        config = {"calls": misbehaving("calls", *args)}
        with create_mcp_tools(config, on_tools_changed=new_tools.extend) as client:
            client["change_tools"]({})
            eventually(lambda: [tool.name for tool in new_tools] == ["added_0"])
            change = client.servers["calls"].tools.last_change
            assert (change.added, change.removed) == (("added_0",), ("empty",))
            assert client["added_0"] == new_tools[0]

    def test_survive_whoever_fails_on_them(self, caplog):
        """A callback that raises is logged, and the tools are there."""
        server, called = FakeMCPServer("shop"), threading.Event()

        def fail(tools):
            called.set()
            raise ValueError("no")

        with create_mcp_tools(server, on_tools_changed=fail) as client:
            server.answer("late", "here")
            assert called.wait(PATIENCE)
            eventually(lambda: "on_tools_changed failed" in caplog.text)
            assert client["late"]({}).text == "here"


def test_a_configuration_without_servers_is_an_empty_client():
    """Nothing to connect is no mistake: servers may be added later."""
    with create_mcp_tools({"mcpServers": {}}) as client:
        assert (list(client), len(client), client.servers) == ([], 0, {})
        client.connect("late", FakeMCPServer("late"))
        assert list(client.servers) == ["late"]


class TestConnect:
    def test_again_replaces_the_session(self, client):
        """A cell that connects can be run twice: the old process ends."""
        first = client.connect("a", light("a", "x"))
        pid = first.connection.pid
        second = client.connect("a", light("a", "x"))
        assert not is_running(pid)
        assert first.status == "closed"
        assert client.servers == {"a": second}

    def test_with_another_target_keeps_the_old_until_the_new_is_there(self, client):
        """A command that does not start costs nothing: the error says that the old one goes on."""
        first = client.connect("a", light("a", "x"))
        pid = first.connection.pid
        with pytest.raises(ServerError) as caught:
            client.connect("a", {"command": "no-such-program"})
        assert "command not found" in str(caught.value)
        assert "'a' from before is still connected" in str(caught.value)
        assert client.servers == {"a": first}
        assert first.connection.pid == pid
        assert client["x"]({}).text == "a"
        second = client.connect("a", light("b", "x"))
        assert client["x"]({}).text == "b"
        assert client.servers == {"a": second}
        assert (first.status, is_running(pid)) == ("closed", False)

    def test_of_some_keeps_the_old_of_those_that_fail(self, client, tmp_path):
        """Also in a configuration; what is returned are the new ones, with their errors."""
        first = client.connect("a", light("a", "x"))
        config = {"a": {"command": "no-such-program"}, "b": light("b", "y")}
        new, b = client.add(config, record=tmp_path / "r.jsonl")
        assert client.servers == {"a": first, "b": b}
        assert "command not found" in new.error
        with pytest.raises(ServerError, match="still connected"):
            client.add({"a": config["a"]})
        assert [tool({}).text for tool in client] == ["a", "b"]

    def test_that_fails_leaves_the_recording_for_the_next(self, client, tmp_path):
        """A session without a place writes no more: the next one begins a new file."""
        file = tmp_path / "r.jsonl"
        client.connect("a", light("a", "x"))
        with pytest.raises(ServerError):
            client.connect("a", {"command": "no-such-program"}, record=file)
        client.connect("a", light("b", "x"), record=file)
        assert "no-such-program" not in file.read_text()
        assert file.with_name("r.jsonl~").exists()

    def test_that_is_interrupted_keeps_the_old(self, client):
        """The old server is there; of the new one nothing is left."""
        # Where it is missing, the test is skipped before it waits for a process
        silent = misbehaving("never-init")
        first = client.connect("a", light("a", "x"))
        before = children()
        with interrupt_at_a_new_process(), pytest.raises(KeyboardInterrupt):
            client.connect("a", silent)
        assert client.servers == {"a": first}
        eventually(lambda: children() <= before)
        assert client["x"]({}).text == "a"

    def test_keeps_what_failed_to_look_at(self, client):
        """The session that could not be opened is there, with its stderr."""
        with pytest.raises(ServerError):
            client.connect("bad", misbehaving("exit-at-start"))
        bad = client.servers["bad"]
        assert "missing API key" in bad.stderr.text
        assert (bad.instructions, bad.capabilities, bad.server_info) == ("", {}, {})

    def test_only_some_of_a_file(self, client, tmp_path):
        """`only` picks servers out of a configuration, and knows their names."""
        config = {"a": light("a", "x"), "b": {"command": "never-started"}}
        (session,) = client.add(config, only=["a"])
        assert session.name == "a"
        with pytest.raises(ToolNotFoundError, match=r"no server 'aa'\. Did you mean 'a'"):
            client.add(config, only=["aa"])

    def test_none_that_is_disabled(self, client):
        """Such a server is skipped; if it was asked for, or there is no other, that is said."""
        off = {"command": "never-started", "disabled": True}
        (session,) = client.add({"a": light("a", "x"), "off": off})
        assert session.name == "a"
        for only in (None, ["off"]):
            with pytest.raises(ServerError, match=r"Disabled in the conf.*: 'off'\."):
                client.add({"off": off}, only=only)
        with pytest.raises(ServerError, match="'off'"):
            client.add({"a": light("a", "x"), "off": off}, only=["a", "off"])

    def test_side_by_side(self, client, tmp_path):
        """Each of these servers starts only once the other one has: they start together."""
        a, b = str(tmp_path / "a"), str(tmp_path / "b")
        client.add(
            {
                name: {
                    "command": sys.executable,
                    "args": [str(LIGHT), "--after", there, here, name, "x"],
                }
                for name, there, here in (("a", a, b), ("b", b, a))
            }
        )
        assert {s.status for s in client.servers.values()} == {"connected"}


def test_a_session_is_found_by_the_name_of_its_server():
    """The newest that is connected, whoever connected it; else the error says which there are."""
    with MCPClient() as first, MCPClient() as second:
        first.connect("lib", FakeMCPServer("lib"))
        newest = second.connect("lib", FakeMCPServer("lib"))
        assert mcp.session("lib") is newest
        second.disconnect("lib")
        assert mcp.session("lib") is first.server("lib")
        with pytest.raises(ToolNotFoundError, match=r"No server 'lip' is connected\. Did you mean"):
            mcp.session("lip")
    with pytest.raises(ToolNotFoundError, match="%mcp connect connects one"):
        mcp.session("lib")
