"""Tools of real servers: every form is built, holds every value, and stays light."""

import json
from collections import Counter

import pytest

from test_widgets.front import Wire
from toolbench.jsonschema.validate import validator_of
from toolbench.redaction import MARK
from toolbench.values import same_json
from toolbench.widgets.fields.raw_json import Raw
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.form import SchemaForm


@pytest.mark.slow
def test_every_value_is_held_exactly(published, valid_values, wire: Wire):
    """Three values per tool: set, read, validated, written as JSON, read again."""
    for tool, values in zip(published, valid_values, strict=True):
        schema = tool["inputSchema"]
        form = SchemaForm(schema)
        wire.messages.clear()
        assert form.widget is not None
        assert wire.opened() <= 200, tool["name"]
        for mode, value in values:
            case = f"{tool['name']}, {mode}: {json.dumps(value)[:300]}"
            form.value = value
            assert same_json(form.value, value), case
            assert form.errors == [] or not validator_of(schema).is_valid(value), case
            text = form.json
            form.json = text
            assert same_json(form.value, value), case
            if MARK not in text:
                other = SchemaForm(schema)
                other.json = text
                assert same_json(other.value, value), case
        assert wire.opened() <= 200, tool["name"]
        form.close()
    assert wire.live == set()


def test_few_fields_are_json(published, valid_values):
    """At most 6 % of the fields a person meets are a box of JSON."""
    editors: Counter[str] = Counter()
    for tool, values in zip(published, valid_values, strict=True):
        form = SchemaForm(tool["inputSchema"])
        form.value = dict(values).get("full", {})
        editors.update(_leaves(form.slot))
    assert sum(editors.values()) > 4 * len(published)
    assert editors[Raw.__name__] / sum(editors.values()) <= 0.06, editors


def _leaves(root: Slot) -> list[str]:
    return [
        type(slot.editor).__name__
        for slot in root.walk()
        if not slot.editor.structured and not list(slot.editor.slots())
    ]
