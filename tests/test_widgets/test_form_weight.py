"""What a form costs: widgets on the wire, none left behind, nothing built in vain."""

from typing import Any

import ipywidgets as w
import pytest

from test_widgets.front import click, named, pick, receive, type_into, walk
from toolbench.widgets.form import SchemaForm
from toolbench.widgets.kit.parts import Parts

_TEN = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "what to look for"},
        "path": {"type": "string", "description": "where", "default": "."},
        "limit": {"type": "integer", "description": "how many", "default": 20},
        "score": {"type": "number", "description": "at least"},
        "deep": {"type": "boolean", "description": "go down", "default": False},
        "sort": {"enum": ["name", "size"], "description": "order"},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "labels"},
        "when": {"type": "string", "format": "date", "description": "day"},
        "note": {"type": "string", "description": "more", "maxLength": 500},
        "mode": {"type": "string", "enum": ["a", "b", "c"], "description": "how"},
    },
    "required": ["query"],
}


def _deep() -> dict[str, Any]:
    node = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            "either": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "string"}]},
            "map": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Node"}},
        },
    }
    return {**node, "$defs": {"Node": node}}


class TestBudget:
    def test_ten_fields_cost_at_most_25_comms(self, wire):
        """Label, help, ghost, required mark and error of a field cost no widget of their own."""
        SchemaForm(_TEN).widget  # noqa: B018
        assert wire.opened() <= 25

    def test_nothing_is_built_before_it_is_shown(self, wire):
        """Value, errors and JSON text need no widget at all."""
        form = SchemaForm(_TEN, {"query": "x"})
        assert form.value == {"query": "x"}
        assert form.errors == []
        assert form.json
        assert wire.opened() == 0

    def test_a_tree_is_built_as_far_as_it_is_opened(self, wire):
        """A recursive schema costs what its first level costs."""
        SchemaForm(_deep()).widget  # noqa: B018
        assert wire.opened() < 30

    def test_an_unchanged_value_sends_nothing(self, wire):
        """Setting what is there already is silent."""
        form = SchemaForm(_TEN, {"query": "x", "limit": 3})
        form.widget  # noqa: B018
        wire.messages.clear()
        form.value = {"query": "x", "limit": 3}
        assert wire.messages == []


class TestClose:
    def test_nothing_is_left(self, wire):
        """Not a row, a branch, a shared layout or a style; whatever was done before."""
        value = {
            "kids": [{"name": "a"}, {"kids": [{}]}],
            "either": "x",
            "map": {"k": {}},
        }
        form = SchemaForm(_deep(), value)
        form.widget  # noqa: B018
        form.json_widget  # noqa: B018
        form.value = {"kids": [{"name": "a\nb"}], "either": {"name": "x"}, "zz": 1}
        form.value = {"kids": 3, "either": []}
        form.reveal_errors()
        assert wire.live
        form.close()
        assert wire.live == set()

    def test_a_removed_row_is_closed_at_once(self, wire):
        """A form that is used for hours does not grow."""
        form = SchemaForm(_deep(), {"kids": []})
        add = named(form.widget, "Add to kids")
        click(add)
        bar = next(x for x in walk(form.widget) if isinstance(x, w.ToggleButtons))
        pick(bar, "Remove")
        before = len(wire.live)
        for _ in range(5):
            click(add)
            bar = next(x for x in walk(form.widget) if isinstance(x, w.ToggleButtons))
            pick(bar, "Remove")
        assert len(wire.live) == before

    @pytest.mark.parametrize("is_shown", [False, True])
    def test_the_value_outlives_the_widgets(self, is_shown, wire):
        """A closed form can still be read, rows and chosen branches included."""
        value = {"kids": [{"name": "a"}], "either": "x", "map": {"k": {}}, "zz": 1}
        form = SchemaForm(_deep(), value)
        if is_shown:
            form.widget  # noqa: B018
        form.close()
        assert form.value == value
        assert wire.live == set()

    def test_a_branch_nobody_opened_is_closed_as_well(self, wire):
        """Nothing was built of it, and nothing is left of what was chosen before."""
        branch = {"type": "object", "properties": {"a": {"type": "string"}}}
        schema = {
            "type": "object",
            "properties": {"u": {"anyOf": [{"type": "integer"}, branch]}},
        }
        form = SchemaForm(schema)
        pick(named(form.widget, "u"), "object")
        pick(named(form.widget, "u"), "integer")
        form.close()
        assert wire.live == set()
        untouched = SchemaForm(schema)
        untouched.widget  # noqa: B018
        untouched.close()
        assert wire.live == set()

    def test_nothing_is_drawn_on_a_closed_form(self, wire):
        """A value may still be set; no widget comes back for it."""
        form = SchemaForm(_deep(), {"kids": []})
        form.widget  # noqa: B018
        form.close()
        form.value = {"kids": [{"name": "a"}], "zz": 1}
        assert form.value == {"kids": [{"name": "a"}], "zz": 1}
        assert wire.live == set()

    def test_other_forms_go_on(self):
        """Nothing is shared between forms: closing one, or all widgets, breaks none."""
        first, second = SchemaForm(_TEN), SchemaForm(_TEN)
        first.widget, second.widget  # noqa: B018
        first.close()
        type_into(named(second.widget, "query"), "x")
        assert second.value == {"query": "x"}
        w.Widget.close_all()
        third = SchemaForm(_TEN)
        receive(named(third.widget, "query"), value="y")
        assert third.value == {"query": "y"}


class TestPool:
    def test_widgets_of_a_pool_share_layout_and_style(self):
        """Of each kind there is one."""
        pool = Parts()
        one, other = pool.make(w.Text, "a"), pool.make(w.Textarea)
        assert one.layout is other.layout
        assert one.style is other.style
        assert one._dom_classes == ("a",)
        assert pool.make(w.Button).style is not one.style

    def test_a_dropped_widget_leaves_what_is_shared(self, wire):
        """Only itself is closed."""
        pool = Parts()
        one, other = pool.make(w.Text), pool.make(w.Text)
        pool.drop([one])
        assert one.comm is None
        assert other.layout.comm is not None
        pool.close()
        assert wire.live == set()
        assert len(pool) == 0

    @pytest.mark.parametrize("times", [1, 2])
    def test_closing_twice_is_closing_once(self, times, wire):
        """Whoever closes first."""
        pool = Parts()
        widget = pool.make(w.Text)
        pool.adopt(w.IntSlider())
        widget.close()
        for _ in range(times):
            pool.close()
        assert wire.live == set()
