"""The commands of the cookbook, in a shell as a reader has it; its cells run in test_docs.py."""

import os
import subprocess
import sys
import sysconfig
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from browser.lab import write_notebook
from documents import ROOT
from environments import uv
from markdown_it import MarkdownIt
from test_headless import environment

COOKBOOK = ROOT / "docs" / "cookbook.md"


def recipe(heading: str) -> dict[str, list[str]]:
    """The blocks below a heading of the cookbook, by their language."""
    tokens = MarkdownIt().parse(COOKBOOK.read_text("utf-8"))
    found: dict[str, list[str]] = {}
    title = ""
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            title = token.content
        elif token.type == "fence" and title == heading:
            found.setdefault(token.info, []).append(token.content)
    return found


def in_shell(commands: str, folder: Path, programs: Path, **variables: str) -> str:
    """Run lines of a shell until one fails, with the programs of one environment; return what they print."""
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-ec", commands],
        cwd=folder,
        env=environment(folder) | {"PATH": path} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.long
def test_notebook_runs_in_papermill_and_nbval(tmp_path):
    """Papermill gives it another number of people; nbval finds the same outputs when it runs again."""
    blocks = recipe("Run a notebook with papermill, and check it with nbval")
    write_notebook(tmp_path / "report.ipynb", *blocks["python"])
    book = nbformat.read(tmp_path / "report.ipynb", as_version=4)
    book.cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(book, tmp_path / "report.ipynb")
    [commands] = blocks["sh"]
    said = in_shell(commands, tmp_path, Path(sys.executable).parent)
    assert "3 passed" in said, said
    result = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert "Everybody pays 21.00 euros." in str(result.cells[-1].outputs)


@pytest.fixture
def programs_with_pip(tmp_path):
    """The programs of a new environment with pip, and with ours for what the wheels need."""
    home = tmp_path / "environment"
    seed = ("venv", "--seed", "--offline", "--python", sys.executable, str(home))
    uv(*seed, untested="THE WHEELS OF THE COOKBOOK ARE")
    theirs = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    ours = sysconfig.get_path("purelib")
    (theirs / "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    return home / "bin"


@pytest.mark.long
def test_wheels_are_shared(tmp_path, programs_with_pip):
    """Both wheels install without an index, and the tool of the package works."""
    blocks = recipe("Share a tool before there is a release")
    code = blocks["python"][0].partition("%tools")[0]
    (tmp_path / "bills.py").write_text(f"from toolbench import tool\n\n{code}")
    (tmp_path / "toolbench").symlink_to(ROOT)
    export = "toolbench export bills.py:add_tip add_tip"
    in_shell(export, tmp_path, Path(sys.executable).parent)
    # pip's name for "do not": no wheel of hatchling is fetched, ours builds
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_DEPS": "1"}
    said = in_shell("\n".join(blocks["sh"]), tmp_path, programs_with_pip, **offline)
    assert said.splitlines()[-1] == "22.0"
