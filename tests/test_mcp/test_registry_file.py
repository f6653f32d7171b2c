"""`server.json`, as the MCP registry has it: packages become commands, remotes URLs."""

import json
import os
import sys

import pytest

from test_mcp.peers import LIGHT
from toolbench.errors import ServerError
from toolbench.mcp.config.reader import read_config

KEY = {
    "name": "WEATHER_KEY",
    "description": "Your key",
    "isRequired": True,
    "isSecret": True,
}


def described(**parts):
    """A description of a server, with these parts."""
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.example/weather",
        "description": "The weather.",
        "version": "1.2.0",
        **parts,
    }


def package(kind, identifier="weather-mcp", **more):
    """A description with one package."""
    entry = {
        "registryType": kind,
        "identifier": identifier,
        "version": "1.2.0",
        "transport": {"type": "stdio"},
        **more,
    }
    return described(packages=[entry])


def line(config):
    """The command and arguments of the only server."""
    (entry,) = read_config(config).values()
    return " ".join([entry.command, *entry.args])


@pytest.mark.parametrize(
    ("config", "command"),
    [
        (package("npm", "@example/weather"), "npx -y @example/weather@1.2.0"),
        (package("pypi"), "uvx weather-mcp==1.2.0"),
        (package("nuget", "Weather.Mcp"), "dnx --yes Weather.Mcp@1.2.0"),
        (package("oci", "ghcr.io/e/w:2"), "docker run -i --rm ghcr.io/e/w:2"),
        (
            package("oci", "ghcr.io/e/w:2", environmentVariables=[KEY]),
            "docker run -i --rm -e WEATHER_KEY ghcr.io/e/w:2",
        ),
        (package("npm", "w", version="latest", runtimeHint="bunx"), "bunx w"),
    ],
    ids=["npm", "pypi", "nuget", "oci", "oci with a variable", "hint"],
)
def test_a_package_becomes_the_command_that_starts_it(config, command):
    """The version is the one of the file."""
    assert line(config) == command
    assert list(read_config(config)) == ["weather"]


def test_arguments_are_fixed_asked_for_or_left_out(monkeypatch):
    """What is required comes from a variable; what is optional is left out."""
    runtime = [{"type": "named", "name": "--python", "value": "3.12"}]
    arguments = [
        {"type": "positional", "value": "serve"},
        {"type": "named", "name": "--port", "default": "80"},
        {"type": "named", "name": "--verbose"},
        {"type": "named", "name": "--log", "valueHint": "log_file"},
        {"type": "named", "name": "--all", "format": "boolean", "default": "false"},
        {"type": "positional", "valueHint": "city", "isRequired": True},
    ]
    config = package("pypi", runtimeArguments=runtime, packageArguments=arguments)
    (entry,) = read_config(config).values()
    with pytest.raises(ServerError, match="It needs 'CITY' in the environment"):
        entry.expanded({})
    expanded = entry.expanded({"CITY": "Oslo"})
    words = "--python 3.12 weather-mcp==1.2.0 serve --port 80 --verbose Oslo"
    assert " ".join(expanded.args) == words


def test_a_remote_becomes_its_url_with_headers_and_variables():
    """It comes before a package; a variable of this machine with another purpose is never sent."""
    remote = {
        "type": "streamable-http",
        "url": "https://{tenant}.example.com/mcp",
        "variables": {"tenant": {"isRequired": True, "description": "Your team"}},
        "headers": [
            {
                "name": "Authorization",
                "value": "Bearer {api_key}",
                "variables": {"api_key": {"isRequired": True, "isSecret": True}},
            },
            {"name": "X-Region", "default": "eu"},
            {"name": "X-Trace"},
        ],
    }
    packages = package("npm")["packages"]
    config = described(remotes=[remote], packages=packages)
    (entry,) = read_config({"server": config, "_meta": {}}).values()
    with pytest.raises(ServerError) as caught:
        entry.expanded({})
    needs = (
        "It needs 'MCP_API_KEY', 'MCP_TENANT' (Your team) in the environment: set what is missing."
    )
    assert str(caught.value) == needs
    expanded = entry.expanded({"MCP_TENANT": "blue", "MCP_API_KEY": "s3cret-s3cret"})
    assert (expanded.transport, expanded.url) == (
        "http",
        "https://blue.example.com/mcp",
    )
    assert expanded.headers == {
        "Authorization": "Bearer s3cret-s3cret",
        "X-Region": "eu",
    }
    assert "s3cret" not in repr(expanded) + expanded.target
    sse = described(remotes=[{"type": "sse", "url": "https://example.com/x"}])
    assert read_config(sse)["weather"].transport == "sse"


