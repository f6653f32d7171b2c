"""Configurations as FastMCP and other programs write them."""

import json

import pytest

from toolbench.errors import ServerError
from toolbench.mcp.config import read_config, read_entry

STDIO = {"command": "uvx", "args": ["mcp-server-git"], "env": {"A": "b"}}


class TestFormats:
    @pytest.mark.parametrize(
        "config",
        [
            {"mcpServers": {"git": STDIO}},
            {"servers": {"git": {"type": "stdio", **STDIO}}, "inputs": []},
            {"mcp": {"servers": {"git": STDIO}}, "editor.fontSize": 12},
            {"mcp_servers": {"git": STDIO}},
            {"git": STDIO},
        ],
        ids=["mcpServers", "vscode", "vscode-settings", "codex", "bare"],
    )
    def test_of_other_programs_say_the_same(self, config):
        """The same server is read out of every format."""
        entry = read_config(config)["git"]
        assert (entry.transport, entry.command) == ("stdio", "uvx")
        assert (entry.args, entry.env) == (("mcp-server-git",), {"A": "b"})

    def test_a_file_may_have_comments_and_a_last_comma(self, tmp_path):
        """JSON is read as editors write it; what looks like a comment in a string stays."""
        file = tmp_path / "mcp.json"
        file.write_text(
            '{ // servers\n "mcpServers": {"a": {"url": "https://x//y", /* no */ }, } }'
        )
        assert read_config(file)["a"].url == "https://x//y"

    def test_a_file_may_be_toml(self, tmp_path):
        """Codex keeps servers in TOML, with its own names for tokens and time limits."""
        file = tmp_path / "config.toml"
        file.write_text(
            '[mcp_servers.x]\nurl = "https://x/mcp"\nbearer_token_env_var = "TOKEN"\n'
            "tool_timeout_sec = 7.5\n"
        )
        entry = read_config(str(file))["x"]
        assert entry.headers == {"Authorization": "Bearer ${env:TOKEN}"}
        assert entry.seconds == 7.5

    def test_paths_start_at_the_file(self, tmp_path):
        """What is relative in a file is relative to its folder."""
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps({"mcpServers": {"a": STDIO}}))
        assert read_config(file)["a"].base == tmp_path

    def test_a_url_alone_is_a_configuration(self):
        """One URL is a server called like its host."""
        assert (
            read_config("https://api.example.com/mcp")["api.example.com"].transport
            == "http"
        )

    def test_fastmcps_own_model_is_one(self):
        """A parsed `MCPConfig` is taken as it is."""
        from fastmcp.mcp_config import MCPConfig

        config = MCPConfig.model_validate({"mcpServers": {"git": STDIO}})
        assert read_config(config)["git"].args == ("mcp-server-git",)


class TestEntries:
    @pytest.mark.parametrize(
        ("entry", "transport"),
        [
            ({"url": "https://x/mcp"}, "http"),
            ({"url": "https://x/sse"}, "sse"),
            ({"url": "https://x/mcp", "type": "sse"}, "sse"),
            ({"url": "https://x/sse", "transport": "streamable-http"}, "http"),
            ({"serverUrl": "https://x/mcp"}, "http"),
            ({"httpUrl": "https://x/mcp"}, "http"),
            ({"command": "x"}, "stdio"),
            ("https://x/mcp", "http"),
            ("server.py", "memory"),
            ("package.module:server", "memory"),
        ],
    )
    def test_say_how_the_server_is_reached(self, entry, transport):
        """The transport follows from what is there."""
        assert read_entry(entry).transport == transport

    def test_a_command_may_be_a_whole_line_as_a_list(self):
        """Some programs write the program and its arguments in one list."""
        entry = read_entry({"command": ["npx", "-y", "pkg"]})
        assert (entry.command, entry.args) == ("npx", ("-y", "pkg"))

    def test_time_limits_are_milliseconds_as_in_fastmcp(self):
        """`timeout` is in ms."""
        assert read_entry({"command": "x", "timeout": 1500}).seconds == 1.5

    @pytest.mark.parametrize("off", [{"disabled": True}, {"enabled": False}])
    def test_may_be_switched_off(self, off):
        """A disabled server is known as such."""
        assert not read_entry({"command": "x", **off}).enabled


class TestMistakes:
    @pytest.mark.parametrize(
        ("config", "said"),
        [
            ({}, "holds no servers"),
            ({"mcpServers": {}}, "holds no servers"),
            ({"servers": {"a": {"commnad": "x"}}}, "'command' to start or a 'url'"),
            ({"a": {"command": 3}}, "A command is a str"),
            ("/nowhere/mcp.json", "Cannot read the configuration '/nowhere/mcp.json'"),
        ],
    )
    def test_are_told_in_a_sentence(self, config, said):
        """A configuration that makes no sense says what was expected."""
        with pytest.raises(ServerError, match=said):
            read_config(config)

    def test_in_a_file_name_the_file(self, tmp_path):
        """A file that is no JSON is named, with the place."""
        file = tmp_path / "mcp.json"
        file.write_text("{nope")
        with pytest.raises(ServerError, match=r"mcp\.json' cannot be read: Expecting"):
            read_config(file)
