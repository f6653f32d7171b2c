"""Forms as people fill them in, by keyboard and mouse."""

import json
import re

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from browser.form_page import ASK, ASK_AT, FORM_AT, FormPage
from browser.lab import NotebookPage, text_in

BIG = 2**53 + 1
SECRET = "sk-very-secret"
SCHEMA = {
    "type": "object",
    "description": "What to order.",
    "properties": {
        "name": {"type": "string", "description": "Who it is for."},
        "amount": {"type": "integer", "description": "How many.", "minimum": 1},
        "token": {"type": "string"},
        "urgent": {"type": "boolean"},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"what": {"type": "string"}},
                "required": ["what"],
            },
        },
        "pet": {
            "oneOf": [
                {
                    "title": "Cat",
                    "type": "object",
                    "properties": {
                        "kind": {"const": "cat"},
                        "lives": {"type": "integer"},
                    },
                    "required": ["kind"],
                },
                {
                    "title": "Dog",
                    "type": "object",
                    "properties": {
                        "kind": {"const": "dog"},
                        "trick": {"type": "string"},
                    },
                    "required": ["kind"],
                },
            ]
        },
        "note": {"type": "string", "description": "For the log."},
    },
    "required": ["name", "lines"],
    "if": {"properties": {"urgent": {"const": True}}, "required": ["urgent"]},
    "then": {"properties": {"reason": {"type": "string"}}},
}
FORM = f"""
import json
from ipywidgets import VBox
from toolbench.widgets.form import SchemaForm
form = SchemaForm(json.loads({json.dumps(json.dumps(SCHEMA))}))
VBox([form.widget, form.json_widget])
"""


def fill_in(at: FormPage) -> None:
    """Text and a number beyond 2**53, by keyboard alone: Tab goes in the schema's order."""
    at.field("note").wait_for()
    at.field("name").click()
    focused = []
    for _ in range(7):
        focused.append(at.focused())
        at.keys.press("Tab")
    assert focused == [
        *("name", "amount", "token", "urgent: not sent", "Add to lines"),
        *("pet: not sent", "note"),
    ]
    at.field("name").click()
    at.keys.type("Ada")
    at.keys.press("Tab")
    at.keys.type(str(BIG))
    at.keys.press("Tab")
    at.keys.type(SECRET)
    at.keys.press("Tab")
    expect(at.field("token")).to_have_value("")
    at.holds({"name": "Ada", "amount": BIG, "token": SECRET})


def make_a_mistake(at: FormPage) -> None:
    """The error appears at its field while typing, the cursor stays; undoing takes it away."""
    at.field("amount").click()
    at.keys.press("Control+A")
    at.keys.type("12x")
    expect(at.form.locator(".tb-error")).to_have_text("'12x' is not an integer.")
    assert at.focused() == "amount"
    assert at.page.evaluate("document.activeElement.selectionStart") == 3
    expect(at.field("amount")).to_have_attribute("aria-invalid", "true")
    expect(at.field("amount")).to_have_accessible_description(
        re.compile("'12x' is not an integer.")
    )
    expect(at.form.get_by_role("alert")).to_have_text("Fix 1 field: amount.")
    at.keys.press(at.undo)
    expect(at.field("amount")).not_to_have_value("12x")
    at.keys.press("Control+A")
    at.keys.type("12")
    expect(at.form.locator(".tb-error")).to_have_count(0)
    at.holds({"name": "Ada", "amount": 12, "token": SECRET})


def work_on_rows(at: FormPage) -> None:
    """A new row has the cursor; rows move, and go, with what was typed into them."""
    for what in ("one", "two", "three"):
        at.form.get_by_role("button", name="Add to lines").click()
        at.has_focus("what")
        at.keys.type(what)
    boxes = at.field("what")
    expect(boxes).to_have_count(3)
    row_button(at, "Move up", 2).click()
    expect(boxes.nth(1)).to_have_value("three")
    row_button(at, "Move down", 0).click()
    expect(boxes.nth(0)).to_have_value("three")
    row_button(at, "Remove", 1).click()
    expect(boxes).to_have_count(2)
    lines = [{"what": "three"}, {"what": "two"}]
    at.holds({"name": "Ada", "amount": 12, "token": SECRET, "lines": lines})


def row_button(at: FormPage, action: str, row: int) -> Locator:
    return at.form.locator(f"button[title='{action} lines, item {row + 1}']")


