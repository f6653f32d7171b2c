"""A form of every kind of field for people who hear it, enlarge it, or use a dark page."""

import pytest
from patience import eventually
from playwright.sync_api import Locator

from browser.axe import violations
from browser.form_page import FORM_AT, FormPage
from browser.lab import NotebookPage

# One field of every kind, each with help.
KINDS = """
import json
from ipywidgets import VBox
from toolbench.widgets.form import SchemaForm
text, number = {"type": "string"}, {"type": "integer"}
row = {"type": "object", "properties": {"x": number, "y": text}, "required": ["x"]}
named = {"type": "object", "properties": {"kind": {"const": "b"}, "n": number}}
kinds = {
    "line": text, "area": {**text, "maxLength": 4000}, "number": {**number, "minimum": 1},
    "boolean": {"type": "boolean"}, "choice": {"enum": ["a", 1, None]},
    "search": {"enum": [f"color-{n}" for n in range(60)]}, "fixed": {"const": 2},
    "api_key": text, "day": {**text, "format": "date"}, "when": {**text, "format": "date-time"},
    "uuid": {**text, "format": "uuid"}, "file": {**text, "contentEncoding": "base64"},
    "picture": {**text, "contentMediaType": "image/png"},
    "tags": {"type": "array", "items": text},
    "marks": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True},
    "rows": {"type": "array", "items": row}, "flags": {"type": "array", "items": {"type": "boolean"}},
    "pair": {"type": "array", "prefixItems": [number, text]},
    "map": {"type": "object", "additionalProperties": number},
    "patterns": {"type": "object", "patternProperties": {"^x-": text}},
    "union": {"oneOf": [{**row, "title": "A row"}, named]}, "mixed": {"type": ["integer", "string", "null"]},
    "object": row, "maybe": {"anyOf": [row, {"type": "null"}]}, "anything": {},
    "suggested": {**text, "examples": ["one", "two"], "toolbench": {"widget": "combobox"}},
}
schema = {
    "type": "object", "description": "Every kind of field.", "required": ["line", "rows", "fixed"],
    "properties": {name: {**kind, "description": f"Help of {name}."} for name, kind in kinds.items()},
}
PIXEL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
value = {
    "line": "x", "area": "x\\ny", "number": 0, "boolean": True, "choice": "b", "search": "color-3",
    "fixed": 2, "api_key": "sk-1", "day": "2026-01-02", "when": "soon", "uuid": "", "file": "aGVsbG8=",
    "picture": PIXEL, "tags": ["a"], "marks": ["a"], "rows": [{"x": 1}, {"y": "z"}], "flags": [True, False],
    "pair": [1, "x"], "map": {"a": 1}, "patterns": {"x-1": "v"}, "union": {"kind": "b", "n": 1},
    "mixed": 7, "object": {"x": "no"}, "maybe": {"x": 1}, "anything": {"a": [1]}, "suggested": "one",
    "undeclared": {"x": 1},
}
filled, typed, empty = SchemaForm(schema, value), SchemaForm(schema, value), SchemaForm(schema)
for form in (filled, empty):
    form.reveal_errors()
    for slot in list(form.slot.walk()):
        slot.unfold()
empty.slot.editor._show_all()
typed.json = json.dumps({**value, "number": 0}) + "}"
VBox([filled.widget, typed.json_widget, empty.widget])
"""

TWO = """
from toolbench.widgets.form import SchemaForm
SchemaForm({"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": [1, 2, 3, 4, 5, 6]}}}).widget
"""


def controls_of(form: Locator) -> list[tuple[str, str]]:
    """Name and description that Chromium gives a screen reader of every control of a form."""
    session = form.page.context.new_cdp_session(form.page)
    session.send("Accessibility.enable")
    element = session.send("Runtime.evaluate", {"expression": "document.querySelector('.tb-form')"})
    query = {"objectId": element["result"]["objectId"]}
    tree = session.send("Accessibility.queryAXTree", query)["nodes"]
    session.detach()
    controls = {
        *("textbox", "combobox", "listbox", "checkbox", "Date", "button"),
        "radiogroup",
    }
    return [
        (node["name"]["value"], node.get("description", {}).get("value", ""))
        for node in tree
        if not node["ignored"] and node["role"]["value"] in controls
    ]


