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

AIDS = """
import json
from toolbench.widgets.form import SchemaForm
text = {"type": "string"}
form = SchemaForm({"type": "object", "properties": {
    "labels": {"type": "array", "items": {"enum": ["bug", "ui", "docs"]}, "default": ["bug"]},
    "share": {"type": "integer", "minimum": 0, "maximum": 50, "default": 20},
    "day": {**text, "format": "date"}, "when": {**text, "format": "date-time"},
    "file": {**text, "contentEncoding": "base64"},
}})
form.widget
"""
# What a person does in the calendar of the browser, which no test can reach
CHOOSE = "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }"
DROP = """zone => {
  const files = new DataTransfer();
  files.items.add(new File(["one,two"], "notes.csv"));
  for (const kind of ["dragover", "drop"])
    zone.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: files}));
}"""


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


def test_what_the_page_adds_writes_into_the_text(lab: NotebookPage):
    """Chips, a slider, a calendar and a place to drop a file: the text is what counts, drafts included."""
    at = FormPage(lab, AIDS, ASK, "form.value = {'share': 7, 'labels': ['ui']}")
    at.notebook.wait_for_module()
    chips = at.form.get_by_role("listbox", name="labels").get_by_role("option")
    expect(chips.nth(0)).to_have_attribute("aria-selected", "true")
    chips.nth(0).focus()
    at.keys.press("ArrowRight")
    at.keys.press("ArrowRight")
    at.keys.press("Space")
    at.holds({"labels": ["bug", "docs"]})
    chips.nth(2).press("Space")
    # The default, which is not sent
    at.holds({})
    chips.nth(2).focus()
    at.keys.press("Tab")
    assert called(at) == "share"
    slider = at.form.get_by_label("share, slider")
    expect(slider).to_have_value("20")
    slider.press("ArrowRight")
    expect(at.field("share")).to_have_value("21")
    at.holds({"share": 21})
    # Beyond the limits is kept as typed, and an emptied text is no value
    at.field("share").fill("70")
    at.holds({"share": 70})
    expect(slider).to_have_value("50")
    at.field("share").fill("")
    expect(slider).to_have_value("20")
    at.field("day").fill("24.12.")
    at.holds({"day": "24.12."})
    at.form.locator(".tb-format-date .tb-native").evaluate(CHOOSE, "2026-12-24")
    expect(at.field("day")).to_have_value("2026-12-24")
    at.field("when").fill("2026-12-24 18:00")
    at.form.locator(".tb-format-date-time .tb-native").evaluate(CHOOSE, "2026-12-25T09:30")
    at.holds({"day": "2026-12-24", "when": "2026-12-25T09:30:00"})
    at.form.locator(".tb-file").evaluate(DROP)
    expect(at.form.get_by_text("notes.csv · 7 bytes")).to_be_visible()
    expect(at.form.locator(".tb-preview pre")).to_have_text("one,two")
    at.holds({"day": "2026-12-24", "when": "2026-12-25T09:30:00", "file": "b25lLHR3bw=="})
    at.form.get_by_role("button", name="Remove").click()
    at.holds({"day": "2026-12-24", "when": "2026-12-25T09:30:00"})
    # What the kernel sets is shown too
    lab.run(2)
    expect(slider).to_have_value("7")
    expect(chips.nth(1)).to_have_attribute("aria-selected", "true")
    expect(chips.nth(0)).to_have_attribute("aria-selected", "false")
    assert lab.tab.console_errors == []
