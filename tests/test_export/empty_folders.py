"""Packages of tools of notebooks, each used in an empty folder."""

import json
import subprocess
import sys

import pytest

from test_export.notebook import new_notebook
from toolbench.export import export_package


def export_each(root, notebooks):
    """Run the cells of each of *notebooks* in a folder of its own; export its tool `put_NAME` to `p_NAME`.

    The README of the package is also in `NAME.md`, and `empty_NAME` is an empty folder.
    """
    for name, cells in notebooks.items():
        (root / name).mkdir()
        (root / f"empty_{name}").mkdir()
        with new_notebook() as notebook, pytest.MonkeyPatch.context() as patch:
            patch.chdir(root / name)
            notebook.run(*cells)
            export_package(notebook[f"put_{name}"], root / f"p_{name}", tests=())
            (root / f"{name}.md").write_text((root / f"p_{name}/README.md").read_text("utf-8"))


def answers_of(root, names, code):
    """What *code* gives for the tool `one` of each package, by its name, in one new program."""
    program = (
        "import importlib, json, os, sys\nroot, *names = sys.argv[1:]\n"
        "answers = {}\n"
        "for name in names:\n"
        "    os.chdir(f'{root}/empty_{name}')\n"
        "    sys.path.insert(0, f'{root}/p_{name}')\n"
        "    try:\n"
        "        [one] = importlib.import_module(f'put_{name}').create_tools()\n"
        f"        answers[name] = {code}\n"
        "    except Exception as error:\n"
        "        answers[name] = repr(error)\n"
        "print(json.dumps(answers))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(root), *names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
