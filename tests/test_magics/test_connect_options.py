"""%mcp connect with headers, a token, folders and time; %mcp disconnect --forget."""

import json
import os
import sys
from json import dumps, loads

import pytest
from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from fastmcp.server.dependencies import get_http_headers
from IPython.core.error import UsageError
from pydantic import SecretStr
from test_mcp.peers import LIGHT, serving

from toolbench.errors import ServerError
from toolbench.mcp.authorization.token_vault import vault
from toolbench.mcp.servers import connected
from toolbench.redaction import MARK

SECRET = "s3cret-value-77"


@pytest.fixture
def requests():
    """The headers of each call of the server's tool, as the server gets them."""
    return []


@pytest.fixture
def echo(requests):
    """The URL of a server whose tool returns the headers of its request."""
    server = FastMCP("echo")

    @server.tool
    def headers() -> dict:
        requests.append(get_http_headers(include_all=True))
        return requests[-1]

    with serving(server) as url:
        yield url


def returned(shell):
    """The headers in the result of the server's tool."""
    headers = shell.run_line_magic("tool", "headers {}").data
    shell.run_line_magic("mcp", "disconnect --all")
    return headers


class TestHeadersAndTokens:
    def test_are_taken_from_the_environment(
        self, shell, mcp, echo, requests, monkeypatch, tmp_path
    ):
        """The server gets the values; a saved configuration has the names."""
        monkeypatch.setenv("TEAM_KEY", SECRET)
        file = tmp_path / "saved.json"
        mcp(
            f"connect e {echo} --header 'X-Api-Key: ${{TEAM_KEY}}' --header 'X-Team: data' --auth TEAM_KEY"
        )
        mcp(f"save {file}")
        returned(shell)
        (headers,) = requests
        assert (headers["x-api-key"], headers["x-team"]) == (SECRET, "data")
        assert headers["authorization"] == f"Bearer {SECRET}"
        saved = loads(file.read_text())["mcpServers"]["e"]
        assert saved["headers"] == {"X-Api-Key": "${TEAM_KEY}", "X-Team": "data"}
        assert saved["auth"] == "${TEAM_KEY}"

    def test_are_read_again_by_a_reconnect(self, shell, mcp, echo, requests, tmp_path):
        """Where they come from variables of the notebook, and what they were stays hidden as well."""
        shell.user_ns |= {"MY_TOKEN": "first-secret-1", "team": SecretStr("one-secret")}
        mcp(f"connect e {echo} --auth MY_TOKEN --header 'X-Team: t-${{team}}'")
        shell.user_ns |= {"MY_TOKEN": SECRET, "team": SecretStr("two-secret")}
        mcp("reconnect e")
        mcp(f"save {tmp_path / 'saved.json'}")
        session = connected.session("e")
        session.call("headers")
        (headers,) = requests
        assert headers["authorization"] == f"Bearer {SECRET}"
        assert headers["x-team"] == "t-two-secret"
        texts = session.traffic.to_ndjson() + repr(session.entry)
        assert not any(s in texts for s in (SECRET, "one-secret", "two-secret"))
        assert session.call("headers").data["x-team"] == f"t-{MARK}"
        saved = (tmp_path / "saved.json").read_text()
        assert loads(saved)["mcpServers"]["e"]["auth"] == "${MY_TOKEN}"
        assert "secret" not in saved

    def test_that_a_saved_configuration_needs_are_named(self, shell, mcp, echo, tmp_path, capsys):
        """By the names of the variables of the notebook, whatever the servers are called."""
        shell.user_ns["MY_TOKEN"] = SECRET
        for name in ("one", "two"):
            mcp(f"connect {name} {echo} --auth MY_TOKEN")
        capsys.readouterr()
        mcp(f"save {tmp_path / 'saved.json'}")
        out = capsys.readouterr().out
        assert "Set these variables before you use it: MY_TOKEN." in out

    def test_that_are_wrong_are_one_line_at_a_reconnect_too(self, shell, mcp, capsys):
        """As at the connect before, without a traceback; the next line says how to look closer."""
        server = FastMCP("guarded", auth=StaticTokenVerifier({SECRET: {"client_id": "a"}}))
        shell.user_ns["MY_TOKEN"] = "not-the-token-1"
        with serving(server) as url:
            for line in (f"connect g {url} --auth MY_TOKEN", "reconnect g"):
                shell.run_cell(f"%mcp {line}")
                out, err = capsys.readouterr()
                sentence, offer = out.strip().splitlines()
                assert offer == "%mcp doctor g checks each step."
                assert "HTTP 401" in sentence
                assert "The server refuses the token that was sent" in sentence
                # The server logs there too
                assert "Traceback" not in err
            shell.user_ns["MY_TOKEN"] = SECRET
            mcp("reconnect g")
            assert connected.session("g").status == "connected"
            mcp("disconnect g")

    def test_are_taken_from_the_notebook(self, shell, mcp, echo, requests, capsys):
        """And shown nowhere."""
        shell.user_ns["my_token"] = SECRET
        listing = mcp(f"connect e {echo} --auth my_token --header 'X-Key: k-${{my_token}}'")
        result = returned(shell)
        (headers,) = requests
        assert headers["x-key"] == f"k-{SECRET}"
        assert headers["authorization"] == f"Bearer {SECRET}"
        assert SECRET not in repr(listing) + repr(result) + capsys.readouterr().out

    @pytest.mark.parametrize(("name", "kind"), [("shop_key", str), ("plain", SecretStr)])
    def test_are_hidden_under_any_name_of_a_header(self, shell, mcp, echo, requests, name, kind):
        """A server that sends one back gives nothing away, nor does the traffic."""
        shell.user_ns[name] = kind(SECRET)
        mcp(f"connect e {echo} --header 'X-Shop: ${{{name}}}' --header 'X-Team: data'")
        traffic = connected.session("e").traffic
        headers = returned(shell)
        assert (headers["x-shop"], headers["x-team"]) == (MARK, "data")
        assert requests[0]["x-shop"] == SECRET
        assert SECRET not in traffic.to_ndjson()

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            ("--header 'Authorization: Bearer s3cret-value-77'", "Put the secret into"),
            ("--header nonsense", "a name and a value"),
            ("--auth s3cret-value-77", "do not write the token itself into the line"),
            ("--auth NOT_SET_HERE", "There is no such variable"),
            ("--timeout 0", "seconds above 0, as in --timeout 300, not '0'"),
            ("--timeout soon", "seconds above 0, as in --timeout 300, not 'soon'"),
            ("--cwd .", "--cwd is for a server that a command starts"),
            ("--root /not/there", "there is none at '/not/there'"),
            ("--root https://a.b/c", "a folder or a file:// URI, not 'https://a.b/c'"),
        ],
    )
    def test_that_cannot_be_used_are_one_sentence(self, mcp, words, sentence):
        """Without the secret that somebody typed."""
        with pytest.raises(UsageError) as error:
            mcp(f"connect e http://127.0.0.1:9/mcp {words}")
        assert sentence in str(error.value)
        assert SECRET not in str(error.value)

    def test_are_not_for_commands_files_and_recordings(self, mcp, shell):
        """An option without effect is an error."""
        shell.user_ns["server"] = FastMCP("here")
        for line in (
            "connect e --auth oauth -- python x.py",
            "connect --config x.json --root .",
            "connect e --replay x.jsonl --root .",
            "connect e server --auth oauth",
        ):
            with pytest.raises(UsageError, match=r"--(auth|timeout|root)"):
                mcp(line)


