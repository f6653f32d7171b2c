"""The notebooks where only what Binder's requirements name is installed."""

import os
import subprocess
import sys

import pytest
from environments import ROOT, uv

NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
UNTESTED = "BINDER'S ENVIRONMENT IS"
MINUTE = 60


@pytest.fixture(scope="module")
def binder(tmp_path_factory):
    """Binder's packages, and ours as a reader installs it, in an environment of their own."""
    home = tmp_path_factory.mktemp("binder")
    uv("venv", "--clear", "--python", sys.executable, str(home), untested=UNTESTED)
    python = str(home / "bin" / "python")
    requirements = ("-r", "binder/requirements.txt")
    uv("pip", "install", "--python", python, *requirements, untested=UNTESTED)
    return home


@pytest.mark.long
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_runs_on_binder(binder, name, tmp_path):
    """Nbconvert runs every notebook from top to bottom with no other package there."""
    programs = f"{binder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    ours = {"HOME": str(tmp_path), "PATH": programs}
    kernels = {"JUPYTER_PATH": str(binder / "share" / "jupyter")}
    words = ("--to", "notebook", "--execute", "--output-dir", str(tmp_path))
    done = subprocess.run(
        [binder / "bin" / "jupyter-nbconvert", *words, name],
        cwd=ROOT / "notebooks",
        env={**os.environ, **ours, **kernels},
        capture_output=True,
        text=True,
        timeout=5 * MINUTE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / name).is_file()
