"""A form filled in without a mouse: lines come, move and go where the Tab key finds them."""

import pytest
from patience import eventually
from playwright.sync_api import expect

from browser.form_page import ASK, FormPage
from browser.lab import NotebookPage

FORM = """
import json
from toolbench.widgets.form import SchemaForm
text = {"type": "string"}
row = {"type": "object", "properties": {"what": text}, "required": ["what"]}
form = SchemaForm({"type": "object", "properties": {
    "size": {"enum": ["small", "large", "larger", "huge", "vast", "endless"]},
    "lines": {"type": "array", "items": row},
    "prices": {"type": "object", "additionalProperties": {"type": "integer"}},
    "end": text,
}})
form.widget
"""

SWITCHES = """
import json
from toolbench.widgets.form import SchemaForm
def kind(tag, **parts):
    return {"type": "object", "properties": {"tag": {"const": tag}, **parts}, "required": ["tag"]}
form = SchemaForm({"type": "object", "required": ["deep", "kind"], "properties": {
    "before": {"type": "string"}, "deep": {"type": "boolean"},
    "kind": {"oneOf": [kind("cat", lives={"type": "integer"}), kind("dog")]},
}})
form.widget
"""

DATE = """
import json
from toolbench.widgets.form import SchemaForm
form = SchemaForm({"type": "object", "properties": {"day": {"type": "string", "format": "date"}}})
form.widget
"""


def reach(at: FormPage, name: str) -> None:
    """Press Tab until what is called *name* has the cursor."""
    passed = []
    while called(at) != name:
        passed.append(called(at))
        assert len(passed) < 12, f"Tab does not lead to {name!r}, but to {passed}"
        at.keys.press("Tab")


def called(at: FormPage) -> str:
    """What has the cursor: by its label, its tooltip or its words."""
    name: str = at.page.evaluate(
        "() => document.activeElement.labels?.[0]?.textContent"
        " || document.activeElement.title || document.activeElement.textContent"
    )
    return name


def arrives(at: FormPage, name: str) -> None:
    """Wait until the cursor is at *name*: it comes with an answer of the kernel."""
    eventually(lambda: called(at) == name, what=f"the cursor is at {name}")


@pytest.fixture(params=["lab", pytest.param("notebook7", marks=pytest.mark.long)])
def notebook(request: pytest.FixtureRequest) -> NotebookPage:
    """A notebook page, of each front end that has such."""
    page: NotebookPage = request.getfixturevalue(request.param)
    return page


def test_lines_by_keyboard(notebook: NotebookPage):
    """Tab, Enter, Space and arrows are enough, and the cursor is never lost."""
    at = FormPage(notebook, FORM, ASK)
    at.field("size").focus()
    # The arrows of a closed list are JupyterLab's (ipywidgets #3912)
    at.keys.press("Space")
    at.keys.press("ArrowDown")
    at.keys.press("ArrowDown")
    at.keys.press("Enter")
    # Of lines
    reach(at, "not sent")
    at.keys.press("ArrowRight")
    expect(at.form.get_by_role("button", name="Add to lines")).to_be_visible()
    for what in ("one", "two"):
        reach(at, "Add to lines")
        at.keys.press("Enter")
        arrives(at, "what")
        at.keys.type(what)
    at.holds({"size": "large", "lines": [{"what": "one"}, {"what": "two"}]})
    at.field("what").nth(1).focus()
    reach(at, "Move up lines, item 2")
    at.keys.press("Enter")
    arrives(at, "what")
    at.holds({"size": "large", "lines": [{"what": "two"}, {"what": "one"}]})
    at.field("what").nth(0).focus()
    reach(at, "Remove lines, item 1")
    at.keys.press("Enter")
    arrives(at, "Add to lines")
    # Of prices
    reach(at, "not sent")
    at.keys.press("ArrowRight")
    expect(at.form.get_by_role("button", name="Add to prices")).to_be_visible()
    reach(at, "Add to prices")
    at.keys.press("Enter")
    arrives(at, "key")
    at.keys.type("tea")
    at.keys.press("Tab")
    at.keys.type("3")
    reach(at, "end")
    at.keys.type("x")
    at.holds({"size": "large", "lines": [{"what": "one"}], "prices": {"tea": 3}, "end": "x"})


def test_switches_by_keyboard(lab: NotebookPage):
    """A switch is one stop of the Tab key; arrows choose in it, and the notebook hears none."""
    at = FormPage(lab, SWITCHES, ASK)
    at.field("before").focus()
    at.keys.press("Tab")
    at.has_focus("deep: yes")
    # To be there chooses nothing
    at.holds({})
    at.field("before").focus()
    at.keys.press("Tab")
    for key, option in [("Space", "yes"), ("ArrowRight", "no")]:
        at.keys.press(key)
        at.has_focus(f"deep: {option}")
    at.holds({"deep": False})
    at.switch("deep", "no")
    at.keys.press("Tab")
    at.has_focus("kind: cat")
    at.keys.press("Space")
    at.form.get_by_label("lives", exact=True).wait_for()
    at.keys.press("Tab")
    at.keys.type("9")
    at.holds({"deep": False, "kind": {"tag": "cat", "lives": 9}})


def test_a_calendar_shows_the_day_that_is_sent(lab: NotebookPage):
    """Also if day, month and year are typed in the order of another country."""
    at = FormPage(lab, DATE, ASK)
    at.notebook.wait_for_module()
    day = at.field("day")
    day.focus()
    at.keys.type("24.12.2026")
    at.keys.press("Tab")
    at.holds({"day": day.input_value()})
    expect(day).to_have_value("2026-02-04")
