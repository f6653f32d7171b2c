"""The style sheets: ours is in the page once, and those of a user's own editor stay."""

from patience import eventually
from playwright.sync_api import expect

from browser.lab import NotebookPage

FORMS = """
%load_ext toolbench
from ipywidgets import VBox
from toolbench.widgets.form import SchemaForm

TEXT = {"type": "string", "description": "What to look for."}
forms = [SchemaForm({"type": "object", "properties": {name: TEXT}, "required": [name]}) for name in ("first", "second")]
VBox([form.widget for form in forms])
"""
CLOSE = "forms[0].close()"
ERRORS = "forms[1].reveal_errors()"
STYLES = "[...document.querySelectorAll('.tb-form style')].length"
# CodeMirror and others have theirs there too
SHEETS = "document.adoptedStyleSheets.filter(sheet => [...sheet.cssRules].some(rule => rule.selectorText === '.tb-grid')).length"
WEIGHT = "label => getComputedStyle(label).fontWeight"


def test_two_forms_share_their_style_sheet(lab: NotebookPage) -> None:
    """A new sheet makes the browser compute the style of the whole page anew."""
    lab.share(FORMS, ERRORS, CLOSE)
    lab.run(0)
    lab.wait_for_module()
    page = lab.tab.page
    field = lab.output(0).get_by_label("second", exact=True)
    field.wait_for()
    eventually(lambda: page.evaluate(STYLES) == 0, what="no form has its own")
    eventually(lambda: page.evaluate(SHEETS) == 1, what="the sheet is shared")
    label = lab.output(0).locator("label", has_text="second")
    assert label.evaluate(WEIGHT) == "600"
    lab.run(1)
    expect(field).to_have_accessible_description("What to look for. Enter a value.")
    eventually(lambda: page.evaluate(STYLES) == 0, what="errors bring none")
    lab.run(2)
    expect(lab.output(0).get_by_label("first", exact=True)).to_have_count(0)
    assert page.evaluate(SHEETS) == 1
    assert label.evaluate(WEIGHT) == "600"
    assert lab.tab.console_errors == []


EDITOR = """
%load_ext toolbench
from ipywidgets import HTML, VBox
from traitlets import Unicode
from toolbench.widgets.fields import registry
from toolbench.widgets.form import SchemaForm

class Swatch(VBox):
    value = Unicode()

def swatch(slot):
    return Swatch([HTML("<style>.swatch { color: rgb(1, 2, 3) }</style><b class=swatch>a colour</b>")])

own = registry.copy()
own.add(95, lambda view, schema, path: schema.get("format") == "color", swatch)
SchemaForm({"type": "object", "properties": {"c": {"type": "string", "format": "color"}}, "required": ["c"]}, registry=own).widget
"""
COLOR = "element => getComputedStyle(element).color"


def test_an_editor_of_a_user_keeps_its_own_styles(lab: NotebookPage) -> None:
    """They are in no other place, so only ours are shared."""
    lab.share(EDITOR)
    lab.run(0)
    lab.wait_for_module()
    page = lab.tab.page
    eventually(lambda: page.evaluate(SHEETS) == 1, what="ours is shared")
    swatch = lab.output(0).locator(".swatch")
    assert swatch.evaluate(COLOR) == "rgb(1, 2, 3)"
    assert lab.tab.console_errors == []
