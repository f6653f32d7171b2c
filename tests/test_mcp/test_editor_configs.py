"""Configurations in a project, as VS Code, Cursor, Cline and Roo Code write them, start what they start there."""

import json
from pathlib import Path

import pytest

from test_mcp.peers import light, scripted
from toolbench.errors import ServerError
from toolbench.mcp import create_mcp_tools
from toolbench.mcp.config.discovery import discover
from toolbench.mcp.config.reader import read_config
from toolbench.mcp.config.writer import written_entry


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A project with a folder below it as the current folder, and a user who has approved nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    monkeypatch.chdir(folder / "sub")
    return folder


def written(file, entry):
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(json.dumps({"servers": {"s": entry}}))
    return file


def values_of(script, *names):
    """The entry of a server that says the values of the variables *names*."""
    text = " ".join(f"{name}=${name}" for name in names)
    answer = {"result": {"content": [{"type": "text", "text": text}]}}
    return scripted(script, {"tools/call": [answer]})


def connected(file, client, way):
    if way == "discover":
        (found,) = discover()
        return client.connect("s", found.entry, approve=True)
    (session,) = client.add(file, approve=True)
    return session


@pytest.mark.parametrize("way", ["file", "discover"])
@pytest.mark.parametrize("folder", [".vscode", ".cursor"])
def test_starts_as_in_the_editor(client, project, folder, way, monkeypatch):
    """The workspace is the project, not the editor's folder; the file of variables is read; `env` wins."""
    # What was shown in the question starts
    monkeypatch.setenv("workspaceFolder", "/elsewhere")
    entry = values_of(project / "script.json", "TOKEN", "WORDS", "A", "N", "NAME")
    (project / ".env").write_text("# mine\nexport TOKEN='a ${B}'\nWORDS=two words\nA=1\n")
    entry["args"] = [entry["args"][0], "${workspaceFolder}${pathSeparator}script.json"]
    entry |= {"envFile": "${workspaceFolder}${/}.env", "cwd": "sub"}
    entry["env"] = {"A": True, "N": None, "NAME": "${workspaceFolderBasename}"}
    file = written(project / folder / "mcp.json", entry)
    session = connected(file, client, way)
    # `TOKEN` is a secret
    said = "WORDS=two words A=true N=$N NAME=project"
    text = session.tool("t")({}).text
    assert text.endswith(said)
    assert "a ${B}" not in text
    assert Path(f"/proc/{session.connection.pid}/cwd").resolve() == project / "sub"


def test_the_file_of_a_user_means_the_current_project(project):
    """A user's own file of an editor has no project of its own."""
    for place in (".cursor/mcp.json", ".config/Code/User/mcp.json"):
        file = written(project.parent / place, {"command": "x", "cwd": "${workspaceFolder}"})
        assert read_config(file)["s"].base == project / "sub"
    assert {found.entry.base for found in discover(project)} == {project}


def test_a_relative_working_directory_counts_from_the_file(client, project):
    """A folder of the same name where the kernel runs is another one."""
    (project / "sub/data").mkdir()
    (project / "data").mkdir()
    (session,) = client.add(
        written(project / "mcp.json", {**light("s", "t"), "cwd": "data"}), approve=True
    )
    assert Path(f"/proc/{session.connection.pid}/cwd").resolve() == project / "data"


def test_a_missing_file_of_variables_is_said(client, project):
    """Its server does not start without them; the others do."""
    file = written(project / "mcp.json", {**light("s", "t"), "envFile": ".env"})
    content = json.loads(file.read_text())
    content["servers"]["other"] = light("other", "t")
    file.write_text(json.dumps(content))
    client.add(file, approve=True)
    assert client.servers["other"].is_connected
    assert client.servers["s"].error == (
        f"Server 's': the envFile {str(project / '.env')!r} cannot be read: No such file or "
        "directory. Create it, or remove 'envFile'."
    )


@pytest.mark.parametrize(
    ("place", "content", "reason"),
    [
        ("${input:file}", b"", "${input:file} is filled in by an editor"),
        ("${SHOP_TOKEN}", b"", "the envFile '${SHOP_TOKEN}' cannot be read: No such file"),
        (".env", b"A=1\n'B=s3cret\n", "line 2 is not NAME=VALUE. Write it so, or remove it."),
        (".env", "A=s3cret\xfc".encode("latin-1"), "it is not text in UTF-8."),
        (".env", b"A=s3cret\0B=1", "it is not text in UTF-8."),
    ],
)
def test_a_file_of_variables_that_cannot_be_read_says_why(
    client, project, place, content, reason, monkeypatch
):
    """The sentence quotes nothing of the file, and no value of the environment."""
    monkeypatch.setenv("SHOP_TOKEN", "s3cret")
    (project / ".env").write_bytes(content)
    entry = {**light("s", "t"), "envFile": place}
    file = written(project / "mcp.json", entry)
    with pytest.raises(ServerError) as error:
        client.add(file, approve=True)
    assert reason in str(error.value)
    (approval,) = (project.parent / "state").rglob("*.json")
    assert "s3cret" not in str(error.value) + approval.read_text()


def test_odd_folders_are_no_crash_and_no_other_project(client, project):
    """A home of nobody is a folder that does not exist; `..` on the line leads to the same project."""
    (project / ".vscode").mkdir()
    entry = {**light("s", "t"), "cwd": "~nobody-here/x", "env": {"N": "${workspaceFolderBasename}"}}
    file = written(project / ".vscode/mcp.json", entry)
    with pytest.raises(ServerError, match=r"working directory '.*/~nobody-here/x' does not exist"):
        client.add(file, approve=True)
    (entry,) = read_config("../.vscode/mcp.json").values()
    assert entry.expanded({}).env == {"N": "project"}


@pytest.mark.parametrize("program", ["python", "./run"])
def test_a_whole_line_as_command_is_said(program):
    """It names no program: the sentence says how to write it, and quotes no secret in it."""
    Path("../run").touch(0o700)
    entry = {"command": f"{program} server.py --token abc123", "cwd": ".."}
    with pytest.raises(ServerError) as error:
        create_mcp_tools({"s": entry})
    assert f"'command' is a whole line that begins with {program!r}" in str(error.value)
    assert "each other word in 'args'" in str(error.value)
    assert "abc123" not in str(error.value)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("timeout", "seconds"), [(60, 60), (0.5, 0.5), (999, 999), (1000, 1), (60_000, 60)]
)
def test_a_small_timeout_is_in_seconds(timeout, seconds):
    """Cline and Roo Code write seconds, FastMCP milliseconds; what is saved means the same again."""
    entry = read_config({"s": {"command": "x", "timeout": timeout}})["s"]
    assert entry.seconds == seconds
    assert read_config({"s": written_entry("s", entry, {})})["s"].seconds == seconds
