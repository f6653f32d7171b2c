"""A run belongs to the tool of its server, whatever other servers call their tools."""

import json

import pytest

from toolbench import history, run_tool, tool
from toolbench.errors import ToolNotFoundError
from toolbench.runs.history import RunHistory
from toolbench.runs.policy import policy
from toolbench.runs.run_rows import rows_of
from toolbench.testing import FakeMCPServer

pytestmark = pytest.mark.usefixtures("no_records")


def server(name):
    """A server with the tool `status`, which answers with *name*."""
    fake = FakeMCPServer(name)
    fake.answer("status", name)
    return fake


def texts(records):
    return [record.observation.text for record in records]


class TestHistory:
    def test_has_the_runs_of_the_tool_only(self, client):
        """A run before the other server came is there too, though the tool has a new name."""
        client.connect("git", server("git"))
        alone = client["status"]
        run_tool(alone)
        client.connect("desk", server("desk"))
        for name in ("git_status", "desk_status", "git.status"):
            run_tool(client[name])
        assert texts(history().of(alone)) == ["git"] * 3
        assert texts(history().of(client["git_status"])) == ["git"] * 3
        assert texts(history().of(client.servers["desk"].tools["status"])) == ["desk"]

    def test_has_no_runs_of_a_function_of_the_name(self, client):
        """Nor the function those of the server's tool."""

        @tool
        def status() -> str:
            """Tell the status."""
            return "function"

        client.connect("git", server("git"))
        run_tool(status)
        run_tool(client["status"])
        assert texts(history().of(status)) == ["function"]
        assert texts(history().of(client["status"])) == ["git"]

    def test_tells_the_tools_apart(self, client):
        """Where two tools of one name ran, each is an address."""
        for name in ("git", "desk"):
            client.connect(name, server(name))
            run_tool(client.servers[name].tools["status"])
        assert [row.tool for row in rows_of(history()[:])] == ["desk.status", "git.status"]
        assert "desk.status" in repr(history())
        assert [row.tool for row in rows_of(history()[:1])] == ["status"]


class TestSavedRuns:
    def test_are_those_of_the_same_tool(self, client, tmp_path):
        """In the next session too; and they run again at their own server."""
        path = tmp_path / "history.ndjson"
        history().persist(path)
        for name in ("git", "desk"):
            client.connect(name, server(name))
            run_tool(client.servers[name].tools["status"])
        later = RunHistory()
        later.persist(path)
        assert texts(later.of(client["git_status"])) == ["git"]
        assert texts(later.of(client["desk_status"])) == ["desk"]
        assert [record.rerun().text for record in later] == ["git", "desk"]
        client.disconnect("desk")
        with pytest.raises(ToolNotFoundError, match="'desk', which is not connected"):
            later[1].rerun()

    def test_of_an_older_version_belong_to_the_tool_of_their_name(self, client, tmp_path):
        """They do not say of which server the tool was."""
        path = tmp_path / "history.ndjson"
        history().persist(path)
        client.connect("git", server("git"))
        run_tool(client["status"])
        line = json.loads(path.read_text())
        del line["server"], line["remote_name"]
        older = [line, line | {"tool": "desk_status"}]
        path.write_text("".join(json.dumps(one) + "\n" for one in older))
        later = RunHistory()
        later.persist(path)
        assert [r.tool for r in later] == ["status", "desk_status"]
        assert [r.tool for r in later.of(client["status"])] == ["status"]
        client.forget("git")
        client.connect("desk", server("desk"))
        assert len(later.of(client["status"])) == 2


class TestRunAgain:
    def test_is_at_the_server_that_was_connected_anew(self, client):
        """As after a change of its code, when the session of the run is over."""
        client.connect("git", server("old"))
        run_tool(client["status"])
        client.connect("git", server("new"))
        assert history()[0].rerun().text == "new"


class TestPolicy:
    @pytest.mark.parametrize("by_name", [True, False])
    def test_goes_with_the_tool(self, client, by_name):
        """What is denied stays denied when another server makes its name longer."""
        client.connect("git", server("git"))
        policy.deny("status" if by_name else client["status"])
        client.connect("desk", server("desk"))
        assert policy.verdict_on(client["git_status"])[0] == "deny"
        if not by_name:
            assert policy.verdict_on(client["desk_status"])[0] != "deny"

    def test_knows_the_full_name(self, client):
        """Also while the tool has a shorter one."""
        policy.deny("git_status")
        client.connect("git", server("git"))
        assert policy.verdict_on(client["status"])[0] == "deny"
        client.connect("desk", server("desk"))
        assert policy.verdict_on(client["desk_status"])[0] != "deny"
