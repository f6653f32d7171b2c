"""A server under development: after an edit of its source the next call has the new result."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from patience import eventually

from test_mcp.author import NUMBER, TEXT, Author
from test_mcp.peers import is_running
from toolbench import policy
from toolbench.core.security import SecurityRisk
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient
from toolbench.mcp.config.reader import read_entry
from toolbench.mcp.development import MOST_FILES, Development
from toolbench.mcp.monitoring.traffic import paired
from toolbench.mcp.trust.approvals import Approvals
from toolbench.runs.control import stop
from toolbench.runs.perform import perform
from toolbench.runs.questions import Answer
from toolbench.runs.run import run_here
from toolbench.testing import FakeMCPServer


@pytest.fixture
def author(tmp_path):
    return Author(tmp_path)


@pytest.fixture
def lib(client, author):
    """The session with the author's server."""
    return client.connect("lib", author.entry, dev=True)


class TestAnEdit:
    def test_is_in_the_next_result_with_one_note(self, lib, author):
        """One step: the file is written, and the same call is made again."""
        find = lib.tools["find"]
        assert find(q="x").text == "one"
        author.write("two")
        result = find(q="x")
        assert result.text == "two"
        [note] = result.warnings
        assert note.startswith("server.py changed ")
        assert note.endswith(" ago: lib was started again.")
        assert find(q="x").warnings == []
        assert len(author.starts) == 2

    def test_of_the_schema_counts_for_the_same_call(self, lib, author):
        """Who holds the earlier tool calls the new one, and reads what changed."""
        find = lib.tools["find"]
        author.write("two", q=TEXT, limit=NUMBER)
        result = find(q="x", limit=3)
        assert result.text == "two"
        [note] = result.warnings
        assert "additive" in note
        assert "'limit'" in note

    def test_that_does_not_start_is_said_by_the_call_until_it_is_mended(self, lib, author):
        """The failing call has the first cause; the next call after the file was saved is as any."""
        find = lib.tools["find"]
        author.break_it()
        result = find(q="x")
        assert result.is_error
        assert "server.py changed" in result.text
        assert "SyntaxError" in result.text
        author.write("three")
        assert find(q="x").text == "three"

    @pytest.mark.parametrize("works", [True, False])
    def test_starts_the_server_once_for_calls_at_once(self, lib, author, works):
        """All wait for the one new start, or the one that fails."""
        find = lib.tools["find"]
        author.write("two")
        if not works:
            author.break_it()
        attempts = len(lib.traffic.find(method="initialize", direction="sent"))
        with ThreadPoolExecutor(4) as threads:
            results = [threads.submit(find, q="x") for _ in range(4)]
        texts = {future.result().text for future in results}
        if works:
            assert texts == {"two"}
            assert len(author.starts) == 2
            assert len(lib.traffic.find(method="initialize", direction="sent")) == attempts + 1
        else:
            assert all("SyntaxError" in text for text in texts)

    def test_does_not_cut_off_a_call_that_runs(self, lib, author):
        """It ends in the old process, which ends then; another call is in the new one."""
        find = lib.tools["find"]
        [old] = author.starts
        with ThreadPoolExecutor(1) as thread:
            slow = thread.submit(find, q="slow")
            eventually((author.folder / "called").exists)
            author.write("two")
            assert find(q="x").text == "two"
            assert is_running(int(old))
            (author.folder / "go").touch()
            assert slow.result().text == "one"
        eventually(lambda: not is_running(int(old)))

    def test_takes_no_answer_of_the_earlier_process_for_that_of_a_later_call(self, lib, author):
        """Each call in the traffic and in a recording has the answer that it got."""
        find = lib.tools["find"]
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(find, q="slow")
            eventually((author.folder / "called").exists)
            (author.folder / "called").unlink()
            author.write("two", gate="later")
            second = threads.submit(find, q="slow")
            eventually((author.folder / "called").exists)
            (author.folder / "go").touch()
            assert first.result().text == "one"
            (author.folder / "later").touch()
            assert second.result().text == "two"
        calls = [call for call in paired(lib.traffic) if call.message.method == "tools/call"]
        texts = [call.answer.json["result"]["content"][0]["text"] for call in calls]
        assert texts == ["one", "two"]

    def test_that_hangs_at_its_start_ends_with_a_stop(self, lib, author):
        """The next call does not wait for it, and runs the mended source."""
        author.hang()
        run = run_here(lib.tools["find"], {"q": "x"}, "button")
        with ThreadPoolExecutor(1) as thread:
            performed = thread.submit(perform, run)
            eventually(lambda: len(author.starts) == 2)
            stop(run)
            performed.result()
        assert run.state == "cancelled"
        author.write("two")
        # At once: while the hanging process still ends
        assert lib.tools["find"](q="x").text == "two"
        assert not is_running(int(author.starts[1]))

    def test_is_followed_at_once_if_it_is_watched(self, client, author):
        """No call is needed for the new list; the next result has the note."""
        lib = client.connect("lib", author.entry, dev=True, watch=True)
        author.write("two", tool="seek")
        eventually(lambda: [tool.name for tool in lib.tools] == ["seek"])
        result = lib.tools["seek"](q="x")
        [note] = result.warnings
        assert result.text == "two"
        assert note.endswith("- additive: seek: the tool is new.")
        lib.close()
        author.write("three")
        assert len(author.starts) == 2