def change_branches(at: FormPage) -> None:
    """Whoever comes back to a branch finds what was typed there."""
    at.switch("pet", "Cat")
    at.field("lives").press_sequentially("9")
    at.switch("pet", "Dog")
    at.field("trick").press_sequentially("sit")
    # In the list only
    expect(at.form.get_by_text("Cat", exact=True)).to_have_count(1)
    at.switch("pet", "Cat")
    expect(at.field("lives")).to_have_value("9")
    at.switch("urgent", "yes")
    # Which only urgent orders have
    at.field("reason").press_sequentially("now")
    at.holds(
        {
            "name": "Ada",
            "amount": 12,
            "token": SECRET,
            "urgent": True,
            "lines": [{"what": "three"}, {"what": "two"}],
            "pet": {"kind": "cat", "lives": 9},
            "reason": "now",
        }
    )


def type_json(at: FormPage) -> None:
    """Pasted JSON fills the form; half-typed JSON stays as typed, says so, and blocks."""
    area = at.notebook.output(FORM_AT).get_by_role("textbox", name="Arguments as JSON")
    assert SECRET not in text_in(area)
    area.click()
    at.keys.press("Control+A")
    at.keys.insert_text('{"name": "Grace", "lines": [], "else": true}')
    expect(at.field("name")).to_have_value("Grace")
    # Before the brace
    at.keys.press("ArrowLeft")
    at.keys.type(', "am')
    expect(at.notebook.output(FORM_AT).get_by_text("Not JSON yet").first).to_be_visible()
    assert text_in(area) == '{"name": "Grace", "lines": [], "else": true, "am}'
    filled = {"name": "Grace", "lines": [], "else": True}
    at.holds(filled, blocked=True)
    area.click()
    at.keys.press("Control+End")
    at.keys.press("ArrowLeft")
    at.keys.type('ount": 3')
    expect(at.field("amount")).to_have_value("3")
    at.holds({**filled, "amount": 3})


def everything(at: FormPage) -> None:
    for do in (fill_in, make_a_mistake, work_on_rows, change_branches, type_json):
        do(at)
    at.notebook.save()
    saved = (at.notebook.errors(), at.notebook.tab.foreign_requests)
    assert saved == ([], [])


class TestFillingIn:
    def test_in_jupyterlab(self, lab: NotebookPage):
        """Keyboard, rows, unions, mistakes, JSON; no secret is in the saved notebook."""
        at = FormPage(lab, FORM, ASK)
        everything(at)
        lab.picture("form-filled")
        assert lab.tab.console_errors == []
        self.saves_no_secret(at)

    @pytest.mark.long
    def test_in_notebook7(self, notebook7: NotebookPage):
        """The same in Notebook 7."""
        at = FormPage(notebook7, FORM, ASK)
        # Notebook 7.6 takes Ctrl+Z from every input on its page
        at.undo = "Backspace"
        everything(at)
        self.saves_no_secret(at)

    def saves_no_secret(self, at: FormPage) -> None:
        """Only what the test itself printed holds it."""
        notebook = nbformat.read(at.notebook.tab.shared, as_version=4)
        notebook.cells[ASK_AT].outputs = []
        assert SECRET not in nbformat.writes(notebook)


MANY = """
import json
from toolbench.widgets.form import SchemaForm
names = [f"field_{n:02}" for n in range(53)] + ["sort_by", "sort_order"]
form = SchemaForm({
    "type": "object",
    "properties": {name: {"type": "string", "description": f"About {name}."} for name in names},
    "required": ["field_40"],
})
form.widget
"""


class TestManyFields:
    def test_one_of_55_is_found(self, lab: NotebookPage):
        """A dozen fields and a search box; what is picked appears and has the cursor."""
        at = FormPage(lab, MANY, ASK)
        inputs = at.form.locator("input")
        expect(inputs).to_have_count(13)
        expect(at.form.get_by_text("43 more fields")).to_be_visible()
        # It is required
        expect(at.field("field_40")).to_be_visible()
        at.field("Add a field").click()
        at.keys.type("sort_order")
        at.keys.press("Enter")
        at.has_focus("sort_order")
        at.keys.type("down")
        at.holds({"sort_order": "down"})
        expect(inputs).to_have_count(14)
        at.form.get_by_role("button", name="Show all").click()
        expect(inputs).to_have_count(55)
