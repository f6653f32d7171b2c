"""The card of an exported package: what it shows, and its tests, which a click runs."""

import os
from pathlib import Path

import psutil
import pytest
from patience import eventually
from test_export.notebook import new_notebook

from test_widgets.front import click, page
from test_widgets.tooling import buttons, wait_for_ticker
from toolbench.core.secrets import secret_store
from toolbench.export import export_package
from toolbench.widgets.export_card import ExportCard

CELLS = (
    "from toolbench import tool",
    "TOKEN = 'hunter2-sesame'\nRATE = 2",
    "@tool(read_only=True)\ndef double(n: int) -> int:\n    '''Double it.'''\n"
    "    return n * RATE * bool(TOKEN)",
)
TESTED = "import os, time\nfrom pathlib import Path\n\ndef test_one():\n    {}\n"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of one tool, which was exported as a cell does it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOKEN", "hunter2-sesame")
    with new_notebook() as notebook:
        notebook.run(*CELLS)
        return export_package(notebook["double"], "pkg")


@pytest.fixture
def card(package, no_records):
    """Its card."""
    card = ExportCard(package)
    yield card
    card.close()
    wait_for_ticker()


def write_test(package, code):
    """Let *code* be the only test of the package."""
    (package / "tests" / "test_double.py").write_text(TESTED.format(code))


def test_shows_how_it_is_used(card, package):
    """The lines to copy, the variable to set, and each file."""
    html = page(card)
    for text in ("from double import create_tools", "install", "TOKEN", "impl.py", "recorded.json"):
        assert text in html
    assert "hunter2" not in html
    assert "Set <code>TOKEN</code> in the environment" in html
    bundle = card._repr_mimebundle_()
    assert bundle["text/plain"].startswith("PosixPath('pkg')\nTo look at: Set `TOKEN`")
    assert "-m venv ./pkg_env" in bundle["text/html"]
    readme = (package / "README.md").read_text("utf-8")
    # It is given to others
    assert "install TOOLBENCH ." in readme and str(Path(__file__).parents[2]) not in readme


@pytest.mark.slow
def test_runs_its_tests(card, package, tmp_path, monkeypatch):
    """In a process of its own, which gets the secrets of the session; their values are in no output."""
    package = package.absolute()
    monkeypatch.delenv("TOKEN")
    secret_store.keep("TOKEN", "hunter2-sesame")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    write_test(package, "print(os.environ['TOKEN'], os.getpid()); assert 0")
    click(buttons(card)["Run its tests"])
    eventually(lambda: "tests failed" in page(card))
    assert "1 failed" in page(card)
    assert "hunter2" not in page(card) and "secret-hidden" in page(card)
    assert str(os.getpid()) not in page(card)
    write_test(package, "pass")
    click(buttons(card)["Run its tests"])
    eventually(lambda: "tests passed" in page(card))
    assert "1 failed" not in page(card)
    package.rename(tmp_path / "gone")
    click(buttons(card)["Run its tests"])
    assert "any more: export the package again" in page(card)


@pytest.mark.parametrize("way", ["cancel", "close"])
def test_ends_its_tests(card, package, way):
    """By its button, or with the view: the process is gone."""
    write_test(package, "Path('pid').write_text(str(os.getpid())); time.sleep(600)")
    click(buttons(card)["Run its tests"])
    place = package / "pid"
    process = int(eventually(lambda: place.is_file() and place.read_text()))
    if way == "cancel":
        click(buttons(card)["Cancel"])
        eventually(lambda: "cancelled" in page(card))
    else:
        card.close()
    eventually(lambda: not psutil.pid_exists(process))