# Runs the first cell again; resolves to the descriptions that two inputs have when they come.
FIRST_SEEN = """
    index => new Promise(resolve => {
      const before = new Set(document.querySelectorAll(".tb-form .tb-field input"));
      const descriptions = [];
      const watch = new MutationObserver(() => {
        const inputs = [...document.querySelectorAll(".tb-form .tb-field input")]
          .filter(input => !before.has(input));
        for (const input of inputs) before.add(input);
        if (inputs.length > 0) requestAnimationFrame(() => {
          descriptions.push(...inputs.map(input => input.getAttribute("aria-describedby")));
          if (descriptions.length < 2) return;
          watch.disconnect();
          resolve(descriptions);
        });
      });
      watch.observe(document.body, {childList: true, subtree: true});
      rig.runCell(index);
    })
"""
HELPED = """
from toolbench.widgets.form import SchemaForm
SchemaForm({"type": "object", "properties": {n: {"type": "integer", "description": "Help."} for n in "ab"}}).widget
"""


class TestAccessibility:
    def test_a_form_comes_with_its_descriptions(self, lab: NotebookPage):
        """The page changes a form no more after the frame that shows it."""
        at = FormPage(lab, HELPED)
        lab.show(FORM_AT)
        lab.wait_for_module()
        descriptions = at.page.evaluate(FIRST_SEEN, FORM_AT)
        assert len(descriptions) == 2
        assert all(descriptions)

    @pytest.mark.usefixtures("looks")
    def test_every_kind_of_field(self, lab: NotebookPage):
        """Axe-core finds nothing; help and errors are heard as the description of an input."""
        at = FormPage(lab, KINDS)
        lab.tab.page.set_viewport_size({"width": 1280, "height": 2400})
        at.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
        lab.show(FORM_AT)
        for theme in lab.themes():
            assert violations(at.page, ".jp-OutputArea-output .tb-form") == []
            assert unlabelled(at) == []
            # 640 is what 200 % leaves of 1280
            for width in (1280, 700, 640):
                at.page.set_viewport_size({"width": width, "height": 2400})
                eventually(lambda: not cut_off(at), what="all of it fits")
                lab.picture(f"form-{theme}-{width}")
        controls = controls_of(at.form)
        assert "" not in dict(controls)
        for name in ("area", "search", "api_key", "day", "tags", "mixed", "boolean"):
            assert any(n == name and f"Help of {name}." in d for n, d in controls), name
        descriptions = [d for name, d in controls if name == "number"]
        assert any("Should be at least 1." in d for d in descriptions), descriptions
        assert lab.tab.console_errors == []

    def test_a_lost_name_is_noticed(self, lab: NotebookPage):
        """What the other test looks with sees: take away a name, and it says whose.

        Axe-core counts a placeholder as a name, so it is not asked alone.
        """
        at = FormPage(lab, TWO)
        assert violations(at.page, ".tb-form") == []
        assert unlabelled(at) == []
        at.form.evaluate("form => form.querySelectorAll('label').forEach(l => l.remove())")
        assert any("select-name" in v for v in violations(at.page, ".tb-form"))
        assert unlabelled(at) == ["INPUT", "SELECT"]


def unlabelled(at: FormPage) -> list[str]:
    """The inputs that no label names."""
    texts: list[str] = at.form.evaluate(
        """form => [...form.querySelectorAll("input, select, textarea")]
          .filter(e => e.offsetWidth && ![...e.labels].some(l => l.textContent.trim()))
          .map(e => e.tagName)"""
    )
    return texts


def cut_off(at: FormPage) -> list[str]:
    """The controls that stick out of the form."""
    texts: list[str] = at.form.evaluate(
        """form => {
          const edge = form.getBoundingClientRect().right + 1;
          return [...form.querySelectorAll("button, input, select, textarea, .tb-note")]
            .filter(e => e.offsetWidth && e.getBoundingClientRect().right > edge)
            .map(e => e.className);
        }"""
    )
    return texts
