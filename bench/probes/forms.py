"""Forms of a schema by four builders in one process: what they cost, and whether they are right."""

import gc
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ipywidgets as w

from serving import serve  # isort: skip - makes its parent's modules known
from schemas import TEN_FIELDS
from wire import forgetting, wired

ROOT = Path(__file__).parents[2]
sys.path[1:1] = [
    os.environ.get("PYTHONPATH", str(ROOT)),
    str(ROOT.parent / "shared" / "corpus"),
]
KINDS = {"integer": w.IntText, "number": w.FloatText, "boolean": w.Checkbox}
# Of CPU, for a form: a recursive schema keeps one of them busy for long
SECONDS = 4
WIRE = wired()


class Ours:
    def __init__(self, schema):
        from toolbench.widgets.form import SchemaForm

        self.form = SchemaForm(schema)
        self.widget = self.form.widget

    def held(self, value):
        self.form.value = value
        return self.form.value


class ByHand:
    """The lower bound: no help, no errors, no states; one Layout and one Style of a kind."""

    def __init__(self, schema):
        self.layout, self.styles = w.Layout(), {}
        properties = schema.get("properties", {}).items()
        made = [self.make(sub.get("type"), name) for name, sub in properties]
        self.widget = w.VBox(made, layout=self.layout)

    def make(self, type_, name):
        kind = KINDS.get(str(type_), w.Text)
        style = self.styles.get(kind, {})
        widget = kind(layout=self.layout, description=name, **style)
        self.styles[kind] = {"style": widget.style}
        return widget


class AutoUi:
    def __init__(self, schema):
        from ipyautoui import AutoUi

        self.widget = AutoUi(schema)

    def held(self, value):
        """What its widgets hold: its own value also has what they do not show."""
        self.widget.value = value
        return self._of(self.widget)

    def _of(self, widget):
        if inner := getattr(widget, "di_widgets", None):
            return {name: self._of(part) for name, part in inner.items()}
        return widget.value


class JsonSchemaForm:
    def __init__(self, schema):
        from ipywidgets_jsonschema import Form

        self.form = Form(schema)
        self.widget = self.form.widget

    def held(self, value):
        self.form.data = value
        return self.form.data


BUILDERS: dict[str, type] = {"toolbench": Ours, "by hand": ByHand}
if find_spec("ipyautoui"):
    BUILDERS |= {"ipyautoui": AutoUi, "ipywidgets-jsonschema": JsonSchemaForm}


class TooLongError(BaseException):
    """No `except Exception` of a builder swallows it."""


@contextmanager
def in_time() -> Iterator[None]:
    """Stop what takes longer than its time."""

    def stop(*_):
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def quietly(work: Callable[[], Any], otherwise: Any = None) -> Any:
    """What *work* returns; *otherwise* if it fails or takes too long."""
    try:
        with in_time(), forgetting():
            return work()
    except (Exception, TooLongError):  # noqa: BLE001 - a builder may fail in any way: it counts as wrong
        return otherwise


def copied(value: Any) -> Any:
    """One of them changes the schema it is given."""
    return json.loads(json.dumps(value))


class Ten:
    """The form of ten fields, built anew for each round."""

    def __init__(self, builder: str) -> None:
        self.build = BUILDERS[builder]

    def seconds(self) -> float:
        with forgetting():
            start = time.process_time()
            self.build(TEN_FIELDS)
            return time.process_time() - start


def weight(builder: str) -> dict[str, int]:
    """The comms and bytes of the form of ten fields."""
    before = WIRE.comms, WIRE.bytes
    Ten(builder).seconds()
    return {"comms": WIRE.comms - before[0], "bytes": WIRE.bytes - before[1]}


def measured(builder: str, schema: Any) -> dict[str, float] | None:
    """Comms, bytes and CPU seconds of a form; nothing if it cannot be built in time.

    The garbage of all builders is collected before: one of them keeps so much that a collection takes
    a second, in the form of whoever happens to cause it. What is left is not searched again.
    """
    schema = copied(schema)
    gc.collect()
    gc.freeze()

    def build() -> dict[str, float]:
        # Of the thread: that of the process stands still from tick to tick while `in_time` has a timer
        before, start = (WIRE.comms, WIRE.bytes), time.thread_time()
        BUILDERS[builder](schema)
        return {
            "cpu": time.thread_time() - start,
            "comms": WIRE.comms - before[0],
            "bytes": WIRE.bytes - before[1],
        }

    gc.disable()
    try:
        return quietly(build)
    finally:
        gc.enable()


def right(builder: str, schema: Any, value: Any) -> bool:
    """Whether a fresh form holds *value*; order and `1.0` for `1` are forgiven."""

    def hold() -> bool:
        held = BUILDERS[builder](copied(schema)).held(copied(value))
        return plain(copied(held)) == plain(value)

    return quietly(hold, otherwise=False)


def plain(value: Any) -> Any:
    """The value with what compares equal by chance kept apart: `True` is not `1`."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return (isinstance(value, bool), value)


def corpus(path: str, every: int) -> dict[str, Any]:
    """Every so many real tool by each builder: what it costs, and what it holds."""
    import sample_values

    lines = Path(path).read_text(encoding="utf-8").splitlines()[::every]
    schemas = [json.loads(line)["inputSchema"] for line in lines]
    found: dict[str, Any] = {
        name: {"tools": len(schemas), "built": 0, "right": 0, "rows": []} for name in BUILDERS
    }
    for schema in schemas:
        values = [value for _, value in sample_values.examples(schema)]
        for name, told in found.items():
            row = measured(name, schema)
            if row is None:
                continue
            told["built"] += 1
            told["rows"].append(row)
            if hasattr(BUILDERS[name], "held"):
                told["right"] += all(right(name, schema, value) for value in values)
    return found


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    serve(
        {"ten": Ten},
        {"builders": lambda: list(BUILDERS), "weight": weight, "corpus": corpus},
    )
