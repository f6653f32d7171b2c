"""The commands that messages name install into this Python, also where pip is missing."""

import sys

import pytest
from shells import new_shell

from toolbench import install_commands as module
from toolbench.errors import MissingExtraError
from toolbench.install_commands import how_to_install, install_commands, own_source

PYTHON = sys.executable


@pytest.mark.usefixtures("_pip")
def test_pip_is_that_of_this_python():
    """A bare `pip` in a terminal may be the one of another Python."""
    assert install_commands("p", for_cell=False) == [f"{PYTHON} -m pip install p"]
    assert install_commands("p", for_cell=True) == ["%pip install p"]


@pytest.mark.usefixtures("_no_pip")
def test_without_pip_it_is_uv(programs):
    """Uv installs into this Python from outside."""
    (programs / "uv").write_text("#!/bin/sh\n")
    (programs / "uv").chmod(0o755)
    command = f"uv pip install --python {PYTHON} p"
    assert install_commands("p", for_cell=False) == [command]
    assert install_commands("p", for_cell=True) == [f"!{command}"]


@pytest.mark.usefixtures("_no_pip", "programs")
def test_without_both_pip_is_added_first():
    """Python brings pip itself."""
    assert how_to_install("p") == (f"{PYTHON} -m ensurepip, then {PYTHON} -m pip install p")


@pytest.mark.usefixtures("_no_pip", "programs")
def test_a_page_has_its_own_pip(monkeypatch):
    """JupyterLite answers `%pip` itself, without a package pip."""
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert install_commands("p", for_cell=True) == ["%pip install p"]


@pytest.mark.usefixtures("_pip")
def test_in_a_notebook_a_missing_extra_is_a_line_of_a_cell(monkeypatch):
    """The message is pasted into the next cell."""
    with new_shell() as shell:
        monkeypatch.setattr("IPython.get_ipython", lambda: shell)
        text = str(MissingExtraError("pandas"))
    assert text == "DataFrames need pandas. %pip install 'jupyter-toolbench[pandas]'"


@pytest.mark.parametrize(
    ("record", "source"),
    [
        (None, ""),
        ('{"url": "file:///a%20b/toolbench", "dir_info": {"editable": true}}', "/a b/toolbench"),
        ('{"url": "file:///a/toolbench-1-py3-none-any.whl"}', "/a/toolbench-1-py3-none-any.whl"),
        (
            '{"url": "https://a.test/b.git", "vcs_info": {"vcs": "git", "commit_id": "c0"}}',
            "git+https://a.test/b.git@c0",
        ),
    ],
)
def test_elsewhere_it_comes_from_where_it_came_here(monkeypatch, record, source):
    """A checkout, a wheel or a repository; the name is enough for what came from an index."""

    class Installed:
        def read_text(self, name):
            assert name == "direct_url.json"
            return record

    monkeypatch.setattr(module, "distribution", lambda name: Installed())
    assert own_source() == source
