"""Forms too large to be shown at once."""

from typing import Any, ClassVar

import ipywidgets as w
import pytest

from test_widgets.front import click, named, receive, type_into, walk
from toolbench.widgets.form import SchemaForm


def _form(value: dict[str, Any] | None = None, /, **properties: Any) -> SchemaForm:
    return SchemaForm({"type": "object", "properties": properties}, value)


class TestManyFields:
    _MANY: ClassVar[dict[str, Any]] = {f"field_{i}": {"type": "string"} for i in range(55)}

    def test_a_dozen_is_shown_and_the_rest_is_searched(self, wire):
        """A form of 55 fields starts small; a field comes when it is named."""
        form = _form(**self._MANY)
        boxes = [x for x in walk(form.widget) if type(x) is w.Text]
        assert len(boxes) == 12
        search = named(form.widget, "Add a field")
        assert "field_40" in search.options
        receive(search, value="field_40")
        type_into(named(form.widget, "field_40"), "v")
        assert form.value == {"field_40": "v"}
        assert search.value == ""

    def test_all_can_be_shown(self):
        """And then none is missing."""
        form = _form(**self._MANY)
        form.observe(lambda change: pytest.fail("looking is no edit"))
        click(named(form.widget, "Show all"))
        assert len([x for x in walk(form.widget) if type(x) is w.Text]) == 55

    def test_required_fields_and_values_are_always_shown(self):
        """However many there are."""
        schema = {"type": "object", "properties": self._MANY, "required": ["field_50"]}
        form = SchemaForm(schema, {"field_30": "v"})
        assert named(form.widget, "field_30").value == "v"
        assert named(form.widget, "field_50").value == ""


class TestFolding:
    _ITEM: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {f"p{i}": {"type": "string"} for i in range(6)},
    }
    _ROWS: ClassVar[dict[str, Any]] = {"type": "array", "items": _ITEM}

    @pytest.mark.slow
    def test_a_large_value_is_folded(self, wire):
        """A thousand parts are held; what is shown stays small until it is asked for."""
        value = {"r": [{f"p{j}": "x" for j in range(6)} for _ in range(300)]}
        form = _form(value, r=self._ROWS)
        form.widget  # noqa: B018
        assert form.value == value
        assert wire.opened() <= 200
        before = [x for x in walk(form.widget) if type(x) is w.Text]
        click(named(form.widget, "Show r, item 16"))
        after = [x for x in walk(form.widget) if type(x) is w.Text]
        assert len(after) == len(before) + 6
        type_into(after[-1], "typed")
        assert form.value["r"][15]["p5"] == "typed"
        click(named(form.widget, "Show all 300"))
        assert named(form.widget, "Show r, item 300")

    def test_an_error_unfolds_its_field(self):
        """What is wrong is never behind a button."""
        rows = {"type": "array", "items": {**self._ITEM, "required": ["gone"]}}
        value = {"r": [{"p0": "x"} for _ in range(20)]}
        form = _form(value, r=rows)
        assert named(form.widget, "Show r, item 20")
        form.reveal_errors()
        labels_shown = [getattr(x, "description", "") for x in walk(form.widget)]
        assert "Show r, item 20" not in labels_shown
        assert labels_shown.count("gone") == 20