def test_variables_of_a_package_are_passed_on(monkeypatch):
    """Required ones must be there; optional ones come if they are set, or by their default."""
    monkeypatch.setenv("WEATHER_PROXY", "http://proxy")
    monkeypatch.delenv("WEATHER_OTHER", raising=False)
    variables = [
        KEY,
        {"name": "WEATHER_UNIT", "default": "C"},
        {"name": "WEATHER_PROXY"},
        {"name": "WEATHER_OTHER"},
    ]
    (entry,) = read_config(package("npm", environmentVariables=variables)).values()
    with pytest.raises(ServerError, match=r"It needs 'WEATHER_KEY' \(Your key\) in"):
        entry.expanded({})
    set_now = {"WEATHER_KEY": "k", "WEATHER_PROXY": "http://proxy"}
    assert entry.expanded(set_now).env == {**set_now, "WEATHER_UNIT": "C"}
    # They are no arguments
    assert entry.args == ("-y", "weather-mcp@1.2.0")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (package("mcpb"), 'has packages of "mcpb": known are remotes and npm'),
        (described(packages=[]), "has nothing to use"),
        (package("npm", "--eval=1"), 'names a package "--eval=1"'),
        (package("pypi", "a; rm b"), 'names a package "a; rm b"'),
        (
            package("npm", transport={"type": "streamable-http"}),
            'speaks "streamable-http"',
        ),
        (
            package("npm", registryBaseUrl="https://npm.example.com"),
            'from "https://npm.example.com", where npx would not',
        ),
        (
            package("oci", "e/w:2", registryBaseUrl="https://ghcr.io"),
            'from "https://ghcr.io", where docker would not',
        ),
        (described(remotes=[{"url": "file:///x"}]), 'is "file:///x": expected https'),
        (
            described(packages=[{"registry_name": "pypi", "name": "w", "version": "1"}]),
            "has the form from before September 2025",
        ),
    ],
    ids=[
        "unknown registry",
        "nothing",
        "option",
        "no name",
        "http package",
        "origin",
        "image",
        "scheme",
        "first",
    ],
)
def test_what_cannot_be_used_is_one_sentence(config, message):
    """It says what is there and what is known."""
    with pytest.raises(ServerError, match=message):
        read_config(config)


def test_takes_no_variable_that_it_names_by_itself():
    """A description from elsewhere must not send what this machine keeps for others."""
    remote = {"url": "https://example.com/mcp?k=${GITHUB_TOKEN}"}
    with pytest.raises(ServerError, match="could read variables of this machine"):
        read_config(described(remotes=[remote]))


@pytest.mark.parametrize("hint", ["bash", "/bin/sh", "python", "docker"])
def test_starts_no_other_program_than_those_of_its_registry(hint):
    """The how-to promises which programs a package can start."""
    with pytest.raises(ServerError, match=r"expected bunx or npx or pnpx"):
        read_config(package("npm", "w", runtimeHint=hint))


def test_connects_the_server_that_it_describes(client, tmp_path, monkeypatch):
    """A file is a configuration like any other; a missing variable is one sentence."""
    uvx = tmp_path / "bin" / "uvx"
    uvx.parent.mkdir()
    uvx.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    uvx.chmod(0o755)
    monkeypatch.setenv("PATH", f"{uvx.parent}:{os.environ['PATH']}")
    program = {
        "registryType": "pypi",
        "identifier": str(LIGHT),
        "packageArguments": [
            {"type": "positional", "value": "weather"},
            {"type": "positional", "value": "forecast"},
        ],
    }
    path = tmp_path / "server.json"
    path.write_text(json.dumps(described(packages=[program])))
    (session,) = client.add(path, approve=True)
    assert (session.name, session.call("forecast").text) == ("weather", "weather")
    program["environmentVariables"] = [{**KEY, "name": "TOOLBENCH_NOT_SET"}]
    path.write_text(json.dumps(described(packages=[program])))
    with pytest.raises(ServerError, match=r"'weather': It needs 'TOOLBENCH_NOT_SET'"):
        client.add(path, approve=True)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("config", "values"),
    [
        (
            package("npm", environmentVariables=[{"name": "PLACE", "isRequired": True, "isSecret": True}]),
            {"PLACE": "hunter2-in-the-variable"},
        ),
        (
            package("npm", environmentVariables=[{"name": "PLACE", "isSecret": True, "default": "hunter2-in-the-variable"}]),
            {},
        ),
        (
            package("npm", packageArguments=[{"type": "positional", "valueHint": "place", "isRequired": True, "isSecret": True}]),
            {"PLACE": "hunter2-in-the-variable"},
        ),
        (
            package("npm", packageArguments=[{"type": "named", "name": "--place", "value": "hunter2-in-the-variable", "isSecret": True}]),
            {},
        ),
        (
            package(
                "npm",
                environmentVariables=[
                    {"name": "PLACE", "value": "x-{inner}", "variables": {"inner": {"isRequired": True, "isSecret": True}}}
                ],
            ),
            {"INNER": "hunter2-in-the-variable"},
        ),
        (
            package(
                "npm",
                environmentVariables=[
                    {"name": "PLACE", "value": "x-{inner}", "variables": {"inner": {"default": "hunter2-in-the-variable", "isSecret": True}}}
                ],
            ),
            {},
        ),
        (
            described(
                remotes=[
                    {"type": "streamable-http", "url": "https://x.example/mcp", "headers": [{"name": "X-Place", "isRequired": True, "isSecret": True}]}
                ]
            ),
            {"MCP_X_PLACE": "hunter2-in-the-variable"},
        ),
        (
            described(
                remotes=[
                    {
                        "type": "streamable-http",
                        "url": "https://x.example/{place}/mcp",
                        "variables": {"place": {"isRequired": True, "isSecret": True}},
                    }
                ]
            ),
            {"MCP_PLACE": "hunter2-in-the-variable"},
        ),
    ],
    ids=["variable", "default", "argument", "fixed argument", "inner", "inner default", "header", "URL"],
)  # fmt: skip
def test_what_is_marked_as_secret_is_hidden_whatever_its_name(config, values):
    """`isSecret` counts, not only a name like TOKEN."""
    (entry,) = read_config(config).values()
    expanded = entry.expanded(values)
    assert "hunter2-in-the-variable" in str(vars(expanded))
    assert "hunter2-in-the-variable" in expanded.secrets
    for text in (expanded.target, repr(expanded), entry.target, repr(entry)):
        assert "hunter2" not in text