class TestConsent:
    @pytest.fixture(autouse=True)
    def default_policy(self):
        policy.reset()
        yield
        policy.reset()

    def asked(self, tool, source, **options):
        """Run *tool*, and return the questions, which are all refused."""
        run, questions = run_here(tool, {"q": "x"}, source, **options), []

        def no(question):
            questions.append(question)
            return Answer("decline")

        run.dialogue.asker = no
        perform(run)
        assert bool(questions) == (run.state == "denied")
        return questions

    @pytest.mark.parametrize("hints", [None, {"destructiveHint": True}])
    def test_is_not_asked_for_what_the_user_calls(self, lib, author, hints):
        """From a line and a button; the call of a model asks, before and after an edit."""
        author.write("two", hints=hints)
        assert not self.asked(lib.tools["find"], "magic")
        assert not self.asked(lib.tools["find"], "button")
        for source in ("model", "agent", "app"):
            assert self.asked(lib.tools["find"], source)
        author.write("three", hints=hints, n=NUMBER)
        assert self.asked(lib.tools["find"], "model")

    def test_is_asked_where_a_model_is_behind_the_call(self, lib):
        """A line that runs inside of a model's call is the model's."""
        run = run_here(lib.tools["find"], {"q": "x"}, "magic")
        assert policy.ruling(run).verdict == "allow"
        run.parent = run_here(lib.tools["find"], {"q": "x"}, "model")
        assert policy.ruling(run).verdict == "ask"

    def test_is_asked_if_the_user_wants_it(self, lib):
        """What the policy names counts, and so does a rating."""
        find = lib.tools["find"]
        assert self.asked(find, "button", risk=SecurityRisk.HIGH)
        policy.ask(find)
        assert self.asked(find, "magic")
        policy.deny(find)
        assert policy.ruling(run_here(find, {"q": "x"}, "magic")).verdict == "deny"


class TestTheConnection:
    def test_ends_it(self, author, tmp_path):
        """While it lasts nothing is approved; after it, changes need an approval as ever."""
        folder = tmp_path / "approvals"
        with MCPClient(approvals=Approvals(folder)) as client:
            lib = client.connect("lib", author.entry, dev=True)
            author.write("two", n=NUMBER)
            assert lib.tools["find"](n=1).text == "two"
            assert not folder.exists()
            client.disconnect("lib")
            client.reconnect("lib")
            assert lib.development is None
            assert folder.exists()
            author.write("three", k=NUMBER)
            assert lib.tools["find"](n=1).text == "two"
            lib.reconnect()
            assert "changed since it was approved" in lib.tools["find"](k=1).text
            client.connect("lib", author.entry, dev=True)
            assert client["find"](k=1).text == "three"
            client.connect("lib", author.entry)
            assert "changed since it was approved" in client["find"](k=1).text

    def test_leaves_no_trace_in_what_is_kept(self, client, author, tmp_path):
        """The configuration, a tool and a recording are those of any connection."""
        kept = []
        for dev in (True, False):
            file = tmp_path / f"{dev}.jsonl"
            lib = client.connect("lib", author.entry, record=file, dev=dev)
            lib.tools["find"](q="x")
            kept.append((lib.entry, repr(lib.portable_entry), lib.tools["find"].to_dict()))
            assert "development" not in file.read_text()
        assert kept[0] == kept[1]

    @pytest.mark.parametrize(
        ("entry", "options", "words"),
        [
            ("http://127.0.0.1:9/mcp", {"dev": True}, "a server that a command starts"),
            (FakeMCPServer("fake"), {"dev": True}, "a server that a command starts"),
            ({"command": "python"}, {"watch": True}, "watch=True belongs to dev=True"),
        ],
    )
    def test_is_to_a_command(self, client, entry, options, words):
        """Nothing is connected otherwise."""
        with pytest.raises(ServerError, match=words):
            client.connect("x", entry, **options)
        assert not client.servers


