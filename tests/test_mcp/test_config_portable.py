"""The entry of a connected server, as it is saved: it means the same in any folder."""

from pathlib import Path

import pytest

from toolbench.mcp.config.reader import read_entry
from toolbench.mcp.config.writer import portable_entry, written_entry


@pytest.fixture
def folder(tmp_path):
    """A folder with a server in it, of which the current folder is not part."""
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "time.py").touch()
    (tmp_path / "local_server.py").touch()
    return tmp_path


def saved(entry, folder, mode="auto"):
    entry = portable_entry(read_entry(entry, base=folder), folder=folder, mode=mode)
    return written_entry("one", entry, {})


@pytest.mark.parametrize(
    "words",
    [
        ["python", "servers/time.py"],
        ["python", "-m", "local_server"],
        ["./servers/time.py"],
        ["some-server", "--root", "."],
        ["some-server", "--script=servers/time.py"],
        ["uv", "run", "some-server"],
    ],
)
def test_what_a_command_starts_in_its_folder_has_the_folder(folder, words):
    """A file, a module or a project is found again: the folder is written too."""
    command, *args = words
    assert saved({"command": command, "args": args}, folder)["cwd"] == str(folder)


@pytest.mark.parametrize(
    "words", [["npx", "-y", "some-server"], ["python", "-m", "mcp_server_time"]]
)
def test_other_commands_have_none(folder, words):
    """A file for other computers has no folder of this one without need."""
    command, *args = words
    assert "cwd" not in saved({"command": command, "args": args}, folder)


def test_a_working_directory_becomes_absolute(folder):
    """It was relative to the folder of the notebook; one of a variable stays."""
    entry = {"command": "x", "cwd": "servers"}
    assert saved(entry, folder)["cwd"] == str(folder / "servers")
    entry = {"command": "x", "cwd": "${PLACE}/servers"}
    assert saved(entry, folder)["cwd"] == "${PLACE}/servers"


def test_the_folder_of_the_old_file_is_written_out(folder):
    """`${workspaceFolder}` would mean the folder of the new file."""
    args = ["${workspaceFolder}/servers/time.py", "${env:TOKEN}"]
    written = saved({"command": "python", "args": args}, folder)
    assert written["args"] == [str(folder / "servers/time.py"), "${env:TOKEN}"]


@pytest.mark.parametrize(
    ("server", "path"),
    [
        ("servers/time.py:app", "{}/servers/time.py:app"),
        ("servers/time.py", "{}/servers/time.py"),
        ("my_package.server:app", "my_package.server:app"),
    ],
)
def test_a_file_of_this_process_becomes_absolute(folder, server, path):
    """The module of a server is loaded from the same file."""
    assert saved(server, folder) == {"server": path.format(folder)}


def test_a_file_of_a_key_becomes_absolute(folder):
    """The key that signs for a client is read from the same file."""
    auth = {"client_id": "robot", "private_key_file": "key.pem"}
    written = saved({"url": "https://a.example/mcp", "auth": auth}, folder)
    assert written["auth"] == {**auth, "private_key_file": str(folder / "key.pem")}


def test_the_mode_of_the_connection_is_written(folder):
    """A mode that was chosen for the connection is chosen again; `auto` needs no word."""
    entry = {"command": "x", "mode": "legacy"}
    assert saved(entry, folder, mode="2025-06-18")["mode"] == "2025-06-18"
    assert "mode" not in saved(entry, folder, mode="auto")


def test_the_current_folder_is_not_asked(folder, monkeypatch):
    """The folder of the time of connecting counts, wherever the notebook is now."""
    monkeypatch.chdir(Path("/"))
    entry = {"command": "python", "args": ["servers/time.py"]}
    assert saved(entry, folder)["cwd"] == str(folder)
