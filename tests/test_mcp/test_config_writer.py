"""Servers written down as a configuration: it reaches the same servers, and holds no secret."""

import json
from types import SimpleNamespace

import httpx2
import pytest
from fastmcp import FastMCP
from hypothesis import given
from hypothesis import strategies as st

from toolbench.mcp.config.reader import read_config
from toolbench.mcp.config.writer import write_config

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="${}"), max_size=12)
NAMES = st.text("abcXYZ_", min_size=1, max_size=6).map(lambda text: f"v{text}")
STDIO = st.fixed_dictionaries(
    {"command": TEXT.filter(bool)},
    optional={
        "args": st.lists(TEXT, max_size=3),
        "env": st.dictionaries(NAMES, TEXT, max_size=2),
        "timeout": st.integers(1, 10**6),
    },
)


def sessions(**servers):
    entries = read_config({"mcpServers": servers})
    return [session(name, entry) for name, entry in entries.items()]


def session(name, entry):
    return SimpleNamespace(name=name, portable_entry=entry)


@given(st.dictionaries(NAMES, STDIO, min_size=1, max_size=3))
def test_what_is_written_reaches_the_same(servers):
    """Read again, each server is started as before."""
    before = sessions(**servers)
    written = write_config(before)
    after = read_config(json.loads(json.dumps(written.config)))
    assert [*after] == [session.name for session in before]
    if not written.variables:
        for session in before:
            one, other = session.portable_entry, after[session.name]
            assert (one.command, one.args, dict(one.env), one.seconds) == (
                *(other.command, other.args, dict(other.env), other.seconds),
            )


@pytest.mark.every_case
@pytest.mark.parametrize(
    "server",
    [
        {"command": "x", "env": {"API_KEY": "sk-very-secret-1"}},
        {"command": "x", "args": ["--token", "sk-very-secret-1"]},
        {"command": "x", "args": ["--api-key=sk-very-secret-1"]},
        {"url": "https://a.example/mcp?api_key=sk-very-secret-1"},
        {"url": "https://ada:sk-very-secret-1@a.example/mcp"},
        {
            "url": "https://a.example",
            "headers": {"Authorization": "Bearer sk-very-secret-1"},
        },
        {"url": "https://a.example", "auth": "sk-very-secret-1"},
    ],
)
def test_secrets_are_references(server):
    """A secret is named and not written; with its variable set the entry is as it was."""
    [before] = sessions(one=server)
    written = write_config([before])
    entry = before.portable_entry
    assert "sk-very-secret-1" not in json.dumps(written.config)
    [variable] = written.variables
    again = read_config(written.config)["one"].expanded({variable: "sk-very-secret-1"})
    assert (again.url, again.args, again.auth) == (*(entry.url, entry.args, entry.auth),)
    assert dict(again.env) == dict(entry.env)
    assert dict(again.headers) == dict(entry.headers)


CREDENTIALS = {
    "grant_type": "client_credentials",
    "client_id": "robot",
    "issuer": "https://i.example",
}


@pytest.mark.parametrize(
    ("secret", "variables"),
    [("${ROBOT}", ()), ("sk-very-secret-1", ("CLIENT_SECRET",))],
)
def test_the_settings_of_an_oauth_client_are_written(secret, variables):
    """Its secret is a reference; with the variable set, the settings are as they were."""
    auth = {**CREDENTIALS, "client_secret": secret}
    written = write_config(sessions(one={"url": "https://a.example", "auth": auth}))
    assert "sk-very-secret-1" not in json.dumps(written.config)
    assert (written.variables, written.without_objects) == (variables, ())
    environment = {"ROBOT": "sk-very-secret-1", "CLIENT_SECRET": "sk-very-secret-1"}
    again = read_config(written.config)["one"].expanded(environment)
    assert again.auth == {**CREDENTIALS, "client_secret": "sk-very-secret-1"}


@pytest.mark.parametrize(
    ("auth", "rest"),
    [
        ({"client_id": "robot", "token_storage": object()}, {"client_id": "robot"}),
        ({"token_storage": object()}, "oauth"),
        (httpx2.BasicAuth("ada", "sk-very-secret-1"), None),
    ],
    ids=["with settings", "alone", "in place of settings"],
)
def test_objects_that_authorize_are_left_out(auth, rest):
    """What can be written of the server is written, and its name is told."""
    written = write_config(sessions(one={"url": "https://a.example", "auth": auth}))
    config = json.loads(json.dumps(written.config))
    assert config["mcpServers"]["one"].get("auth") == rest
    assert (written.without_objects, written.left_out) == (("one",), ())


def test_two_secrets_have_two_names():
    """The same variable of two servers is one only if the secret is."""
    env = [{"API_KEY": f"sk-very-secret-{n}"} for n in (1, 2, 1)]
    servers = {f"s{n}": {"command": "x", "env": e} for n, e in enumerate(env)}
    written = write_config(sessions(**servers))
    references = [e["env"]["API_KEY"] for e in written.config["mcpServers"].values()]
    assert references == ["${API_KEY}", "${S1_API_KEY}", "${API_KEY}"]


def test_references_stay():
    """What was a reference is one."""
    env = {"API_KEY": "${env:MINE}"}
    written = write_config(sessions(one={"command": "x", "env": env}))
    assert written.config["mcpServers"]["one"]["env"] == env
    assert written.variables == ()


def test_objects_are_left_out():
    """An object of this process has no line in a file; who is left out is said."""
    here = session("here", read_config({"here": FastMCP("a")})["here"])
    written = write_config([here, *sessions(there={"url": "https://a.example/mcp"})])
    assert written.left_out == ("here",)
    assert [*written.config["mcpServers"]] == ["there"]
