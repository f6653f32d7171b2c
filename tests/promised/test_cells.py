"""The cells that documents have shown run as they ran, whatever the documents say by now.

`cells.json` has the Python of README and docs, as it was on 27 November 2026, each cell with all that
came of it: also what its document does not print, which `test_docs.py` cannot compare. The notebooks
have their own outputs, which `make notebooks` compares.
"""

import json
import re
from pathlib import Path

import pytest
from kernels import FORGET

CELLS = json.loads(Path(__file__).with_name("cells.json").read_text("utf-8"))
# What differs from run to run and from machine to machine, and what stands in its place
VARIES = {
    r"\x1b\[[\d;]*m": "",
    # Where the tests have state of their own
    r',\s*"env": \{\s*"XDG_STATE_HOME": "[^"]*"\s*\}': "",
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?)?": "DATE",
    r"\b\d[\d,.]* ?(?:[muµ]?s|seconds)\b": "DURATION",
    r"(127\.0\.0\.1|localhost):\d{4,5}": r"\1:PORT",
    r"\b0x[0-9a-f]{6,}\b": "ADDRESS",
    r"\b[0-9a-f]{32}\b": "ID",
    r"/[\w./-]*/(?=(?:toolbench|docs|README)\b)": "CHECKOUT/",
    r"/tmp/[\w./-]*\w": "TEMPORARY",
}


def neutral(text):
    """The words of *text*, without what differs from run to run."""
    for pattern, word in VARIES.items():
        text = re.sub(pattern, word, text)
    return " ".join(text.split())


def output_of(kernel, source):
    """Whether the cell *source* raised, and what a reader sees of it without widgets."""
    raises, text = kernel.outcome(source)
    return raises, neutral(text)


@pytest.mark.slow
# Each document is a promise
@pytest.mark.every_case
@pytest.mark.parametrize("document", CELLS)
def test_cells_run_as_they_ran(document, shared_kernel, tmp_path):
    """From top to bottom, in a kernel without names, tools and records."""
    kernel = shared_kernel
    kernel.run(FORGET)
    kernel.run(f"%cd {tmp_path}")
    for cell in CELLS[document]:
        # Another run of the tests may have the port that a document names
        source = cell["source"].replace("port=8765", "port=0")
        raises, output = output_of(kernel, source)
        assert (raises, output) == (cell["raises"], cell["output"]), cell["source"]
