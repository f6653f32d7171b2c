"""Forms in JupyterLab: how long a form of ten fields takes until the page shows the last of it."""

import json
import sys
from pathlib import Path
from statistics import median

import peers
from dom import last_changes
from schemas import TEN_FIELDS

SETUP = f"""
import json
import ipywidgets as w

TEN = json.loads({json.dumps(json.dumps(TEN_FIELDS))})

def by_hand(schema):
    layout, styles = w.Layout(), {{}}

    def make(kind, name):
        widget = kind(layout=layout, description=name, **styles.get(kind, {{}}))
        styles[kind] = {{"style": widget.style}}
        return widget

    kinds = {{"integer": w.IntText, "number": w.FloatText, "boolean": w.Checkbox}}
    fields = schema["properties"].items()
    return w.VBox([make(kinds.get(s["type"], w.Text), n) for n, s in fields], layout=layout)
"""
OURS = "from toolbench.widgets.form import SchemaForm\nSchemaForm(TEN).widget"
HAND = {"by hand": "by_hand(TEN)"}
OTHERS = {
    "ipyautoui": "from ipyautoui import AutoUi\nAutoUi(TEN)",
    "ipywidgets-jsonschema": "from ipywidgets_jsonschema import Form\nForm(TEN).widget",
}


def test_ten_fields(ledger):
    """The last change of the page, beside the others that are here."""
    python, others = Path(sys.executable), HAND
    try:
        python, others = peers.python_of("forms"), HAND | OTHERS
    except peers.AbsentError as error:
        ledger.absent("ipyautoui and ipywidgets-jsonschema in JupyterLab", str(error))
    found = last_changes({"toolbench": OURS, **others}, python=python, setup=SETUP)
    for name in others:
        ledger.beside(
            f"form of 10 fields: drawn by JupyterLab, beside {name}",
            median(found["toolbench"]) / 1000,
            "s wall",
            peer=median(found[name]) / 1000,
            peer_name=name,
            goal=None if name in HAND else 1,
            note=f"median of {len(found[name])}; at best "
            f"{min(found['toolbench']):.0f} ms and {min(found[name]):.0f} ms",
        )
