"""Each module of the package can be imported alone: none needs another that happens to come first."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import toolbench

PACKAGE = Path(toolbench.__file__).parent
ALONE = Path(__file__).with_name("imported_alone.py")


def layers():
    """The layers of the package from below, each a text of names."""
    text = PACKAGE.with_name("pyproject.toml").read_text("utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    [layers] = [each["layers"] for each in contracts if each["type"] == "layers"]
    return [" ".join(name.strip(" ()") for name in layer.split("|")) for layer in reversed(layers)]


# Others' packages, which need none of ours: loaded once in place of in each fork
OTHERS = (
    *("IPython.core.completer", "IPython.core.interactiveshell", "anywidget", "cyclopts"),
    *("fastmcp.client", "fastmcp.server", "httpx2", "ipykernel.zmqshell", "ipywidgets"),
    *("jsonschema_rs", "markdown_it", "mcp", "pydantic", "rich.markdown", "rich.table"),
    *("uvicorn", "yaml"),
)


def tried(package, part, layers, others=()):
    """The modules that cannot be imported, each a line that says why, and how many were tried."""
    command = [sys.executable, ALONE, package, str(part), " ".join(others), *layers]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    *faults, total = done.stdout.splitlines()
    return faults, int(total.split()[0])


@pytest.mark.slow
def test_each_module_can_be_imported_alone(pytestconfig):
    """One of thirty is tried here, and each with `--cases 0`: it takes a fork for each."""
    part = 30
    if pytestconfig.getoption("--cases", 8) == 0:
        part = 1
    faults, total = tried(PACKAGE, part, layers(), OTHERS)
    assert faults == []
    assert total > 400 / part


@pytest.mark.slow
def test_one_that_cannot_be_is_found(tmp_path):
    """Of two modules that need a name of each other, the one that has it at its end."""
    package = tmp_path / "toolbench"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "near.py").write_text("from toolbench.far import y\nx = 1\n")
    (package / "far.py").write_text("y = 1\nfrom toolbench.near import x\n")
    faults, total = tried(package, 1, ["near far"])
    assert ["toolbench.near: ImportError" in fault for fault in faults] == [True]
    assert total == 2
