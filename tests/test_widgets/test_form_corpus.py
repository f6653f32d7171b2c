"""2,132 tools of 74 real servers: every form is built, holds every value, and stays light."""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from test_widgets.front import Wire
from toolbench.jsonschema.validation.validator import validator_of
from toolbench.plain import same_json
from toolbench.redaction import MARK
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text.raw_json import Raw
from toolbench.widgets.form import SchemaForm

_CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
_TOOLS = _CORPUS / "tools_public.jsonl"

pytestmark = pytest.mark.skipif(not _TOOLS.exists(), reason=f"needs {_TOOLS}, which is not here")


def _by_source() -> dict[str, list[dict[str, Any]]]:
    sources: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in _TOOLS.read_text().splitlines() if _TOOLS.exists() else []:
        tool = json.loads(line)
        sources[tool["source"]].append(tool)
    return sources


_SOURCES = _by_source()


@pytest.fixture(scope="module")
def samples():
    """The corpus's own sampler of valid values."""
    sys.path.insert(0, str(_CORPUS))
    try:
        import sample_values
    finally:
        sys.path.remove(str(_CORPUS))
    return sample_values


# The sampler's hypothesis strategies
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("source", list(_SOURCES))
def test_every_value_is_held_exactly(source, samples, wire: Wire):
    """Three values per tool: set, read, validated, written as JSON, read again."""
    for tool in _SOURCES[source]:
        schema = tool["inputSchema"]
        form = SchemaForm(schema)
        wire.messages.clear()
        assert form.widget is not None
        assert wire.opened() <= 200, tool["name"]
        for mode, value in samples.examples(schema):
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


def test_few_fields_are_json(samples):
    """At most 6 % of the fields a person meets are a box of JSON."""
    editors: Counter[str] = Counter()
    for tools in _SOURCES.values():
        for tool in tools:
            form = SchemaForm(tool["inputSchema"])
            for mode, value in samples.examples(tool["inputSchema"]):
                if mode == "full":
                    form.value = value
            editors.update(_leaves(form.slot))
    assert sum(editors.values()) > 10_000
    assert editors[Raw.__name__] / sum(editors.values()) <= 0.06, editors


def _leaves(root: Slot) -> list[str]:
    return [
        type(slot.editor).__name__
        for slot in root.walk()
        if not slot.editor.structured and not list(slot.editor.slots())
    ]
