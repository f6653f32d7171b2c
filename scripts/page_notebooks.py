"""The notebooks as JupyterLite has them: a first cell installs toolbench, and what needs a computer is to be read."""

import json
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIRST_CELL = "%pip install -q jupyter-toolbench"
IN_PAGE = (
    "00_tour",
    "01_your_first_tool",
    "03_inside_a_tool_call",
    "06_a_model_at_the_bench",
    "07_evals",
    "08_choose_and_be_chosen",
)
"""The notebooks that JupyterLite has; the others need servers, processes or a disk."""
TAG = "not-in-a-page"
"""The tag of a cell that needs a program to be started, such as a server."""
RECORDING, IN_LITE = ".jsonl", ".txt"
"""The suffix of a model's recorded answers, here and in JupyterLite, which takes a file of lines of JSON for one of JSON."""
TO_READ = (
    "*This page can start no program, so the next steps are here to be read. "
    "On a computer they run.*"
)


def write_notebooks(folder: Path) -> None:
    """Fill *folder* with what JupyterLite shows: the repository's layout, as far as the notebooks use it."""
    shutil.rmtree(folder, ignore_errors=True)
    notebooks = folder / "notebooks"
    notebooks.mkdir(parents=True)
    for name in IN_PAGE:
        notebook = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text())
        text = json.dumps(in_page(notebook), indent=1)
        (notebooks / f"{name}.ipynb").write_text(text)
    for recording in (ROOT / "notebooks").glob(f"*{RECORDING}"):
        shutil.copy(recording, notebooks / recording.with_suffix(IN_LITE).name)
    # The tour looks at it
    shutil.copy(ROOT / "README.md", folder)
    for notebook_path in sorted((ROOT / "site" / "files").glob("*.ipynb")):
        shutil.copy(notebook_path, folder)


def in_page(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of *notebook* that runs to its end in a page."""
    install: dict[str, Any] = {"cell_type": "code", "execution_count": None}
    install |= {"id": "install", "metadata": {}, "outputs": [], "source": FIRST_CELL}
    cells = [install]
    is_noted = False
    for cell in notebook["cells"]:
        if TAG in cell["metadata"].get("tags", ()):
            cells.append(_to_read(cell, note="" if is_noted else f"{TO_READ}\n\n"))
            is_noted = True
        else:
            source = "".join(cell["source"]).replace(RECORDING, IN_LITE)
            cells.append({**cell, "source": source, **_with_joined_outputs(cell)})
    kernel = {"name": "python", "display_name": "Python (Pyodide)"}
    metadata = {**notebook["metadata"], "kernelspec": {**kernel, "language": "python"}}
    return {**notebook, "cells": cells, "metadata": metadata}


def _with_joined_outputs(cell: dict[str, Any]) -> dict[str, Any]:
    """Return the outputs of *cell* with each text in one piece, or nothing if it is no code.

    nbformat keeps texts as lists of lines. JupyterLab's server joins them; JupyterLite shows the commas.
    """
    if cell["cell_type"] != "code":
        return {}
    outputs = []
    for before in cell["outputs"]:
        output = dict(before)
        if isinstance(output.get("text"), list):
            output["text"] = "".join(output["text"])
        if "data" in output:
            output["data"] = dict(output["data"])
            for kind, value in output["data"].items():
                # The value of a JSON type may be a list of its own
                if isinstance(value, list) and not kind.endswith("json"):
                    output["data"][kind] = "".join(value)
        outputs.append(output)
    return {"outputs": outputs}


def with_link(name: str, notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook *name* for the documentation: below its title, where it runs."""
    address = f"../lite/notebooks/index.html?path=notebooks/{name}.ipynb"
    text = (
        f'<a href="{address}">Run this notebook in your browser</a>: Python is loaded into the page, '
        "and no server or account is needed."
        if name in IN_PAGE
        else "This notebook starts programs, so it needs a computer: <code>make lab</code> in a checkout opens it."
    )
    title, *rest = notebook["cells"]
    lines = "".join(title["source"]).split("\n\n", 1)
    lines.insert(1, f'<p class="run-here">{text}</p>')
    return {**notebook, "cells": [{**title, "source": "\n\n".join(lines)}, *rest]}


def _to_read(cell: dict[str, Any], *, note: str) -> dict[str, Any]:
    code = "".join(cell["source"])
    source = f"{note}```python\n{code}\n```"
    return {"cell_type": "markdown", "id": cell["id"], "metadata": {}, "source": source}
