"""What is exported installs in an environment of its own, and its tests pass there."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from environments import uv

from test_export.notebook import new_notebook
from test_export.notebook_tools import TOOLS
from toolbench import run_tool
from toolbench.export import export_package
from toolbench.mcp import create_mcp_tools

_UNTESTED = "EXPORTED PACKAGES ARE"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The packages of all tools of one notebook, each exported after its calls."""
    folders, home = {}, tmp_path_factory.mktemp("exported")
    with new_notebook() as notebook:
        for one in TOOLS:
            first = notebook.shell.execution_count
            notebook.run(*one.cells)
            tool = notebook[one.variable]
            for arguments in one.calls:
                run_tool(tool, arguments)
            cells = [first + place for place in one.taken]
            folders[one.variable] = export_package(tool, home / one.variable, cells=cells)
    return folders


@pytest.fixture(scope="module")
def python(exported, tmp_path_factory):
    """The Python of a fresh environment with all packages, and what we have for the rest."""
    home = tmp_path_factory.mktemp("environment")
    uv("venv", "--clear", "--python", sys.executable, str(home), untested=_UNTESTED)
    theirs = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    ours = sysconfig.get_path("purelib")
    (theirs / "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    program = home / "bin" / "python"
    options = (
        "--offline",
        "--no-deps",
        "--no-build-isolation",
        "--python",
        str(program),
    )
    uv("pip", "install", *options, *map(str, exported.values()), untested=_UNTESTED)
    return program


@pytest.mark.long
def test_thirty_tools_install_and_pass(exported, python, tmp_path):
    """All tests of all packages pass where they are installed; each tool was called, each server serves."""
    assert len(exported) >= 30
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *exported.values()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    calls = sum(len({repr(call) for call in one.calls}) for one in TOOLS)
    assert f"{len(exported) + calls} passed" in done.stdout, done.stdout[-5000:]
    servers = {
        "order": {"command": str(python.with_name("order-server"))},
        "limits": {"command": str(python), "args": ["-m", "limits.server"]},
    }
    with create_mcp_tools({"mcpServers": servers}) as client:
        assert '"count": 1' in client["order"]({"dishes": [{"name": "soup"}]}).text
        assert client["limits"]({"n": 2, "mode": "down"}).text == "1"
        assert client["limits"].input_schema["properties"]["n"]["maximum"] == 5
        wrong = client["limits"]
        assert wrong.execute(wrong.unchecked_action({"n": 9})).is_error


def test_an_imported_package_writes_no_file(exported, tmp_path):
    """Nor does what makes its tools."""
    code = (
        "import sys\nfrom importlib import import_module\nsys.dont_write_bytecode = True\n"
        "for path in sys.argv[1:]:\n    sys.path.insert(0, path.rpartition('/')[0])\n"
        "    import_module(path.rpartition('/')[2]).create_tools()"
    )
    packages = [next(folder.glob("*/impl.py")).parent for folder in exported.values()]
    subprocess.run([sys.executable, "-c", code, *map(str, packages)], cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []


def test_the_layout_is_that_of_openhands(exported):
    """Actions, observations and tools are in one module, what does the work in another."""
    for variable, folder in exported.items():
        [package] = [p.parent for p in folder.glob("*/definition.py")]
        definition = (package / "definition.py").read_text("utf-8")
        assert "(ToolDefinition[" in definition, variable
        assert "Action(Action):" in definition or "(Action):" in definition, variable
        assert "def create(" in definition, variable
        files = {
            path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
        }
        assert files >= {
            "pyproject.toml",
            "README.md",
            f"{package.name}.ipynb",
            "tests/recorded.json",
            f"tests/test_{package.name}.py",
            f"{package.name}/impl.py",
            f"{package.name}/server.py",
        }
