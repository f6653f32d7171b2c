"""Notebooks that run with nobody there: nbconvert, papermill, jupyter execute, nbval."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from browser.lab import write_notebook

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
CELLS = (
    "%load_ext toolbench",
    "from toolbench import current_run, tool\n"
    "@tool(destructive=True)\n"
    "def shout(text: str) -> str:\n"
    '    """Shout.\n\n    Args:\n        text: What.\n    """\n'
    "    return text.upper()\n"
    "shout",
    "%tool shout --yes text=hear",
    "@tool\n"
    "def ask_first() -> str:\n"
    '    """Ask."""\n'
    "    return 'yes' if current_run().ask('Really?') else 'nobody was there'\n"
    "ask_first({})",
)
RUNS = {
    "jupyter execute": ["jupyter-execute", "--inplace", "in.ipynb"],
    "nbconvert": [
        *("jupyter-nbconvert", "--to", "notebook", "--execute", "--inplace"),
        "in.ipynb",
    ],
    "papermill": ["papermill", "in.ipynb", "in.ipynb"],
}


def environment(home: Path) -> dict[str, str]:
    """A home of its own, and the kernel of this Python."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER")}
    return variables | {
        "HOME": str(home),
        "JUPYTER_PATH": str(Path(sys.prefix) / "share/jupyter"),
    }


@pytest.mark.long
@pytest.mark.parametrize(
    "runner",
    [
        pytest.param(name, marks=pytest.mark.front_end(name, "load", "run", "reopen"))
        for name in RUNS
    ],
)
def test_a_notebook_runs_and_nothing_hangs(runner, tmp_path):
    """The form leaves a text, the run its result, and a question is declined at once."""
    write_notebook(tmp_path / "in.ipynb", *CELLS)
    program, *arguments = RUNS[runner]
    done = subprocess.run(
        [BIN / program, *arguments],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert_nothing_hung(nbformat.read(tmp_path / "in.ipynb", as_version=4).cells)


def assert_nothing_hung(cells):
    """The last three cells have their outputs."""
    texts = [str([output.get("data", {}) for output in c.outputs]) for c in cells]
    form, result, answer = texts[-3:]
    assert "shout" in form
    assert "text/html" in form
    assert "HEAR" in result
    assert "nobody was there" in answer


@pytest.mark.slow
def test_a_runner_reports_all_that_is_wrong_with_a_line(tmp_path):
    """Papermill says what IPython calls a usage error, and not only in which cell it was.

    The cells before that have run.
    """
    write_notebook(tmp_path / "in.ipynb", *CELLS, "%tool shout loudly text")
    done = subprocess.run(
        [BIN / "papermill", "in.ipynb", "out.ipynb"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "2 things in the line are wrong" in done.stderr
    assert "'loudly'" in done.stderr and "'text'" in done.stderr
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    # Papermill writes words of its own between them
    *cells, _ = [cell for cell in cells if cell.cell_type == "code"]
    assert_nothing_hung(cells)


@pytest.mark.long
def test_a_page_made_of_it_shows_the_tool_and_the_result(tmp_path):
    """The HTML of nbconvert holds the static view, and asks nothing of the network for it."""
    write_notebook(tmp_path / "in.ipynb", *CELLS)
    command = [BIN / "jupyter-nbconvert", "--to", "html", "--execute", "in.ipynb"]
    subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(tmp_path),
        check=True,
        capture_output=True,
    )
    page = (tmp_path / "in.html").read_text(encoding="utf-8")
    assert "HEAR" in page
    # A heading of the static view
    assert "the model read" in page.lower()


@pytest.mark.long
@pytest.mark.front_end("nbval", "load", "run")
def test_nbval_compares_what_is_deterministic(tmp_path):
    """A notebook saved with its outputs passes when nbval runs it again."""
    write_notebook(tmp_path / "in.ipynb", *CELLS)
    environ = environment(tmp_path)
    command = [BIN / RUNS["jupyter execute"][0], *RUNS["jupyter execute"][1:]]
    subprocess.run(command, cwd=tmp_path, env=environ, check=True, capture_output=True)
    sanitize = ROOT / "tests/sanitize.cfg"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "nbval.plugin"),
            *("--nbval", "--nbval-current-env", "in.ipynb"),
            *("--nbval-sanitize-with", sanitize, "-p", "no:cacheprovider"),
        ],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"{len(CELLS)} passed" in done.stdout, done.stdout
