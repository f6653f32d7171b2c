"""Names that a person, a package and two tools all use mean to each what they mean."""

import json
import re
import subprocess
import sys

import pytest

from test_export.notebook import new_notebook
from toolbench import run_tool
from toolbench.errors import ExportError
from toolbench.export import export_package

HEAD = "import toolbench\n"
TOOL = "@toolbench.tool\ndef use_it(n: int = 2) -> str:\n    '''Use it.'''\n    return str({})"
OWN = {
    "Field": "class Field:\n    def __repr__(self):\n        return 'corn'",
    "display": "def display():\n    return 'shown'",
    "Annotated": "Annotated = str",
    "UseItAction": "def UseItAction():\n    return 'mine'",
    "UseItExecutor": "class UseItExecutor(str):\n    pass",
    "create_tools": "def create_tools():\n    return 5",
    "USE_IT_DESCRIPTION": "USE_IT_DESCRIPTION = dict",
}


def answers(folder, packages, program):
    done = subprocess.run(
        [sys.executable, "-c", program, *packages],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def texts_of_own_names(tmp_path_factory):
    """What a tool says that uses a name of its own, in a notebook and in its package."""
    folder = tmp_path_factory.mktemp("names")
    before = {}
    for name, code in OWN.items():
        with new_notebook() as notebook:
            value = f"[{name}(), n]"
            notebook.run(
                HEAD,
                code,
                TOOL.format(f"repr({value}).partition(' object at')[0][-30:]"),
            )
            tool = notebook["use_it"]
            before[name] = run_tool(tool).text.rpartition(".")[2]
            export_package(tool, folder / name)
    program = (
        "import importlib, json, sys\nresults = []\n"
        "for name in sys.argv[1:]:\n"
        "    for module in [m for m in sys.modules if m.startswith('use_it')]:\n"
        "        del sys.modules[module]\n"
        "    sys.path.insert(0, name)\n"
        "    [tool] = importlib.import_module('use_it').create_tools()\n"
        "    results.append([tool({}).text.rpartition('.')[2], tool.to_mcp_tool()['inputSchema']])\n"
        "    sys.path.remove(name)\n"
        "print(json.dumps(results))"
    )
    after = answers(folder, OWN, program)
    return before, dict(zip(OWN, after, strict=True))


@pytest.mark.parametrize("name", OWN)
def test_a_name_keeps_the_meaning_that_a_cell_gave_it(texts_of_own_names, name):
    """What we write has other names then."""
    before, after = texts_of_own_names
    text, schema = after[name]
    assert text == before[name]
    assert schema["properties"]["n"]["default"] == 2


@pytest.mark.parametrize(
    "code",
    [
        "def Sequence():\n    return 'GATTACA'",
        "class Action:\n    pass",
        "from collections import UserList as Observation",
        "def classmethod():\n    return 1",
    ],
)
def test_a_name_that_the_package_needs_itself_is_refused(notebook, tmp_path, code):
    """It means something else there."""
    name = re.search(r"\w+(?=:|\(\)|$)", code.partition("\n")[0])[0]
    notebook.run(HEAD, code, TOOL.format(f"{name}()"))
    with pytest.raises(ExportError, match=f"`{name}` has another meaning in cell 2, and"):
        export_package(notebook["use_it"], tmp_path / "p")


def test_the_last_import_of_a_name_counts(notebook, tmp_path):
    """As in the notebook."""
    notebook.run(
        HEAD,
        "from math import pow",
        "from operator import pow",
        "import os\nimport os.path",
        TOOL.format("[pow(n, 3), os.path.sep, os.linesep]"),
    )
    folder = export_package(notebook["use_it"], tmp_path)
    code = (folder / "use_it/impl.py").read_text("utf-8")
    assert "from math" not in code
    assert "from operator import pow" in code


def test_tools_with_nearly_one_name_are_all_there(notebook, tmp_path):
    """Each has classes of its own, whatever is left of its name in theirs."""
    names = ["a-b", "a_b", "a_b_tool", "aB", "a.b"]
    cells = [
        f"@toolbench.tool(name={name!r})\ndef f{i}() -> int:\n    '''F.'''\n    return {i}"
        for i, name in enumerate(names)
    ]
    notebook.run(HEAD, *cells)
    tools = [notebook[f"f{i}"] for i in range(len(names))]
    folder = export_package(tools, tmp_path / "nearly")
    program = "import json; from nearly import create_tools; print(json.dumps({t.name: t({}).text for t in create_tools()}))"
    assert answers(folder, (), program) == {n: str(i) for i, n in enumerate(names)}


def test_two_tools_of_one_name_are_refused(notebook, tmp_path):
    """A package would have one of them."""
    notebook.run(HEAD, TOOL.format(1))
    first = notebook["use_it"]
    notebook.run(TOOL.format(2))
    for tools in ([first, notebook["use_it"]], [first, first]):
        with pytest.raises(ExportError, match="Two tools are called use_it"):
            export_package(tools, tmp_path / "p")


def test_no_package_is_called_as_a_device(notebook, tmp_path):
    """Windows has no folder of such a name."""
    notebook.run(HEAD, "@toolbench.tool\ndef aux() -> int:\n    '''A.'''\n    return 1")
    folder = export_package(notebook["aux"], tmp_path / "p")
    assert (folder / "aux_tool/impl.py").is_file()
