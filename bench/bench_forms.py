"""Forms: what ours may cost, each real tool among them; see bench_forms_peers for the others."""

import gc
import json
import time
from statistics import median, quantiles

import comm
import pytest
from report import amount
from schemas import TEN_FIELDS
from wire import Wire, forgetting

from toolbench.widgets.form import SchemaForm


@pytest.fixture
def wire(monkeypatch):
    """Takes what widgets send, for the time of a test."""
    wire = Wire()
    monkeypatch.setattr(comm, "create_comm", wire.comm)
    return wire


def build(schema):
    with forgetting():
        assert SchemaForm(schema).widget is not None


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
    ledger.time("form of 10 fields: built", lambda: build(TEN_FIELDS), limit=0.005)
    with forgetting():
        form = SchemaForm(TEN_FIELDS)
        box = next(x for x in _walk(form.widget) if getattr(x, "description", "") == "score")

        def type_one():
            box.value = "1x" if box.value != "1x" else "15"

        ledger.time("key stroke in a form of 10 fields", type_one, limit=0.002)


@pytest.mark.usefixtures("no_collecting")
def test_every_real_tool(ledger, wire, corpus):
    """At most 200 comms and 100 ms of CPU for any of them."""
    comms, bytes_, taken = [], [], []
    for number, line in enumerate(corpus.read_text(encoding="utf-8").splitlines()):
        if number % 50 == 0:
            gc.collect()
            # What is left is not searched again
            gc.freeze()
        schema = json.loads(line)["inputSchema"]
        before, start = (wire.comms, wire.bytes), time.process_time()
        build(schema)
        taken.append(time.process_time() - start)
        comms.append(wire.comms - before[0])
        bytes_.append(wire.bytes - before[1])
    what = f"forms of {len(taken)} real tools"

    def enter(name, values, unit, limit):
        middle, most = (amount(v, unit) for v in (median(values), p99(values)))
        note = f"median {middle}, 99th percentile {most}"
        ledger.limit(f"{what}: {name}", max(values), unit, limit, note)

    enter("most comms", comms, "comms", 200)
    enter("longest", taken, "s CPU", 0.1)
    enter("most bytes", bytes_, "B", 300_000)


def p99(values):
    return quantiles(values, n=100)[-1]


def _walk(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from _walk(child)
