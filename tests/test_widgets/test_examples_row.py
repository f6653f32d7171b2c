"""The examples under a panel's form: a click fills it, a name saves what it has."""

import pytest
from pydantic import SecretStr

from test_widgets.front import click, named, receive
from test_widgets.tooling import buttons, finish, shown
from toolbench import tool
from toolbench.evals.examples import ExampleFile
from toolbench.widgets.panel.panel import ToolPanel

pytestmark = pytest.mark.usefixtures("no_open_panels")


@tool
def book(city: str, token: SecretStr | None = None, nights: int = 1) -> str:
    """Book a room."""
    return f"{city} {nights}"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder of the notebook."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(panel, name):
    """Give what is offered a name."""
    receive(named(panel, "Name of the example"), value=name)
    click(buttons(panel)["Save"])


def test_a_name_saves_the_values_and_a_click_brings_them_back(folder):
    """The first file is asked about, once. A secret stays in the form, and out of the file."""
    panel, other = ToolPanel(book), ToolPanel(book)
    assert "Save as example" not in buttons(ToolPanel(tool(lambda: "done", name="wait")))
    panel.form.value = {"city": "Köln", "token": "hunter2hunter2", "nights": 3}
    click(buttons(panel)["Save as example"])
    save(panel, "")
    assert "needs a name" in shown(panel)
    save(panel, "a week")
    assert "Save again, to write book.examples.yaml" in shown(panel) and not list(folder.iterdir())
    click(buttons(panel)["Save"])
    assert "Left out, as a secret or too long: token." in shown(panel)
    [path] = folder.iterdir()
    assert "hunter2" not in path.read_text()
    panel.form.value = {"city": "Bonn", "token": "other2other2"}
    click(buttons(panel)["a week"])
    assert panel.form.value == {"city": "Köln", "nights": 3, "token": "other2other2"}
    click(buttons(other)["a week"])
    assert other.form.value == {"city": "Köln", "nights": 3}
    click(buttons(other)["Save as example"])
    save(other, "<b>")
    assert {"a week", "<b>"} <= set(buttons(panel))


def test_a_run_of_the_history_is_an_example_too():
    """Its secrets are not recorded; the form stays as it is."""
    panel = ToolPanel(book, {"city": "Rome", "token": "hunter2hunter2"})
    panel.run()
    finish(panel)
    panel.form.value = {"city": "typed"}
    panel.tabs.widget.selected_index = 4
    click(named(panel.tabs.widget, "Save as example"))
    save(panel, "Rome")
    click(buttons(panel)["Save"])
    [example] = ExampleFile.of(book).read()
    assert (example.arguments, example.left_out) == ({"city": "Rome"}, ("token",))
    assert panel.form.value == {"city": "typed"}


def test_a_file_by_hand_is_seen_after_the_next_cell(folder):
    """A damaged one is told in a sentence, where the examples were."""
    panel = ToolPanel(book)
    path = folder / "book.examples.yaml"
    path.write_text("tool: book\nexamples:\n- {name: mine, arguments: {city: no}}\n")
    panel.look()
    click(buttons(panel)["mine"])
    assert panel.form.value == {"city": "no"}
    path.write_text("tool: [")
    panel.look()
    assert "book.examples.yaml cannot be used" in shown(panel) and "mine" not in buttons(panel)
    path.unlink()
    panel.look()
    assert "cannot be used" not in shown(panel)
