"""Forms: what ours may cost, each real tool among them; see bench_forms_peers for the others."""

import gc
import json
import time
from statistics import median, quantiles

import comm
import pytest
from measuring import ROUNDS, Stopwatch
from wire import Wire, forgetting

from toolbench.widgets.form import SchemaForm

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
TEN_FIELDS = {
    "type": "object",
    "properties": {
        "query": {**_TEXT, "description": "What to look for."},
        "path": {**_TEXT, "description": "Where to start.", "default": "."},
        "limit": {**_NUMBER, "description": "How many.", "default": 20},
        "offset": {**_NUMBER, "description": "How many to leave out.", "minimum": 0},
        "score": {"type": "number", "description": "How good at least."},
        "deep": {"type": "boolean", "description": "Go down.", "default": False},
        "sort": {
            **_TEXT,
            "enum": ["name", "size", "date"],
            "description": "In which order.",
        },
        "labels": {"type": "array", "items": _TEXT, "description": "All of them."},
        "since": {**_TEXT, "format": "date", "description": "From this day on."},
        "note": {**_TEXT, "maxLength": 500, "description": "For the log."},
    },
    "required": ["query", "limit", "sort"],
}


@pytest.fixture
def wire(monkeypatch):
    """Takes what widgets send, for the time of a test."""
    wire = Wire()
    monkeypatch.setattr(comm, "create_comm", wire.comm)
    return wire


def build(schema):
    with forgetting():
        assert SchemaForm(schema).widget is not None


def cpu(work):
    """Return the least CPU milliseconds of one call: a busy machine adds to all others."""
    watch = Stopwatch(work)
    return 1000 * min(watch.seconds() for _ in range(ROUNDS))


@pytest.fixture
def no_collecting():
    """Garbage is collected between measurements only."""
    gc.disable()
    yield
    gc.enable()


def test_ten_fields(ledger, wire):
    """At most 25 comms and 5 ms of CPU, and 2 ms for a key stroke."""
    build(TEN_FIELDS)
    ledger.limit("form of 10 fields: comms", wire.comms, "comms", 25)
    built = cpu(lambda: build(TEN_FIELDS))
    ledger.limit("form of 10 fields: built", built, "ms CPU", 5)
    with forgetting():
        form = SchemaForm(TEN_FIELDS)
        box = next(
            x for x in _walk(form.widget) if getattr(x, "description", "") == "score"
        )

        def type_one():
            box.value = "1x" if box.value != "1x" else "15"

        stroke = cpu(type_one)
    ledger.limit("key stroke in a form of 10 fields", stroke, "ms CPU", 2)


@pytest.mark.usefixtures("no_collecting")
def test_every_real_tool(ledger, wire, corpus):
    """At most 200 comms and 100 ms of CPU for any of them."""
    comms, bytes_, taken = [], [], []
    for number, line in enumerate(corpus.read_text(encoding="utf-8").splitlines()):
        if number % 50 == 0:
            gc.collect()
        schema = json.loads(line)["inputSchema"]
        before, start = (wire.comms, wire.bytes), time.process_time()
        build(schema)
        taken.append((time.process_time() - start) * 1000)
        comms.append(wire.comms - before[0])
        bytes_.append(wire.bytes - before[1])
    what = f"forms of {len(taken)} real tools"
    note = "median {:.0f}, 99th percentile {:.0f}"

    def told(values):
        return note.format(median(values), quantiles(values, n=100)[-1])

    ledger.limit(f"{what}: most comms", max(comms), "comms", 200, told(comms))
    ledger.limit(f"{what}: longest", max(taken), "ms CPU", 100, told(taken))
    ledger.limit(f"{what}: most bytes", max(bytes_), "B", 300_000, told(bytes_))


def _walk(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from _walk(child)
