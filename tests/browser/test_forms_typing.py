"""What a person types in one field stays, whatever the form shows at another field meanwhile."""

import pytest
from playwright.sync_api import expect

from browser.form_page import ASK, FormPage
from browser.lab import NotebookPage

FORM = """
import json
from toolbench.widgets.form import SchemaForm
texts = {"type": "array", "items": {"type": "string"}}
text = {"type": "string"}
on = {"properties": {"mode": {"const": "on"}}, "required": ["mode"]}
form = SchemaForm({"type": "object", "required": ["ids", "reason"], "properties": {
    "ids": {"type": "array", "items": {"type": "integer"}},
    "mode": {"type": "string", "minLength": 2},
    "names": {"anyOf": [texts, {"type": "null"}]},
    "reason": text, "note": {"type": "string", "format": "email"},
}, "if": on, "then": {"properties": {"level": text}, "required": ["level"]}})
form.widget
"""

# a field that is taken out of the page loses the cursor, even if it comes back
WATCH = """() => {
  window.lostFields = [];
  new MutationObserver((changes) => {
    for (const { removedNodes } of changes) for (const node of removedNodes) {
      const fields = node.matches?.("input, textarea") ? [node] : node.querySelectorAll?.("input, textarea");
      for (const field of fields ?? []) window.lostFields.push(field.labels?.[0]?.textContent ?? "a field");
    }
  }).observe(document.querySelector(".tb-form"), { childList: true, subtree: true });
}"""


@pytest.fixture
def at(lab: NotebookPage) -> FormPage:
    """A form whose fields show remarks, errors and more fields; the page counts the fields it loses."""
    form = FormPage(lab, FORM, ASK)
    form.field("note").wait_for()
    form.page.evaluate(WATCH)
    return form


@pytest.mark.parametrize(
    ("name", "text", "sign"),
    [
        ("ids", "1, 4", "is one value"),
        pytest.param("ids", "x", "is not an integer", marks=pytest.mark.long),
        ("mode", "o", "at least 2"),
        ("mode", "on", "level"),
        ("note", "nobody", "does not look like"),
    ],
)
def test_no_field_is_made_again(at: FormPage, name: str, text: str, sign: str):
    """A remark, an error or a new field leaves the other fields, and the cursor, where they are."""
    at.field("reason").focus()
    cursor = at.page.evaluate_handle("() => document.activeElement")
    at.field(name).evaluate(
        """(box, text) => {
          box.value = text;
          box.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        text,
    )
    expect(at.form).to_contain_text(sign)
    assert at.page.evaluate("() => window.lostFields") == []
    assert at.page.evaluate("(box) => document.activeElement === box", cursor)
    at.keys.type("no projector")
    expect(at.field("reason")).to_have_value("no projector")
