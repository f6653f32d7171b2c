"""Writes `cells.json` anew: `cd tests && ../.venv/bin/python -m promised.write_cells`.

It runs the cells that are in the file, and writes beside each what came of it. What the difference to
the file before says, a person reads: each line of it is a promise.
"""

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from kernels import FORGET
from test_runs.kernel import Kernel

from promised.test_cells import CELLS, output_of


def write(kernel: Kernel, folder: Path) -> None:
    """Run all cells, each document from top to bottom in a folder of its own, and write the file."""
    for document, cells in CELLS.items():
        kernel.run(FORGET)
        kernel.run(f"%mkdir -p {folder / document}\n%cd {folder / document}")
        for cell in cells:
            cell["raises"], cell["output"] = output_of(kernel, cell["source"])
    text = json.dumps(CELLS, ensure_ascii=False, indent=1)
    Path(__file__).with_name("cells.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        # As the tests have it (conftest.py), so that nothing of this machine comes into the file
        os.environ["XDG_STATE_HOME"] = f"{temporary}/state"
        with Kernel(sys.executable) as started:
            write(started, Path(temporary))
