"""The workflow that docs/how-to/test-a-server-in-ci.md shows: its steps run here, one after another."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from documents import ROOT, blocks

from toolbench.mcp import create_mcp_tools

HOW_TO = ROOT / "docs" / "how-to"
# It downloads
SKIPPED = "Install"
# The shell of GitHub's runners where a workflow asks for bash
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("jq") is None, reason="the workflow uses jq"),
]


def shown(document, language, begin=""):
    """The only block of *language* in *document* that begins so."""
    found = [block for block in blocks(HOW_TO / document) if block.info == language]
    (block,) = [block for block in found if block.content.startswith(begin)]
    return block.content


def server_source():
    """The server that develop-a-server.md writes."""
    cells = [block.content for block in blocks(HOW_TO / "develop-a-server.md")]
    (cell,) = [cell for cell in cells if cell.startswith("%%writefile server.py")]
    return cell.partition("\n")[2]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A folder with what the how-to says is in the repository, and the environment of a runner."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "server.py").write_text(server_source())
    (folder / "mcp.json").write_text(shown("test-a-server-in-ci.md", "json"))
    checks = shown("call-a-server-from-a-shell.md", "yaml", "checks:")
    (folder / "library.checks.yaml").write_text(checks)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("LIBRARY_TOKEN", "not a real one")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


def first_failure(folder):
    """Run the steps in *folder* up to the first that fails; return its name and what was said."""
    workflow = yaml.safe_load(shown("test-a-server-in-ci.md", "yaml", "name: server"))
    assert workflow["defaults"]["run"]["shell"] == "bash"
    steps = workflow["jobs"]["server"]["steps"]
    named = [step for step in steps if "run" in step and step["name"] != SKIPPED]
    # All but Install: none was skipped by a slip
    assert len(named) == sum("run" in step for step in steps) - 1
    for step in named:
        done = subprocess.run(
            [*BASH, "-c", step["run"]],
            check=False,
            capture_output=True,
            text=True,
            cwd=folder,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            return step["name"], done.stdout + done.stderr
    return "", ""


def test_every_step_of_the_workflow_runs(repository, tmp_path):
    """For the server of the how-tos and a recording of it; only Install, which downloads, is left out."""
    server = {"command": sys.executable, "args": [str(repository / "server.py")]}
    config = {"mcpServers": {"library": server}}
    with create_mcp_tools(config, record=repository / "library.jsonl") as client:
        for title in ("Em", "Ulysses"):
            client["find"](title=title)
    assert first_failure(repository) == ("", "")
    assert '"error_rate": 0.0' in (tmp_path / "summary.md").read_text()


@pytest.mark.parametrize(
    ("before", "after", "step"),
    [
        ("MCPServer(", "Server(", "It connects, and its schemas can be used"),
        ("title in name", "title not in name", "It finds a book"),
        ('"Emma": 1815', '"Emma": 1816', "It returns what callers expect"),
    ],
)
def test_a_step_fails_for_a_server_that_is_broken(repository, before, after, step):
    """A workflow that nothing can fail tests nothing."""
    source = server_source()
    assert before in source
    (repository / "server.py").write_text(source.replace(before, after))
    assert first_failure(repository)[0] == step
