"""Names, titles, help, labels and defaults come from strangers: they are shown, nothing more."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from ipywidgets.widgets.widget_description import DescriptionWidget

from test_widgets.front import labels, page, pick, receive, walk
from toolbench.errors import Problem
from toolbench.widgets.form import SchemaForm

_SCRIPT = "<img src=x onerror=alert(1)><script>alert(2)</script>"
_HOSTILE = [
    _SCRIPT,
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "$\\unicode{x}$ and $y$ \\(z\\)",
    "abc\u202edcba\u2066x",
    "bell\x07 null\x00 escape\x1b[31m",
    "</div></div></style><h1>out</h1>",
    "lone \ud800 surrogate",
    "&lt;b&gt;",
    "",
]
_ALLOWED = {"div", "span", "code", "details", "summary", "img", "style"}


def _schema(text: str) -> dict[str, Any]:
    note = {"title": text, "description": text, "default": text, "examples": [text]}
    return {
        "type": "object",
        "title": text,
        "description": text,
        "properties": {
            text: {"type": "string", **note},
            "titled": {
                "type": "integer",
                **note,
                "toolbench": {"placeholder": text, "help": text},
            },
            "choice": {"enum": [text, "b"], **note},
            "const": {"const": text, **note},
            "tags": {"type": "array", "items": {"enum": [text]}, **note},
            "union": {"anyOf": [{"type": "string", **note}, {"type": "array", **note}]},
            "object": {"type": "object", "properties": {text: {"const": text}}, **note},
            "rows": {"type": "array", "items": {"type": "array"}, **note},
            "map": {"additionalProperties": {"type": "integer", **note}, **note},
            "pattern": {"type": "string", "pattern": text, **note},
            "broken": {"type": text, "$ref": text, **note},
            "format": {"type": "string", "format": text, **note},
        },
        "required": ["const"],
    }


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))


def _everything(form: SchemaForm) -> None:
    """Open, mark and fill whatever there is."""
    form.widget  # noqa: B018
    for widget in list(walk(form.widget)):
        if type(widget).__name__ == "Checkbox":
            receive(widget, value=True)
        elif type(widget).__name__ in ("Dropdown", "RadioButtons"):
            pick(widget, labels(widget)[-1])
    form.reveal_errors()


class TestInjection:
    @pytest.mark.every_case
    @pytest.mark.parametrize("text", _HOSTILE)
    def test_only_our_own_tags_are_on_the_page(self, text):
        """Text stays text, in every place a schema can put it and in every state."""
        form = SchemaForm(_schema(text))
        _everything(form)
        form.show_problems([Problem(("choice",), text), Problem((), text), Problem((text,), text)])
        tags = _Tags()
        tags.feed(page(form.widget))
        assert {tag for tag, _ in tags.elements} <= _ALLOWED
        for _, attributes in tags.elements:
            assert set(attributes) <= {
                "class",
                "style",
                "role",
                "alt",
                "src",
                "data-describes",
            }
            place = r"grid-row:\d+|--below:\d+;--beside:\d+/span 3|None"
            assert re.fullmatch(place, str(attributes.get("style")))

    @pytest.mark.every_case
    @pytest.mark.parametrize("text", _HOSTILE)
    def test_no_label_is_markup_or_maths(self, text):
        """Labels are plain text, and what MathJax would typeset in them is escaped."""
        form = SchemaForm(_schema(text))
        _everything(form)
        for widget in walk(form.widget):
            assert not getattr(widget, "description_allow_html", False)
            typeset = isinstance(widget, DescriptionWidget) and widget.description
            label = typeset or ""
            # Which MathJax shows as a dollar
            plain = label.replace("\\$", "")
            assert plain.count("$") < 2
            assert "\\" not in plain

    @pytest.mark.every_case
    @pytest.mark.parametrize("text", _HOSTILE)
    def test_nothing_hidden_reaches_the_page(self, text, wire):
        """Control and bidi characters are spelled out; nothing is sent that UTF-8 cannot carry."""
        form = SchemaForm(_schema(text))
        _everything(form)
        form.value = {"choice": text, text: text, "object": {text: text}}
        sent = wire.text()
        for hidden in ("\\u202e", "\\u2066", "\\x07", "\\x1b", "\\ud800"):
            assert hidden not in sent.replace("\\\\", "")
        assert form.value == {"choice": text, text: text, "object": {text: text}}

    def test_long_texts_are_cut_or_folded(self):
        """A page of help is there, behind a click; a label of a page is cut."""
        words = "word " * 400
        form = SchemaForm(
            {
                "type": "object",
                "properties": {"x": {"type": "string", "description": words, "title": words}},
            }
        )
        assert "<details>" in page(form.widget)
        assert max(len(getattr(x, "description", "")) for x in walk(form.widget)) < 200
