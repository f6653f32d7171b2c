"""Runs notebooks and saves them with their outputs, as they are shipped."""
# ruff: noqa: T201 - a script talks to its terminal

import sys
from pathlib import Path
from typing import Any

import nbformat
from tour import CHECKOUT, ROOT, TourError, executed

from toolbench.cli.lab import use_own_kernel

WIDGET = "application/vnd.jupyter.widget-view+json"


def main(names: list[str]) -> int:
    """Run the notebooks *names* and write their outputs into them."""
    use_own_kernel()
    for name in names:
        source = Path(name).resolve()
        try:
            notebook = executed(source)
        except TourError as error:
            print(error, file=sys.stderr)
            return 1
        for cell in notebook.cells:
            tidy(cell)
        nbformat.write(notebook, source)
        print(f"{name}: saved")
    return 0


def tidy(cell: Any) -> None:
    """Leave what reads well without a kernel: no dead widget ids, no paths of this machine."""
    cell.metadata.pop("execution", None)
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        data.pop(WIDGET, None)
        for kind, text in data.items():
            if isinstance(text, str):
                data[kind] = text.replace(str(ROOT), CHECKOUT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
