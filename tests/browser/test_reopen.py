"""A notebook that was saved with a panel in it, opened again and not run."""

import pytest

from browser.lab import ClassicPage, NotebookPage, write_notebook

CELLS = (
    "%load_ext toolbench",
    "from toolbench import tool\n"
    "@tool\n"
    "def backwards(text: str) -> str:\n"
    '    """Say it backwards.\n\n    Args:\n        text: What to say.\n    """\n'
    "    return text[::-1]\n"
    "backwards",
    "%tool backwards text=stressed",
)


def saved_text(page, place) -> str:
    """What can be read of a saved output, which holds no form any more."""
    place.get_by_text("desserts").first.wait_for()
    return place.inner_text()


@pytest.mark.front_end("Notebook 7", "reopen")
def test_in_notebook_7(notebook7: NotebookPage, nbroot):
    """The tool, its parameters and the result can be read without a kernel's help."""
    write_notebook(nbroot / "reopen7.ipynb", *CELLS)
    notebook7.open("reopen7.ipynb")
    notebook7.run_all()
    notebook7.save()
    notebook7.shut_down()
    notebook7.open("reopen7.ipynb")
    assert "desserts" in saved_text(notebook7, notebook7.output(2))
    panel = notebook7.output(1).inner_text()
    assert "Say it backwards." in panel
    assert "What to say." in panel


@pytest.mark.front_end("nbclassic", "reopen")
def test_in_nbclassic(nbclassic: ClassicPage, nbroot):
    """The classic front end shows the same static view."""
    write_notebook(nbroot / "reopen.ipynb", *CELLS)
    nbclassic.open("reopen.ipynb")
    nbclassic.run_all()
    nbclassic.wait_for_text("desserts")
    nbclassic.save()
    nbclassic.shut_down()
    nbclassic.open("reopen.ipynb")
    outputs = nbclassic.tab.page.locator(".output_wrapper")
    assert "desserts" in saved_text(nbclassic, outputs.nth(2))
    panel = outputs.nth(1).inner_text()
    assert "Say it backwards." in panel
    assert "What to say." in panel
