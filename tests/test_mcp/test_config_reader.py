"""Configurations as FastMCP and other programs write them."""

import json
import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.errors import ServerError
from toolbench.mcp.config.reader import read_config, read_entry

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["https://h/mcp", "http://[", "a:b", "x=y", "--token", "{}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
KEYS = [
    "command", "args", "env", "cwd", "url", "headers", "http_headers",
    "auth", "timeout", "tool_timeout_sec", "mode", "enabled", "disabled", "type",
    "tools", "openapi", "base_url", "paths", "bearer_token_env_var",
    "env_http_headers", "server",
]  # fmt: skip
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

    def test_a_file_may_have_a_byte_order_mark(self, tmp_path):
        """Editors on Windows write one."""
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps({"mcpServers": {"a": STDIO}}), encoding="utf-8-sig")
        assert read_config(file)["a"].command == "uvx"

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
        assert read_config("https://api.example.com/mcp")["api.example.com"].transport == "http"

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

    def test_time_limits_are_milliseconds_as_in_fastmcp(self):
        """`timeout` is in ms."""
        assert read_entry({"command": "x", "timeout": 1500}).seconds == 1.5

    @pytest.mark.parametrize("off", [{"disabled": True}, {"enabled": False}])
    def test_may_be_switched_off(self, off):
        """A disabled server is known as such."""
        assert not read_entry({"command": "x", **off}).enabled


@pytest.mark.parametrize(
    "config", [{}, {"mcpServers": {}}, {"servers": {}}, {"mcp": {"servers": {}}}]
)
def test_no_servers_are_a_configuration_too(config, tmp_path):
    """An empty table is no mistake, in a mapping or in a file."""
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps(config))
    assert read_config(config) == read_config(file) == {}


class TestMistakes:
    @pytest.mark.parametrize(
        ("config", "message"),
        [
            ({"theme": "dark"}, "has no servers"),
            ({"mcpServers": "none"}, "has no servers"),
            ({"servers": {"a": {"commnad": "x"}}}, "'command' to start or a 'url'"),
            ({"a": {"command": 3}}, "Server 'a': 'command' must be a str"),
            ({"a": {"command": "x", "args": 5}}, "'args' a list, not str and int"),
            ({"a": {"command": ["x", "y"]}}, "not list and list"),
            ({"a": {"command": "x", "env": ["A=1"]}}, "'env' must map names to values"),
            (
                {"a": {"command": "x", "environment": {"A": "1"}}},
                "'environment' is not read: .* 'env'",
            ),
            (
                {"a": {"openapi": "/nowhere/a.json"}},
                "read the OpenAPI document '/nowhere/a.json': No such",
            ),
            ({"a": {"openapi": "/dev/zero"}}, "'/dev/zero': it is not a file"),
            (
                {"a": {"url": "http://h", "headers": ["a: b"]}},
                "'headers' must map names",
            ),
            ({"a": {"command": "x", "timeout": "soon"}}, "a number above 0, not 'soon'"),
            ({"a": {"command": "x", "timeout": 0}}, "a number above 0, not 0"),
            ({"a": {"command": "x", "timeout": math.nan}}, "a number above 0, not nan"),
            ({"a": {"url": "http://[bad"}}, "The host in the URL cannot be read"),
            ("http://[bad", "The host in the URL cannot be read"),
            ("/nowhere/mcp.json", "Cannot read the configuration '/nowhere/mcp.json'"),
        ],
    )
    def test_are_told_in_a_sentence(self, config, message):
        """A configuration that makes no sense says what was expected."""
        with pytest.raises(ServerError, match=message):
            read_config(config)

    @pytest.mark.parametrize(
        ("name", "data", "message"),
        [
            ("a.json", b'{"verysecret', r"a\.json' cannot be read: Unterminated"),
            ("a.json", b'{"a": "caf\xe9"}', "can't decode byte 0xe9"),
            ("a.json", b"[" * 100_000, "it is nested too deeply"),
            ("a.yaml", b"env: {API_KEY: verysecret, ]", "line 1"),
        ],
    )
    def test_in_a_file_are_told_without_its_secrets(self, tmp_path, name, data, message):
        """Whatever is wrong with a file, it is one sentence that quotes nothing of it."""
        file = tmp_path / name
        file.write_bytes(data)
        with pytest.raises(ServerError, match=message) as caught:
            read_config(file)
        assert "verysecret" not in str(caught.value)

    @pytest.mark.parametrize(
        "entry",
        [
            {"command": "x", "args": "--token verysecret"},
            {"command": "x", "env": ["API_KEY=verysecret"]},
            {"url": "https://h", "headers": "Authorization: verysecret"},
            {"url": "https://me:verysecret\N{FULLWIDTH NUMBER SIGN}@h"},
        ],
    )
    def test_are_told_without_the_value(self, entry):
        """What stands in a wrong place may be a secret all the same."""
        with pytest.raises(ServerError) as caught:
            read_entry(entry)
        assert "verysecret" not in str(caught.value)

    @pytest.mark.slow
    @given(
        st.dictionaries(
            st.sampled_from(KEYS),
            JSON,
        )
    )
    def test_never_break_the_reader(self, entry):
        """An entry of any shape is read or refused, and what is read can be shown."""
        with suppress(ServerError):
            server = read_entry(entry)
            assert repr(server.target) in repr(server)
            server.redactor.text("x")
