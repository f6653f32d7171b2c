"""%mcp on a real server over stdio."""

import json
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from html import unescape
from json import dumps
from pathlib import Path
from shutil import copy
from threading import Barrier, BrokenBarrierError, Thread
from types import SimpleNamespace

import pytest
from fastmcp import FastMCP
from IPython.core.error import UsageError
from patience import eventually
from test_mcp.peers import LIGHT, children, is_running, light, misbehaving, scripted
from test_mcp.servers.good import mcp as good_server

from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.magics.mcp_magics import config_text
from toolbench.mcp.config.reader import read_entry
from toolbench.mcp.servers import connected
from toolbench.testing import FakeMCPServer

CONNECT = "connect time -- python -m mcp_server_time --local-timezone=UTC"


def connecting(entry, name="one"):
    """The line that connects *entry* as the server *name*."""
    return f"connect {name} -- " + shlex.join([entry["command"], *entry["args"]])


class TestServers:
    @pytest.mark.slow
    def test_are_connected_listed_and_disconnected(self, shell, mcp):
        """A connected server's tools are tools like any other, until it is disconnected.

        `python` is the kernel's: a server installed beside toolbench is found.
        """
        listing = mcp(CONNECT)
        python = connected.session("time").entry.command
        assert python == str(Path(sys.executable).parent / "python")
        assert [row[0] for row in listing.rows] == ["get_current_time", "convert_time"]
        assert [row[:2] for row in mcp("list").rows] == [("time", "connected")]
        sources = dict(row[:2] for row in shell.run_line_magic("tools", "").rows)
        assert sources["convert_time"] == "mcp:time"

        arguments = "source_timezone=UTC time=16:30 target_timezone=Asia/Tokyo"
        observation = shell.run_line_magic("tool", f"convert_time {arguments}")
        assert observation.data["time_difference"] == "+9.0h"
        assert len(mcp("log time --traffic")) > 0

        mcp("disconnect --all")
        assert [row[:2] for row in mcp("list").rows] == [("time", "disconnected")]
        with pytest.raises(ToolNotFoundError):
            shell.run_line_magic("tool", f"convert_time {arguments}")

    def test_that_were_disconnected_can_be_connected_again(self, shell, mcp, capsys):
        """Each way that needs the server says how, until it is connected again."""
        shell.user_ns["server"] = FastMCP("ping")
        shell.user_ns["server"].tool(lambda: "pong", name="ping")
        mcp("connect p server")
        mcp("disconnect p")
        assert capsys.readouterr().out == (
            "Disconnected p with its 1 tool. %mcp reconnect p brings it back.\n"
        )
        for magic, line in (("tool", "ping"), ("tool", "p_ping"), ("mcp", "list p")):
            with pytest.raises(ToolNotFoundError, match="%mcp reconnect p, or") as error:
                shell.run_line_magic(magic, line)
            assert "disconnected" in str(error.value)
        mcp("reconnect p")
        assert shell.run_line_magic("tool", "ping --yes").text == "pong"
        mcp("disconnect p")
        (row,) = mcp("list").rows
        assert (row[0], row[1], row[-1]) == (
            *("p", "disconnected", "%mcp reconnect p connects it"),
        )
        mcp("connect p")
        assert shell.run_line_magic("tool", "ping --yes").text == "pong"
        mcp("disconnect --all")
        mcp("disconnect --all")
        assert capsys.readouterr().out.splitlines()[-1] == "No server was connected."

    def test_that_are_forgotten_are_as_if_never_there(self, shell, mcp, capsys):
        """Whether they were connected or disconnected before."""
        for name in ("p", "q"):
            shell.user_ns[name] = FakeMCPServer(name)
            mcp(f"connect {name} {name}")
        mcp("disconnect p")
        capsys.readouterr()
        mcp("disconnect p --forget")
        mcp("disconnect --all --forget")
        assert capsys.readouterr().out == ("Forgot p.\nForgot q.\n")
        assert not mcp("list").rows
        with pytest.raises(ToolNotFoundError, match="No server 'p'"):
            mcp("reconnect p")
        with pytest.raises(UsageError, match="Where is 'p'"):
            mcp("connect p")

    def test_that_did_not_connect_are_not_saved(self, mcp, tmp_path, capsys):
        """The person is told which they are."""
        mcp(connecting(light("good", "x"), "good"))
        with pytest.raises(ServerError):
            mcp("connect bad -- no-such-program")
        capsys.readouterr()
        mcp(f"save {tmp_path / 'mcp.json'}")
        assert [*json.loads((tmp_path / "mcp.json").read_text())["mcpServers"]] == ["good"]
        out = capsys.readouterr().out
        assert "Left out, because they did not connect: bad." in out

    def test_are_asked_for_their_log_from_a_level_on(self, shell, mcp):
        """`%mcp log NAME --level LEVEL` shows the log, and later requests say the level."""
        shell.user_ns["server"] = good_server
        mcp("connect good server")
        mcp("log good --level warning")
        mcp("resources good")
        assert mcp("log good --traffic logLevel").rows
        with pytest.raises(UsageError, match="invalid choice: 'loud'"):
            mcp("log good --level loud")
        with pytest.raises(UsageError):
            mcp("log good --stderr --level warning")

    def test_are_asked_for_a_resource_by_its_address(self, shell, mcp):
        """`%mcp read NAME URI` shows a resource, which need not be listed."""
        shell.user_ns["server"] = good_server
        mcp("connect good server")
        assert mcp("read good good://readme").text == "Read me."
        with pytest.raises(ServerError, match="did not read 'no://such'"):
            mcp("read good no://such")

    def test_are_saved_to_be_connected_again(self, shell, mcp, tmp_path, capsys):
        """The file of `save` connects the same servers, and says who cannot be in it."""
        shell.user_ns["library"] = FastMCP("library")
        mcp(connecting(light("time", "x"), "time"))
        mcp("connect books library")
        file = tmp_path / "mcp.json"
        mcp(f"save {shlex.quote(str(file))}")
        text = capsys.readouterr().out
        assert "It has 1 server." in text
        assert "in this session only: books" in text
        mcp("disconnect --all --forget")
        mcp(f"connect --config {shlex.quote(str(file))} --approve")
        assert [row[:2] for row in mcp("list").rows] == [("time", "connected")]

    def test_are_saved_to_be_connected_from_another_folder(self, shell, mcp, tmp_path, monkeypatch):
        """A relative path of a server stays where it was, and the older protocol is used again."""
        (tmp_path / "servers").mkdir()
        copy(LIGHT, tmp_path / "servers" / "ping.py")
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path)
        mcp("connect ping --mode legacy -- python servers/ping.py pong ping")
        monkeypatch.chdir("elsewhere")
        mcp("save mcp.json")
        mcp("disconnect --all")
        mcp("connect --config mcp.json --approve")
        assert [row[:2] for row in mcp("list").rows] == [("ping", "connected")]
        assert connected.session("ping").era == "legacy"
        assert shell.run_line_magic("tool", "ping {}").text == "pong"

    def test_are_saved_without_objects_that_authorize_and_it_says_so(self):
        """The person has to add them."""
        auth = {"client_id": "robot", "token_storage": object()}
        entry = read_entry({"url": "https://a.example/mcp", "auth": auth})
        session = SimpleNamespace(name="one", portable_entry=entry, protocol_version="1")
        text, notes = config_text([session])
        assert '"client_id": "robot"' in text
        assert notes[-1] == "The objects in 'auth' are not in the file: add them to one."

    @pytest.mark.parametrize("written", ["library", "${library}"])
    def test_may_be_objects_of_the_notebook(self, shell, mcp, written):
        """A FastMCP object is connected by its name, as a URL would be."""
        library = FastMCP("library")
        library.tool(lambda title: title.upper(), name="find", description="Find.")
        shell.user_ns["library"] = library
        assert [row[0] for row in mcp(f"connect books {written}").rows] == ["find"]
        assert shell.run_line_magic("tool", "find title=emma").text == "EMMA"

    @pytest.mark.parametrize("line", ["books library --mode legacy", "books --mode legacy library"])
    def test_may_be_followed_by_options(self, shell, mcp, line):
        """An option may stand behind the object, before it, or anywhere."""
        library = FastMCP("library")
        library.tool(lambda title: title.upper(), name="find", description="Find.")
        shell.user_ns["library"] = library
        assert [row[0] for row in mcp(f"connect {line}").rows] == ["find"]

    @pytest.mark.parametrize("variable", ["GREETING", "GREETING=hello"])
    def test_are_given_environment_variables(self, shell, mcp, monkeypatch, variable):
        """A server gets those that are named and no others; a value need not be typed."""
        monkeypatch.setenv("GREETING", "hello")
        monkeypatch.setenv("OTHER", "secret")
        source = (
            "import os, runpy, sys\n"
            "sys.argv[1:] = [f\"{os.environ['GREETING']} {'OTHER' in os.environ}\", 'say']\n"
            f"runpy.run_path({str(LIGHT)!r})"
        )
        mcp(f"connect env --env {variable} -- python -c {shlex.quote(source)}")
        assert shell.run_line_magic("tool", "say {}").text == "hello False"

    def test_may_be_in_a_module(self, mcp, tmp_path, monkeypatch):
        """`module:name` is imported here and served in this kernel."""
        source = "from fastmcp import FastMCP\nserver = FastMCP('it')\n"
        source += "@server.tool\ndef find() -> str:\n    'Find.'\n    return 'it'\n"
        (tmp_path / "a_server_module.py").write_text(source)
        monkeypatch.syspath_prepend(tmp_path)
        assert len(mcp("connect it a_server_module:server")) == 1

    def test_are_not_any_object(self, shell, mcp):
        """An object that serves nothing is refused in a sentence."""
        shell.user_ns["number"] = 7
        with pytest.raises(ServerError, match="int is not an MCP server"):
            mcp("connect it number")

    def test_of_one_tool_name_say_which_there_are(self, shell, mcp, tmp_path):
        """Two servers' `ping` have their server in front; asking for `ping` names both."""
        config = tmp_path / "mcp.json"
        servers = {name: light(name, "ping") for name in ("east", "west")}
        config.write_text(dumps({"mcpServers": servers}))
        mcp(f"connect --config {config} --approve")
        with pytest.raises(ToolNotFoundError, match=r"'east\.ping' and 'west\.ping'"):
            shell.run_line_magic("tool", "ping {}")

    def test_can_be_connected_again(self, mcp):
        """The cell that connects can be run twice: the new session takes the old one's place."""
        mcp(connecting(light("one", "x")))
        mcp(connecting(light("one", "x")))
        assert len(mcp("list")) == 1

    def test_stop_with_the_extension(self, shell, mcp):
        """Unloading stops the servers; loading again starts without any."""
        before = children()
        mcp(connecting(light("one", "x")))
        assert children() > before
        shell.run_line_magic("reload_ext", "toolbench")
        eventually(lambda: not any(map(is_running, children() - before)))
        assert len(shell.run_line_magic("mcp", "list")) == 0

    def test_are_read_from_a_file(self, mcp, tmp_path):
        """One that fails is listed beside the others, and never called connected."""
        servers = {"good": light("good", "x"), "bad": {"command": "no-such-program"}}
        config = tmp_path / "mcp.json"
        config.write_text(dumps({"mcpServers": servers}))
        listing = mcp(f"connect --config {config} --approve")
        assert [row[:2] for row in listing.rows] == [
            ("good", "connected"),
            ("bad", "did not connect"),
        ]
        with pytest.raises(ToolNotFoundError, match=r"bad \(failed\)"):
            mcp("list something")
        text = repr(mcp("list bad"))
        assert "command not found" in text
        assert "%mcp reconnect bad" in text
        assert len(mcp(f"connect --config {config} --approve --only good")) == 2
        again = mcp(f"connect --config {config} --approve --only good, bad")
        assert [row[0] for row in again.rows] == ["good", "bad"]

    def test_are_shown_without_widgets_in_a_terminal(self, mcp):
        """There the explorer is the list of servers."""
        mcp(connecting(light("one", "x")))
        assert [row[0] for row in mcp("").rows] == ["one"]
        assert [row[0] for row in mcp("explore one").rows] == ["one"]

    def test_that_two_threads_connect_first_are_both_there(self, shell, mcp, monkeypatch):
        """As two subshells may: there is one client, and none is lost with another."""
        both = Barrier(2)

        def approvals():
            # Both meet here if nothing keeps one away
            with suppress(BrokenBarrierError):
                both.wait(0.1)

        monkeypatch.setattr("toolbench.mcp.trust.approvals.Approvals", approvals)
        shell.user_ns |= {"a": FakeMCPServer("a"), "b": FakeMCPServer("b")}
        threads = [Thread(target=mcp, args=[f"connect {name} {name}"]) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(row[0] for row in mcp("list").rows) == ["a", "b"]

    @pytest.mark.slow
    def test_load_what_they_need_when_one_is_connected(self):
        """%load_ext and a list of no servers load no FastMCP; the thread of a cell that connects does.

        Another thread would go on after an interrupt, and the next cell may import FastMCP too.
        """
        script = (
            "import sys; from IPython.core.interactiveshell import InteractiveShell as S\n"
            "shell = S(); shell.run_line_magic('load_ext', 'toolbench')\n"
            "assert not [name for name in sys.modules if name == 'toolbench.mcp.client']\n"
            "shell.run_line_magic('mcp', 'list')\n"
            "import threading\n"
            "assert not {'fastmcp', 'mcp'} & set(sys.modules), threading.enumerate()\n"
            "class Finder:\n"
            "    def find_spec(name, *more): loading.setdefault(name, threading.current_thread())\n"
            "loading = {}; sys.meta_path.insert(0, Finder)\n"
            "from toolbench.testing import FakeMCPServer; shell.user_ns['s'] = FakeMCPServer('s')\n"
            "shell.run_line_magic('mcp', 'connect s s')\n"
            "assert loading['fastmcp.client'] is threading.main_thread(), loading\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


class TestLooks:
    """What each sub-command lists."""

    def test_tools_with_those_that_cannot_be_called(self, mcp):
        """A tool that is disabled is named, with the reason."""
        listing = mcp(connecting(misbehaving("illegal-schemas")))
        assert len(listing) > 0
        assert any("cannot be called" in note.lower() for note in listing.notes)
        assert all(note in unwrapped(listing) for note in map(unwrapped, listing.notes))

    def test_servers_with_the_tools_that_cannot_be_called(self, mcp):
        """Who lists servers, or looks at one, learns that tools of it are missing."""
        mcp(connecting(misbehaving("missing-schema")))
        (row,) = mcp("list").rows
        assert row[-1] == "1 tool cannot be called: %mcp list one shows why"

    def test_tools_with_what_went_wrong(self, mcp):
        """A list that breaks off says so."""
        listing = mcp(connecting(misbehaving("bad-cursor")))
        assert len(listing) > 0
        assert any("tools/list" in note for note in listing.notes)

    def test_resources_with_their_templates(self, shell, mcp):
        """Both are what can be read."""
        shell.user_ns["server"] = good_server
        mcp("connect one server")
        uris = [row[0] for row in mcp("resources one").rows]
        assert uris == ["good://readme", "good://users/{name}/{field}"]

    def test_prompts_with_their_arguments(self, shell, mcp):
        """Those that may be left out stand in brackets."""
        shell.user_ns["server"] = good_server
        mcp("connect one server")
        assert [row[:2] for row in mcp("prompts one").rows] == [("review", "code, [tone]")]

    @pytest.mark.parametrize("what", ["", "--stderr", "--traffic"])
    def test_what_a_server_says(self, mcp, what):
        """Its log, its stderr and its messages are lists of lines."""
        mcp(connecting(light("one", "x")))
        assert (len(mcp(f"log one {what}")) > 0) == (what == "--traffic")

    def test_a_traceback_as_it_was_written(self, mcp):
        """The lines of stderr keep their spaces on the page, long ones too."""
        mcp(connecting(light("one", "x")))
        lines = ["Traceback:", "  File 'server.py', line 3", f"    raise OSError({'x' * 40!r})"]
        for line in lines:
            connected.session("one").stderr.add(line)
        html = mcp("log one --stderr")._repr_mimebundle_()["text/html"]
        cells = re.findall(
            r'<th scope="row" style="[^"]*white-space:pre(?:-wrap)?;[^"]*">(.*?)</th>', html
        )
        assert [unescape(cell) for cell in cells] == lines

    def test_what_failed_in_the_traffic(self, mcp, tmp_path):
        """With the tool and the reason. That an older server refuses our first question is no failure."""
        result = {"content": [{"type": "text", "text": "The disk\nis full."}], "isError": True}
        mcp(connecting(scripted(tmp_path / "s.json", {"tools/call": [{"result": result}]})))
        session = connected.session("one")
        assert session.traffic.find(method="server/discover", kind="refusal")
        assert len(mcp("log one --traffic error")) == 0
        assert session.call("t").is_error
        [(_, *call, ms, state, outcome)] = mcp("log one --traffic error tool:t ms>0").rows
        assert (call, state, outcome) == (["t", "tools/call"], "error", "The disk is full.")
        assert [*mcp("log one --traffic tool:t").to_dataframe()["ms"]] == [ms]
        assert ms > 0 and not mcp(f"log one --traffic error ms>{ms}").rows
        session.traffic.note("received", "{}", kind="notification", method="a\n→ b")
        shown = mcp("log one --traffic").overview.rows
        [refused] = [row[2:] for row in shown if "server/discover" in str(row[2])]
        assert (str(refused[0]), *refused[2:]) == ("→ server/discover", "refused", "refusal: No")
        assert str(shown[-1][2]) == "← a → b"

    def test_why_a_server_does_not_answer(self, mcp, tmp_path):
        """Also in its review, and where its tools from before are still known."""
        with pytest.raises(ServerError):
            mcp("connect gone -- no-such-program")
        assert "Not now: command not found: 'no-such-program'." in str(mcp("review gone"))
        script = tmp_path / "s.json"
        mcp(connecting(scripted(script, {})))
        # As an interrupt leaves it
        connected.session("one").close()
        assert "Not now: it is not connected." in str(mcp("review one"))
        scripted(script, {"initialize": [{"exit": 3, "stderr": "ValueError: no key"}]})
        with pytest.raises(ServerError):
            mcp("reconnect one")
        listing = mcp("list one")
        assert [row[0] for row in listing.rows] == ["t"]
        assert "did not connect" in listing.notes[-1]
        reason = "Not now: ValueError: no key (%mcp log one --stderr shows more)"
        assert str(mcp("review one")).splitlines()[1] == reason

    def test_discovered_servers(self, mcp, tmp_path, monkeypatch):
        """Those of other programs, each with the file it is in."""
        project = tmp_path / "project"
        project.mkdir()
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.chdir(project)
        assert "No program on this machine" in repr(mcp("discover"))
        config = project / ".mcp.json"
        config.write_text(dumps({"mcpServers": {"one": light("one", "x")}}))
        (row,) = mcp("discover").rows
        assert row[0] == "one"
        assert row[3] == config


def unwrapped(text):
    """A text without its line breaks and blanks."""
    return "".join(str(text).split())


class TestMistakes:
    """Each is one sentence that says what to do."""

    @pytest.mark.parametrize(
        ("line", "kind", "message"),
        [
            ("frob", UsageError, "no command 'frob'. %mcp --help lists them all"),
            ("conect foo", UsageError, "no command 'conect'. Did you mean 'connect'"),
            ("connect", UsageError, "Give the server a name"),
            ("connect x", UsageError, "Where is 'x'?"),
            ("connect x nonsense", UsageError, "'nonsense' is not a URL"),
            ("connect x nonsense", UsageError, "No program on the PATH"),
            ("connect x python", UsageError, "%mcp connect x -- python"),
            ("connect x python -m me", UsageError, "%mcp connect x -- python -m me"),
            ("connect x me.py", UsageError, "To start it: %mcp connect x -- python me.py"),
            (
                "connect x -- no-such-program",
                ServerError,
                "command not found: 'no-such-program'",
            ),
            (
                "connect x -- cat",
                ServerError,
                "the program is not an MCP server",
            ),
            ("list nope", ToolNotFoundError, "No server 'nope'"),
            ("list nope", ToolNotFoundError, "%mcp connect starts one"),
            ("explore nope", ToolNotFoundError, "No server 'nope'"),
            ("disconnect nope", ToolNotFoundError, "No server 'nope'"),
            ("disconnect", UsageError, "Name a server, or add --all"),
            ("disconnect x --all", UsageError, "Give NAME or --all, not both"),
            ("list -- python", UsageError, "Only %mcp connect and %mcp doctor take a command"),
            ("connect x --config f.json", UsageError, "from the file: no name."),
            ("connect --config f --mode auto", UsageError, "from the file: leave out --mode."),
            ("connect --config f -- cat", UsageError, "from the file: leave out --."),
            ("connect x http://x --only y", UsageError, "add --config FILE"),
            (
                "connect x http://x --env A=1",
                UsageError,
                "a server that a command starts",
            ),
        ],
    )
    def test_on_the_line(self, mcp, line, kind, message):
        with pytest.raises(kind) as caught:
            mcp(line)
        assert message in str(caught.value)
        assert hasattr(caught.value, "_render_traceback_") or kind is UsageError
