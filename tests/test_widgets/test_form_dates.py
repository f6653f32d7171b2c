"""Dates, made-up values and files in a form, and what is said of the items of a list."""

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
    def test_a_day_is_picked(self):
        """The calendar gives a date; the value is its ISO text."""
        form = _form(day={"type": "string", "format": "date"})
        picker = named(form.widget, "day", w.DatePicker)
        receive(picker, value={"year": 2026, "month": 10, "date": 21})
        assert form.value == {"day": "2026-11-21"}
        form.value = {"day": "2026-02-30"}
        assert named(form.widget, "day").value == "2026-02-30"

    @pytest.mark.parametrize(
        ("kind", "button", "name"),
        [
            ("uuid", "New", "a UUID"),
            ("date-time", "Now", "a date and time (YYYY-MM-DDThh:mm:ssZ)"),
        ],
    )
    def test_a_button_makes_up_a_value(self, kind, button, name):
        """A fresh one each time, and one that the format accepts."""
        form = _form(x={"type": "string", "format": kind})
        click(named(form.widget, button))
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
        assert page(form.widget).count(f"({shape})") == (1 if kind == "date" else 2)
        # Which has a calendar
        if kind != "date":
            assert named(form.widget, "x").placeholder == f"e.g. {example} · optional"

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

    def test_a_big_file_is_described_not_shown(self, wire):
        """Its text would only stand in the way."""
        form = _form(x={"type": "string", "format": "byte"})
        form.widget  # noqa: B018
        wire.messages.clear()
        form.value = {"x": "QUJD" * 5000}
        assert form.value == {"x": "QUJD" * 5000}
        assert "15,000 bytes" in only(form.widget, w.Text).placeholder
        assert len(wire.text()) < 5000


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