class TestFoldersAndTime:
    def test_the_servers_of_a_file_get_the_time_too(self, mcp, tmp_path):
        """Where one of them is slow, the message names this option."""
        file = tmp_path / "mcp.json"
        entry = {"command": sys.executable, "args": [str(LIGHT), "g", "x"]}
        file.write_text(json.dumps({"mcpServers": {"g": entry}}))
        mcp(f"connect --config {file} --timeout 61 --approve")
        assert connected.session("g").connection.seconds == 61
        mcp("disconnect g")

    def test_a_command_starts_in_its_folder_and_gets_its_roots(self, shell, mcp, tmp_path):
        """Roots are file URLs for the server."""
        (tmp_path / "here.py").write_text(
            "import runpy, sys\nrunpy.run_path(sys.argv.pop(1), run_name='__main__')\n"
        )
        server = f"{sys.executable} here.py {LIGHT} g x"
        mcp(f"connect g --cwd {tmp_path} --root {tmp_path} --timeout 60 -- {server}")
        session = connected.session("g")
        assert session.entry.cwd == str(tmp_path)
        assert '"roots"' in session.traffic.to_ndjson()
        assert session.connection.seconds == 60
        (tmp_path / "more").mkdir()
        listing = mcp(f"roots g {tmp_path} {tmp_path / 'more'}")
        assert [row[0] for row in listing.rows] == [
            *(tmp_path.as_uri(), (tmp_path / "more").as_uri())
        ]
        assert not listing.notes
        assert "gets no roots" in repr(mcp("roots g --none"))
        with pytest.raises(UsageError, match="folders or --none"):
            mcp(f"roots g {tmp_path} --none")
        mcp("disconnect g")

    def test_a_server_without_roots_needs_a_reconnect_for_them(self, shell, mcp, tmp_path):
        """It was not told that there are any; the note says how it is."""
        mcp(f"connect g -- {sys.executable} {LIGHT} g x")
        (note,) = mcp(f"roots g {tmp_path}").notes
        assert "%mcp reconnect g" in note
        mcp("reconnect g")
        assert not mcp("roots g").notes
        mcp("disconnect g")


