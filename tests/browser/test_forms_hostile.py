"""Every payload as a part of a schema, in a page with a tripwire: nothing fires."""

from pathlib import Path

import pytest
from patience import eventually
from payloads import PAYLOADS
from playwright.sync_api import expect

from browser.lab import NotebookPage, write_notebook
from browser.tripwire import TRIPWIRE, show_safely

TESTS = Path(__file__).parents[1]
POKE = """
    () => {
      const kinds = ["mouseover", "mouseenter", "focus", "toggle", "animationstart", "load", "error"];
      const all = document.querySelectorAll(".jp-OutputArea-output *");
      for (const element of all)
        for (const kind of kinds) element.dispatchEvent(new Event(kind));
    }
"""
# Nothing a form shows of a schema is any of these, or carries a handler.
DANGERS = """
    () => [...document.querySelectorAll(".jp-OutputArea-output *")].filter(element =>
      ["SCRIPT", "IFRAME", "OBJECT", "EMBED", "LINK", "META", "BASE", "MATH", "VIDEO", "A",
       "FORM", "MJX-CONTAINER"].includes(element.tagName)
      || [...element.attributes].some(({name}) => name.startsWith("on") || name === "href")
    ).map(element => element.outerHTML.slice(0, 200))
"""
HOSTILE = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from payloads import PAYLOADS
from ipywidgets import VBox
from toolbench.errors import Problem
from toolbench.widgets.form import SchemaForm

def hostile(text):
    note = {{"title": text, "description": text, "default": text, "examples": [text]}}
    inner = {{"type": "object", "properties": {{text: {{"type": "string", **note}}}}, **note}}
    return {{
        text: {{"type": "string", **note}},
        f"enum {{text}}": {{"enum": [text, "b"], **note}},
        f"const {{text}}": {{"const": text, **note}},
        f"names {{text}}": {{"enum": [1, 2], "enumNames": [text, "b"]}},
        f"union {{text}}": {{"anyOf": [inner, {{"type": "array", "items": inner, **note}}], **note}},
        f"map {{text}}": {{"type": "object", "additionalProperties": inner, **note}},
        f"own {{text}}": {{"type": "string", "pattern": text, "format": text,
                         "toolbench": {{"placeholder": text, "help": text}}}},
    }}

def form_of(payloads):
    properties = {{}}
    for text in payloads:
        properties |= hostile(text)
    value = {{f"{{kind}}{{text}}": held for text in payloads for kind, held in
             (("", text), ("enum ", text), ("map ", {{text: {{text: text}}}}), ("union ", {{text: text}}))}}
    form = SchemaForm({{"type": "object", "title": payloads[0], "properties": properties}}, value)
    form.slot.editor._show_all()
    form.reveal_errors()
    form.show_problems([Problem((text,), text) for text in payloads])
    return form

def show(form):
    form.json = form.json + "}}" + PAYLOADS[0]
    return VBox([form.widget, form.json_widget])
"""
# Payloads in a cell: see test_injection on what a kernel can send
AT_ONCE = 10
ODD = """
odd = {f"odd {text}": {"type": text, "$ref": text, "title": text} for text in PAYLOADS[::9]}
show(SchemaForm({"type": "object", "properties": odd, "description": PAYLOADS[2]}))
"""
CONTROL = "from ipywidgets import HTML\nHTML('<img src=x onerror=tripwire(1)>')"


class TestHostileSchemas:
    @pytest.mark.long
    def test_no_payload_fires(self, new_lab: NotebookPage, nbroot: Path):
        """As name, title, help, default, choice, constant, branch, key, pattern, type, error."""
        assert len(PAYLOADS) >= 90
        page = new_lab.tab.page
        page.add_init_script(TRIPWIRE)
        starts = range(0, len(PAYLOADS), AT_ONCE)
        forms = [f"show(form_of(PAYLOADS[{n}:{n + AT_ONCE}]))" for n in starts]
        hostile = [*((form, 600) for form in forms), (ODD, 80)]
        cells = [HOSTILE, *(cell for cell, _ in hostile), CONTROL]
        write_notebook(nbroot / "hostile-forms.ipynb", *cells)
        new_lab.open("hostile-forms.ipynb")
        new_lab.run(0)
        for index, (_, elements) in enumerate(hostile, 1):
            show_safely(new_lab, index, elements, poke=POKE, dangers=DANGERS)
            # Fields and JSON
            expect(new_lab.output(index).locator(".tb-form")).to_have_count(2)
        new_lab.picture("form-hostile")
        new_lab.run(len(cells) - 1)
        eventually(lambda: page.evaluate("window.fired"), what="it fires")
        assert page.evaluate("window.fired") == ["1"]
