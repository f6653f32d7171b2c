import json

import pytest
from pydantic import SecretStr

from test_runs import tools
from toolbench import Conversation, ConversationState, history, run_tool, tool
from toolbench.errors import ToolbenchError
from toolbench.runs.engine import perform
from toolbench.runs.history import RunHistory
from toolbench.runs.record import LIMIT
from toolbench.runs.run import Run


@pytest.fixture(autouse=True)
def _clean():
    history().clear()
    yield
    history().clear()


@tool
def login(user: str, password: SecretStr, api_token: str = "") -> str:
    """Log in."""
    return f"{user} with {api_token}"


class TestRecords:
    def test_say_what_ran_and_how_it_ended(self):
        """A record holds the tool, the arguments as sent, the result and the state."""
        run_tool(tools.add, a=1)
        record = history()[-1]
        assert (record.tool, record.arguments, record.state) == ("add", {"a": 1}, "ok")
        assert record.observation.text == "2"

    def test_run_again(self):
        """A record can be run again, with the same arguments."""
        run_tool(tools.add, a=1)
        assert history()[0].rerun().text == "2"
        assert len(history()) == 2

    def test_hide_secrets(self):
        """What the schema or the name calls a secret is nowhere in a record."""
        run_tool(login, user="ada", password="hunter2", api_token="")
        run_tool(login, user="ada", password="hunter2", api_token="t0k3n-in-the-result")
        arguments = json.dumps([dict(r.arguments) for r in history()])
        assert "hunter2" not in arguments
        assert "t0k3n" not in arguments
        assert "hunter2" not in repr(history()[0])

    def test_hide_secrets_of_the_conversation(self):
        """A conversation's secrets are masked in arguments and results."""
        state = ConversationState(secrets={"KEY": "s3cr3t"})
        run = Run(
            tools.erase,
            {"path": "/tmp/s3cr3t"},
            source="python",
            conversation=Conversation(state),
        )
        perform(run)
        assert "s3cr3t" not in history().to_json()

    def test_do_not_keep_what_is_huge(self):
        """A result of many megabytes does not stay in memory; its start does."""

        @tool
        def shout() -> str:
            """Return far too much."""
            return "a" * (3 * LIMIT)

        assert len(run_tool(shout).text) == 3 * LIMIT
        kept = history()[-1].observation.text
        assert kept.startswith("aaaa")
        assert len(kept) < LIMIT / 10


class TestHistory:
    def test_forgets_the_oldest(self):
        """Only so many records are kept."""
        kept = RunHistory(kept=2)
        for n in range(3):
            run_tool(tools.add, a=n)
            kept.add(history()[-1])
        assert [r.arguments["a"] for r in kept] == [1, 2]

    def test_becomes_a_dataframe(self):
        """A row per run."""
        run_tool(tools.add, a=1)
        run_tool(tools.fail)
        assert list(history().to_dataframe()["state"]) == ["ok", "error"]

    def test_reads_well(self):
        """The repr is a table a person can read; no run is a sentence."""
        assert repr(history()) == "No runs yet."
        run_tool(tools.add, a=1)
        assert "add" in repr(history())


class TestOnDisk:
    def test_survives(self, tmp_path):
        """What was written is read again, and new runs are appended."""
        path = tmp_path / "deep" / "history.ndjson"
        history().persist(path)
        run_tool(tools.add, a=1)
        again = RunHistory()
        again.persist(path)
        assert [(r.tool, r.arguments) for r in again] == [("add", {"a": 1})]
        with pytest.raises(LookupError, match="read from a file"):
            again[0].rerun()

    def test_passes_over_a_torn_line(self, tmp_path):
        """A line cut off by a crash is passed over; the next record starts a new line."""
        path = tmp_path / "history.ndjson"
        history().persist(path)
        run_tool(tools.add, a=1)
        path.write_bytes(path.read_bytes() + b'{"id": 2, "tool": "ad')
        again = RunHistory()
        again.persist(path)
        again.add(history()[-1])
        third = RunHistory()
        third.persist(path)
        assert [r.arguments["a"] for r in third] == [1, 1]

    @pytest.mark.parametrize("line", ["null", "[]", "3", '{"id": 1}', "\x00", '""'])
    def test_passes_over_what_is_not_ours(self, tmp_path, line):
        """No content of the file stops the start."""
        path = tmp_path / "history.ndjson"
        path.write_text(line + "\n")
        again = RunHistory()
        again.persist(path)
        assert len(again) == 0

    def test_says_when_it_cannot_write(self, tmp_path):
        """A path that cannot be written is one sentence."""
        with pytest.raises(ToolbenchError, match="History cannot be kept in"):
            RunHistory().persist(tmp_path)
