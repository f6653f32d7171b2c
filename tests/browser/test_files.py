"""A file that a person chooses comes in pieces, so a large one does not end the connection."""

import hashlib
from pathlib import Path

import pytest

from browser.lab import NotebookPage, write_notebook

CELLS = (
    "%load_ext toolbench",
    """
import hashlib
from toolbench import tool

@tool
def digest(file: bytes = b"") -> str:
    '''Say what came.'''
    return f"{len(file)} {hashlib.sha256(file).hexdigest()[:12]}"

digest
""",
)


def said(content: bytes) -> str:
    return f"{len(content)} {hashlib.sha256(content).hexdigest()[:12]}"


@pytest.fixture
def panel(lab: NotebookPage, nbroot: Path) -> NotebookPage:
    """A notebook with the panel of a tool that takes a file."""
    write_notebook(nbroot / "files.ipynb", *CELLS)
    lab.open("files.ipynb")
    lab.run_all()
    lab.wait_for_module()
    return lab


def choose(panel: NotebookPage, file: Path) -> None:
    with panel.tab.page.expect_file_chooser() as chooser:
        panel.output(1).locator(".widget-upload").click()
    chooser.value.set_files(file)


def test_a_file_of_12_mb_arrives(panel: NotebookPage, tmp_path: Path) -> None:
    """Name and size are said; one that is too large is refused before it is sent."""
    large, file = tmp_path / "large.bin", tmp_path / "blob.bin"
    content = bytes(range(256)) * 46_875
    file.write_bytes(content)
    with large.open("wb") as sparse:
        sparse.truncate(60_000_000)
    choose(panel, large)
    panel.wait_for_text(
        "The file large.bin has 60,000,000 bytes, and a form takes 50,000,000 at most"
    )
    choose(panel, file)
    panel.wait_for_text("12,000,000 bytes, file blob.bin.")
    panel.click("Run", within=panel.output(1))
    panel.wait_for_text(said(content), within=panel.output(1))
