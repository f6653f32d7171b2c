"""Dates, made-up values and files in a form, and what is said of the items of a list."""

import base64
from datetime import datetime, time
from typing import Any

import ipywidgets as w
import pytest

from test_widgets.front import click, named, only, page, receive, type_into
from toolbench import tool
from toolbench.widgets.fields.file import FilePicker
from toolbench.widgets.form import SchemaForm


def _form(value: dict[str, Any] | None = None, /, **properties: Any) -> SchemaForm:
    return SchemaForm({"type": "object", "properties": properties}, value)


class TestDatesAndFiles:
    @pytest.mark.parametrize(
        ("kind", "name"),
        [
            ("uuid", "a UUID"),
            ("date-time", "a date and time (YYYY-MM-DDThh:mm:ssZ)"),
        ],
    )
    def test_a_format_is_named(self, kind, name):
        """And a text that is no value of it is no error of the form."""
        form = _form(x={"type": "string", "format": kind})
        assert f">{name[0].upper()}{name[1:]}.<" in page(form.widget)
        type_into(named(form.widget, "x"), "nonsense")
        assert f"does not look like {name}." in page(form.widget)
        assert form.errors == []

    def test_what_is_wrong_is_said_once(self):
        """An error says what a time looks like; what a tool reads as one has no note that it is none."""

        @tool
        def book(at: datetime, took: time) -> str:
            """Book a table."""
            return "booked"

        form = SchemaForm(book.input_schema, validate=book.problems)
        type_into(named(form.widget, "took"), "noon")
        assert "Should be a time such as 09:30:00" in page(form.widget)
        assert "time of day" not in page(form.widget)
        type_into(named(form.widget, "took"), "12:00")
        type_into(named(form.widget, "at"), "2026-11-27 18:00")
        assert form.errors == []
        assert "does not look like" not in page(form.widget)

    @pytest.mark.parametrize(
        ("kind", "example", "shape"),
        [
            ("date", "2024-01-31", "YYYY-MM-DD"),
            ("date-time", "2024-01-31T09:30:00Z", "YYYY-MM-DDThh:mm:ssZ"),
            ("time", "09:30:00", "hh:mm:ss"),
        ],
    )
    def test_the_shape_of_a_typed_date_is_seen_before_an_error(self, kind, example, shape):
        """On its own and as items of a list: an example in the box, and the shape below it."""
        item = {"type": "string", "format": kind}
        form = _form(x=item, many={"type": "array", "items": item})
        many = named(form.widget, "many", w.Textarea)
        assert many.placeholder == f"one per line, e.g. {example} · optional"
        assert page(form.widget).count(f"({shape})") == 2
        box = named(form.widget, "x")
        assert box.placeholder == f"e.g. {example} · optional"
        # By which the page knows where a calendar or a clock belongs
        assert f"tb-format-{kind}" in box._dom_classes

    def test_a_file_becomes_base64(self):
        """The picture is shown; the value is text, as every server wants it."""
        schema = {
            "type": "string",
            "contentEncoding": "base64",
            "contentMediaType": "image/png",
        }
        form = _form(x=schema)
        upload = only(form.widget, FilePicker)
        png = b"\x89PNG\r\n\x1a\n" + b"0" * 10
        receive(
            upload,
            value=[
                {
                    "name": "a.png",
                    "type": "image/png",
                    "size": len(png),
                    "last_modified": 0,
                    "content": memoryview(png),
                }
            ],
        )
        assert form.value["x"].startswith("iVBORw0KGgo")
        assert upload.value == ()
        assert "data:image/png;base64,iVBORw0KGgo" in page(form.widget)
        assert "a.png · 18 bytes · image/png" in page(form.widget)
        click(named(form.widget, "Remove"))
        assert form.value == {} and "a.png" not in page(form.widget)

    def test_a_big_file_is_described_not_shown(self, wire):
        """Its text would only stand in the way."""
        form = _form(x={"type": "string", "format": "byte"})
        form.widget  # noqa: B018
        wire.messages.clear()
        form.value = {"x": "QUJD" * 5000}
        assert form.value == {"x": "QUJD" * 5000}
        assert only(form.widget, w.Text).value == ""
        assert "15.0 kB" in page(form.widget)
        assert len(wire.text()) < 5000

    def test_the_head_of_a_text_file_is_shown(self):
        """Its first lines, escaped; nothing of what is no text. Before, how large a file may be."""
        form = _form(x={"type": "string", "contentEncoding": "base64"})
        assert "At most 50 MB." in page(form.widget)
        for content, shown in (
            (b"a,b\n<b>,2\n" + "é".encode() * 400, "<pre>a,b\n&lt;b&gt;,2\né"),
            (b"\x00\x01" * 9, ""),
            (b"\xff" * 9, ""),
        ):
            form.value = {"x": base64.b64encode(content).decode()}
            assert shown in page(form.widget) and ("<pre>" in page(form.widget)) is bool(shown)


def test_near_limits_have_a_slider():
    """The page gets the least, the most, the step and the default; the text stays what counts."""
    for schema, slider in (
        ({"type": "integer", "minimum": 0, "maximum": 100, "default": 20}, "0 100 1 20"),
        ({"type": "integer", "minimum": 0, "maximum": 101}, ""),
        ({"type": "integer", "exclusiveMinimum": 0, "maximum": 80.5}, "1 80 1"),
        ({"type": "integer", "minimum": 1, "maximum": 60, "multipleOf": 5}, "5 60 5"),
        ({"type": "number", "minimum": 0, "maximum": 2}, "0 2 0.01"),
        ({"type": "number", "exclusiveMinimum": 0.07, "maximum": 1}, "0.08 1 0.01"),
        ({"type": "number", "minimum": -1e308, "maximum": 1e308}, ""),
        ({"type": "number", "minimum": 0, "maximum": 1, "multipleOf": -1}, ""),
        ({"type": "number", "minimum": 10**400, "maximum": 10**400 + 1}, ""),
        ({"type": "number", "minimum": 1, "maximum": 1}, ""),
        ({"type": "integer", "minimum": 1}, ""),
    ):
        form = _form(x=schema)
        assert (f'data-slider="{slider}"' in page(form.widget)) is bool(slider), schema
        form.value = {"x": 500}
        assert named(form.widget, "x").value == "500"


class TestItems:
    def test_what_each_item_has_to_be_is_said(self):
        """The limits of the items stand below their box, with the word each."""
        items = {"type": "integer", "minimum": 1}
        form = _form(n={"type": "array", "items": items, "maxItems": 3})
        assert "Each: at least 1, at most 3 items." in page(form.widget)

    def test_items_are_counted_from_one(self):
        """An error of a line names the item as the heading of a row does."""
        ages = {"type": "array", "items": {"type": "integer", "minimum": 1}}
        lines = {
            "type": "array",
            "items": {"type": "object", "properties": {"what": {"type": "string"}}},
        }
        value = {"ages": [3, 0], "lines": [{"what": "tea"}]}
        form = _form(value, ages=ages, lines=lines)
        form.reveal_errors()
        assert "Item 2: should be at least 1." in page(form.widget)
        assert "lines, item 1" in page(form.widget)
        assert "[0]" not in page(form.widget) and "[1]" not in page(form.widget)
