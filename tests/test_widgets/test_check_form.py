"""*Save as check* in a panel: a run becomes a check in a file, which expects its result."""

from html import unescape

import pytest

from test_widgets.front import click, named, receive
from test_widgets.tooling import buttons, finish
from test_widgets.tooling import shown as html_of
from toolbench import answering, current_run, tool
from toolbench.checks import Checks
from toolbench.widgets.panel.panel import ToolPanel

pytestmark = pytest.mark.usefixtures("no_open_panels", "no_records")


@tool
def book(city: str, token: str = "", nights: int = 1) -> dict:
    """Book a room."""
    if not nights:
        raise ValueError("No nights.")
    by = current_run().ask("For whom?", {"type": "string"}).value
    return {"city": city, "by": by, "at": "2026-11-30T10:00:00Z"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder of the notebook."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(panel):
    """The words in *panel*."""
    return unescape(html_of(panel))


def ran(arguments, *answers):
    """The panel of a run that has ended."""
    panel = ToolPanel(book, arguments)
    with answering(*answers):
        panel.run()
    finish(panel)
    return panel


def save(panel, name, file=None):
    """Click on *Save as check*, and give it a name."""
    click(buttons(panel)["Save as check"])
    receive(named(panel, "Name of the check"), value=name)
    if file is not None:
        receive(named(panel, "Its file"), value=file)
    click(buttons(panel)["Save"])


def test_the_run_on_screen_is_saved_and_passes():
    """With its answers; what differs from run to run is loosened, and comments stay."""
    panel = ran({"city": "Köln"}, "Ada")
    # Of the run, not of the form
    panel.form.value = {"city": "typed"}
    save(panel, "books a room")
    assert "Saved 'books a room', which expects the result of run" in shown(panel)
    assert "%tools check book.checks.yaml runs its checks" in shown(panel)
    [check] = Checks.read("book.checks.yaml")
    assert (dict(check.arguments), check.answers) == ({"city": "Köln"}, ("Ada",))
    assert check.expect["result"]["by"] == "Ada" and check.expect["loosen"] == ["times"]
    assert Checks.read("book.checks.yaml").run([book], confirm=False).passed


def test_a_second_one_goes_into_the_same_file(folder):
    """Also an expected error; a name that is taken gets a number."""
    panel = ran({"city": "Rome"}, "Ada")
    save(panel, "mine", "rooms")
    path = folder / "rooms.checks.yaml"
    path.write_text(f"# My rooms\n{path.read_text()}")
    panel.form.value = {"city": "Rome", "nights": 0}
    panel.run()
    finish(panel)
    save(panel, "mine")
    assert "Saved 'mine 2'" in shown(panel)
    assert path.read_text().startswith("# My rooms\n")
    assert [check.name for check in Checks.read(path)] == ["mine", "mine 2"]
    assert Checks.read(path)[1].expect["error"] is True


def test_says_why_nothing_was_saved(folder):
    """No result yet, a secret, a damaged file: nothing is written."""
    panel = ToolPanel(book, {"city": "Rome"})
    click(buttons(panel)["Save as check"])
    assert "There is no result that a check can expect." in shown(panel)
    secret = ran({"city": "Rome", "token": "hunter2hunter2"}, "Ada")
    save(secret, "mine")
    assert "cannot be repeated: the history keeps no secret" in shown(secret)
    assert not list(folder.iterdir())
    (folder / "book.checks.yaml").write_text("checks: [")
    open_to_all = ran({"city": "Rome"}, "Ada")
    save(open_to_all, "mine", "~nobody-of-this-name/rooms")
    assert "rooms.checks.yaml cannot be written: No such file" in shown(open_to_all)
    save(open_to_all, "mine", "book")
    assert "book.checks.yaml cannot be used" in shown(open_to_all)
    assert (folder / "book.checks.yaml").read_text() == "checks: ["


def test_a_run_of_the_history_is_saved_too():
    """The one that is picked; without a name, the call is the name."""
    panel = ran({"city": "Rome"}, "Ada")
    panel.tabs.widget.selected_index = 4
    click(named(panel.tabs.widget, "Save as check"))
    click(buttons(panel)["Save"])
    assert 'city="Rome"' in shown(panel)
    assert Checks.read("book.checks.yaml")[0].name == 'book city="Rome"'