def test_a_server_that_is_forgotten_leaves_no_tokens(mcp, echo, capsys):
    """`disconnect --forget` says what became of them; a command has none."""
    mcp(f"connect e {echo}")
    url = connected.session("e").entry.url
    vault.put(url, {"tokens": {"access_token": SECRET}})
    mcp(f"connect g -- {sys.executable} {LIGHT} g x")
    for words in ("'https://x.example/${NOT_SET}'", "https://x.example --header 'X-A: ${NOT_SET}'"):
        with pytest.raises(ServerError, match="needs the environment variable 'NOT_SET': set it"):
            mcp(f"connect first {words}")
    mcp("reconnect e")
    mcp("disconnect --all --forget")
    out = capsys.readouterr().out
    assert "Forgot first. If it has tokens, they are still here. The configuration needs" in out
    assert "Forgot e with its 1 tool. Its tokens are gone from this machine." in out
    assert "Forgot g with its" in out
    assert not vault.items(url)
    assert len(mcp("list")) == 0


def test_a_file_in_the_place_of_a_name_is_a_configuration(mcp, tmp_path, monkeypatch):
    """`connect server.json` takes the registry's description as --config does."""
    # Starts a file, where the real one starts a package
    uvx = tmp_path / "uvx"
    uvx.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    uvx.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "good.py").write_text(
        f"import runpy, sys\nsys.argv[1:] = ['good', 'x']\nrunpy.run_path({str(LIGHT)!r})\n"
    )
    package = {"registryType": "pypi", "identifier": str(tmp_path / "good.py")}
    text = dumps({"name": "io.example/good", "packages": [package]})
    (tmp_path / "server.json").write_text(text)
    listing = mcp(f"connect {tmp_path / 'server.json'} --approve")
    assert [row[:2] for row in listing.rows if row[0] == "good"] == [("good", "connected")]
    mcp("disconnect good")