class TestTheFiles:
    @pytest.mark.parametrize(
        ("command", "changed"),
        [
            ("python -m package", "package/tools.py"),
            ("uv run server.py", "server.py"),
            ("uv run server.py", "package/tools.py"),
            ("uv --directory package run tools.py", "package/tools.py"),
            ("fastmcp run server.py:mcp", "server.py"),
            ("node dist/index.js", "dist/index.js"),
            ("npx tsx src/x.ts", "src/lib/y.ts"),
            ("dist/program --port 3", "dist/program"),
        ],
    )
    def test_are_those_that_the_command_names_and_those_around_them(
        self, tmp_path, monkeypatch, command, changed
    ):
        """Changed, removed, or there for the first time."""
        monkeypatch.chdir(tmp_path)
        for name in ("package/tools.py", "server.py", "dist/index.js", "src/x.ts", "src/lib/y.ts"):
            Path(name).parent.mkdir(exist_ok=True, parents=True)
            Path(name).touch()
        Path("dist/program").touch()
        program, *arguments = command.split()
        entry, development = read_entry({"command": program, "args": arguments}), Development()
        development.begin(entry)
        assert development.changed() == []
        Path(changed).write_text("x = 1")
        assert development.changed() == [tmp_path / changed]
        Path(changed).unlink()
        assert development.changed() == [tmp_path / changed]
        development.begin(entry)
        Path(changed).touch()
        assert development.changed() == [tmp_path / changed]

    @pytest.mark.parametrize(
        "name",
        [
            ".venv/a.py",
            "node_modules/a.js",
            "lib/__pycache__/a.py",
            "dist/a.js",
            "data.json",
            "notes.sqlite",
        ],
    )
    def test_are_not_those_of_environments_and_data(self, tmp_path, monkeypatch, name):
        """Nor hidden ones; a server that writes its own data is not started again for it."""
        monkeypatch.chdir(tmp_path)
        Path("server.py").touch()
        entry = {"command": "python", "args": ["server.py", "--db", "notes.sqlite"]}
        development = Development()
        development.begin(read_entry(entry))
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("x = 1")
        assert development.changed() == []

    def test_are_missed_if_there_are_none(self, tmp_path):
        """The Python of an environment is none of them."""
        python = tmp_path / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.touch()
        entry = {"command": str(python), "args": ["-m", "elsewhere"], "cwd": str(tmp_path)}
        development = Development()
        development.begin(read_entry(entry))
        assert "No source file of it was found: --cwd DIR" in development.watched

    def test_are_not_more_than_the_limit(self, tmp_path, monkeypatch):
        """The file that the command names is always among them."""
        monkeypatch.setattr("toolbench.mcp.development.MOST_FILES", 5)
        assert MOST_FILES == 2_000
        for number in range(9):
            (tmp_path / f"{number}.py").touch()
        (tmp_path / "server.py").touch()
        entry = {"command": "python", "args": [str(tmp_path / "server.py")]}
        development = Development()
        development.begin(read_entry(entry))
        assert development.watched == "6 files watched."
        (tmp_path / "server.py").write_text("x = 1")
        assert development.changed() == [tmp_path / "server.py"]
