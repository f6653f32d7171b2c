"""A file that a person chooses comes in pieces; a connection that breaks leaves no dead panel."""

import hashlib
import re
from pathlib import Path

import pytest
from playwright.sync_api import WebSocketRoute

from browser.lab import NotebookPage, write_notebook

CELLS = (
    "%load_ext toolbench",
    """
import hashlib
from toolbench import tool

@tool
def digest(file: bytes = b"", note: str = "") -> str:
    '''Say what came.'''
    return f"{len(file)} {hashlib.sha256(file).hexdigest()[:12]} {note}"

digest
""",
)


def said(content: bytes) -> str:
    return f"{len(content)} {hashlib.sha256(content).hexdigest()[:12]}"


@pytest.fixture
def panel(lab: NotebookPage) -> NotebookPage:
    """A notebook with the panel of a tool that takes a file."""
    lab.share(*CELLS)
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
    panel.click("Run", within=panel.output(1))
    panel.wait_for_text("Fix 1 field", within=panel.output(1))
    panel.click("Remove", within=panel.output(1))
    panel.click("Run", within=panel.output(1))
    panel.wait_for_text(said(b""), within=panel.output(1))
    choose(panel, file)
    panel.wait_for_text("blob.bin · 12.0 MB", within=panel.output(1))
    panel.click("Run", within=panel.output(1))
    panel.wait_for_text(said(content), within=panel.output(1))


def test_what_breaks_on_the_way_is_said(
    new_lab: NotebookPage, nbroot: Path, tmp_path: Path
) -> None:
    """What was on its way may be lost: nothing runs without it, and the panel lives on."""
    broken, changing = [], tmp_path / "changing.bin"
    changing.write_bytes(b"before")

    def connect(page: WebSocketRoute) -> None:
        server = page.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            data = message.encode() if isinstance(message, str) else message
            if b"changing.bin" in data and changing.read_bytes() == b"before":
                # After it was chosen: a browser does not read it any more
                changing.write_bytes(b"another length")
            if b"in vain" in data and not broken:
                broken.append(data)
                page.close()
            else:
                server.send(message)

        page.on_message(pass_on)

    new_lab.tab.page.route_web_socket(re.compile("/channels"), connect)
    write_notebook(nbroot / "broken.ipynb", *CELLS)
    new_lab.open("broken.ipynb")
    new_lab.run_all()
    new_lab.wait_for_module()
    panel = new_lab.output(1)
    note = panel.get_by_label("note", exact=True)
    note.fill("in vain")
    new_lab.wait_for_text("The connection broke, and the kernel may not have this.")
    new_lab.click("Run", within=panel)
    new_lab.wait_for_text("Nothing was done: the connection broke")
    note.fill("again")
    new_lab.click("Run", within=panel)
    new_lab.wait_for_text(f"{said(b'')} again", within=panel)
    choose(new_lab, changing)
    new_lab.wait_for_text(
        "The file changing.bin cannot be read any more. Choose it again.", within=panel
    )
    assert "on its way" not in panel.inner_text()
    new_lab.click("Run", within=panel)
    new_lab.wait_for_text("Fix 1 field", within=panel)
    choose(new_lab, changing)
    new_lab.wait_for_text("changing.bin · 14 bytes", within=panel)
    new_lab.click("Run", within=panel)
    new_lab.wait_for_text(f"{said(b'another length')} again", within=panel)
