"""Servers that other programs are configured with."""

import json

import pytest

from toolbench.mcp.config.discovery import discover

STDIO = {"command": "uvx", "args": ["mcp-server-git"]}
SERVERS = {"mcpServers": {"git": STDIO}}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home directory with nothing in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


class TestDiscover:
    @pytest.mark.parametrize(
        ("place", "text", "source"),
        [
            (".config/Claude/claude_desktop_config.json", SERVERS, "claude-desktop"),
            (".claude.json", SERVERS, "claude-code"),
            (".cursor/mcp.json", SERVERS, "cursor"),
            (".codeium/windsurf/mcp_config.json", SERVERS, "windsurf"),
            (".gemini/settings.json", SERVERS, "gemini"),
            (
                ".config/Code/User/mcp.json",
                {"servers": SERVERS["mcpServers"]},
                "vscode",
            ),
            (
                ".config/Code/User/settings.json",
                {"mcp": {"servers": SERVERS["mcpServers"]}},
                "vscode",
            ),
            (
                ".codex/config.toml",
                '[mcp_servers.git]\ncommand = "uvx"\nargs = ["mcp-server-git"]\n',
                "codex",
            ),
            (
                ".config/goose/config.yaml",
                "extensions: {git: {cmd: uvx, args: [mcp-server-git]}, own: {type: builtin}}",
                "goose",
            ),
        ],
    )
    def test_finds_what_a_program_keeps(self, home, place, text, source):
        """Each program's file is found where the program keeps it."""
        write(home / place, text)
        (server,) = discover(home / "project")
        assert (server.name, server.source) == ("git", source)
        assert server.summary == "stdio: uvx mcp-server-git"

    def test_reads_the_seconds_of_goose(self, home):
        """Also those of half an hour: it has no milliseconds."""
        text = "extensions: {git: {cmd: uvx, timeout: 1800}}"
        write(home / ".config/goose/config.yaml", text)
        (server,) = discover(home / "project")
        assert server.entry.seconds == 1800

    @pytest.mark.parametrize(
        "place", [".mcp.json", "mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"]
    )
    def test_finds_the_projects_own_from_below(self, home, place):
        """A project's file is found from any folder in the project."""
        write(home / "project" / place, SERVERS)
        (home / "project/deep/er").mkdir(parents=True)
        assert [s.name for s in discover(home / "project/deep/er")] == ["git"]

    def test_claude_code_keeps_servers_by_project(self, home):
        """A project's servers count in that project only."""
        project = home / "project"
        project.mkdir()
        write(home / ".claude.json", {"projects": {str(project): SERVERS}})
        assert [s.name for s in discover(project)] == ["git"]
        assert discover(home / "other") == []

    def test_shows_what_cannot_be_used(self, home):
        """A broken file or entry is listed with its problem, and hides nothing else."""
        write(home / ".cursor/mcp.json", "{nope")
        write(home / ".gemini/settings.json", "")
        (home / ".gemini/settings.json").write_bytes(b'{"mcpServers": {"caf\xe9": {}}}')
        odd = {"bad": {}, "odd": {"url": "http://[bad"}}
        write(home / ".claude.json", {"mcpServers": odd | SERVERS["mcpServers"]})
        found = discover(home / "project")
        problems = "\n".join(server.problem for server in found if server.entry is None)
        for words in ("Expecting", "can't decode", "'command' to start", "host in the URL"):
            assert words in problems
        files = [server.summary for server in found if server.name == "?"]
        assert ["cannot be read" in summary for summary in files] == [True, True]
        (good,) = [server for server in found if server.entry is not None]
        assert (good.name, good.problem) == ("git", "")

    def test_shows_no_secrets(self, home):
        """What is found can be listed without giving anything away."""
        entry = {
            "url": "https://x/mcp?token=verysecret1",
            "headers": {"A": "verysecret2"},
        }
        write(home / ".cursor/mcp.json", {"mcpServers": {"x": entry}})
        text = repr(discover(home / "project")) + discover(home / "project")[0].summary
        assert "verysecret" not in text

    @pytest.mark.parametrize("place", ["url", "openapi"])
    def test_says_which_variables_go_where(self, home, place):
        """A value of the environment leaves this machine with the headers of either kind of address."""
        entry = {place: "https://x/api", "headers": {"A": "${DOCS_TOKEN}"}}
        write(home / ".cursor/mcp.json", {"mcpServers": {"x": entry}})
        [found] = discover(home / "project")
        assert found.summary.endswith(", sends your variables DOCS_TOKEN")

    def test_finds_nothing_where_nothing_is(self, home):
        """A fresh machine has no servers, and says so without an error."""
        assert discover(home) == []
