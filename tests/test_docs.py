"""What the documents show is true: every block of code runs, and shows what is printed below it."""

import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import pytest
from documents import DOCUMENTS, REFERENCE, ROOT, blocks, commands
from kernels import FORGET
from promised.test_cells import CELLS, neutral

from toolbench.cli import main
from toolbench.cli.app import app

sys.path.insert(0, str(ROOT / "scripts"))

import reference

# Signatures do not run
RUN = [path for path in DOCUMENTS if path.parent != REFERENCE]
RAISES = "raises"
# Run by tests/peers, where the libraries are
PEERS = "peers"


class Cell(NamedTuple):
    """A block of Python, whether it raises, and the text that is said to come of it."""

    source: str
    raises: bool
    shown: str = ""


def cells(document: Path) -> list[Cell]:
    """The Python of *document* as cells."""
    written: list[Cell] = []
    for block in blocks(document):
        language, *marks = block.info.split() or [""]
        if language == "python" and PEERS not in marks:
            written.append(Cell(block.content, RAISES in marks))
        elif language == "text" and written:
            written[-1] = written[-1]._replace(shown=block.content)
    return written


def name_of(document: Path) -> str:
    return str(document.relative_to(ROOT))


def are_promised(document: Path) -> bool:
    """Whether promised/test_cells.py runs exactly the cells of *document*."""
    promised = [cell["source"] for cell in CELLS.get(name_of(document), ())]
    return promised == [cell.source for cell in cells(document)]


def test_promised_cells_are_shown_with_what_comes_of_them():
    """The kernel of promised/test_cells.py runs them: here what the documents show is compared."""
    for document in filter(are_promised, RUN):
        for cell, promised in zip(cells(document), CELLS.get(name_of(document), ()), strict=True):
            assert cell.raises == promised["raises"], (document, cell.source)
            assert neutral(cell.shown) in promised["output"], (document, cell.source)


@pytest.mark.slow
# Each document is a promise
@pytest.mark.every_case
@pytest.mark.parametrize(
    "document",
    [path for path in RUN if not are_promised(path)],
    ids=name_of,
)
def test_the_python_of_a_document_runs(document, shared_kernel, tmp_path):
    """In a kernel without names, tools and records, from top to bottom; only `raises` raises."""
    kernel = shared_kernel
    kernel.run(FORGET)
    kernel.run(f"%cd {tmp_path}")
    for cell in cells(document):
        failed, text = kernel.outcome(cell.source)
        assert failed == cell.raises, (cell.source, text)
        assert neutral(cell.shown) in neutral(text)


def test_our_commands_of_the_documents_run(tmp_path, monkeypatch, capsys):
    """A line with `toolbench` does what it says; one that stays open, or asks others, knows its words."""
    monkeypatch.chdir(tmp_path)
    for program, words in commands():
        if program == "toolbench":
            app.parse_args(takewhile("--".__ne__, words), exit_on_error=False)
            if words[0] in ("new", "export", "connect") or words == ["doctor"]:
                assert main(words) == 0, capsys.readouterr()


@pytest.mark.slow
def test_the_reference_is_up_to_date(capsys):
    """`make docs` would change no page of it."""
    code = reference.main(["--check"])
    assert code == 0, capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("script", ["front_ends.py", "badges.py", "figures.py"])
def test_what_is_made_is_up_to_date(script):
    """`make docs` would change nothing else."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, "--check"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
