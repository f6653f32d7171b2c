"""What `make` does with a notebook, on terminals with and without a browser."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE, eventually
from playwright.sync_api import expect

from browser.lab import write_notebook
from browser.tab import Tab

SCRIPT = Path(__file__).parents[2] / "scripts" / "tour.py"
PANEL = """
import ipywidgets

class Panel(ipywidgets.Button):
    def _repr_mimebundle_(self, **_):
        return super()._repr_mimebundle_() | {"text/html": "<b>A form at rest</b>"}

Panel()
"""


class Checkout:
    """A folder with the script in its place, a notebook, and a home of its own."""

    def __init__(self, folder: Path, *sources: str) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.notebook = folder / "tour.ipynb"
        self.report = folder / "build" / "report" / "tour.html"
        self._script = folder / "scripts" / "tour.py"
        self._script.parent.mkdir()
        shutil.copy(SCRIPT, self._script)
        write_notebook(self.notebook, *sources)

    def start(self, *options: str, **variables: str) -> subprocess.Popen[str]:
        names = ("JUPYTER", "IPYTHON", "DISPLAY", "WAYLAND", "BROWSER")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(names)}
        return subprocess.Popen(
            [sys.executable, self._script, *options, self.notebook],
            env=environment | {"HOME": str(self.home)} | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *options: str, **variables: str) -> tuple[int, str, str]:
        with self.start(*options, **variables) as process:
            out, err = process.communicate(timeout=2 * PATIENCE)
        return process.returncode, out, err


class TestReport:
    def test_is_a_page_that_loads_nothing(self, tmp_path, page: Tab):
        """Whoever gets the file can read it: no network, no kernel, no script."""
        checkout = Checkout(tmp_path, "print('It', 'ran')", PANEL)
        before = checkout.notebook.read_bytes()
        assert checkout.run("--report") == (0, f"The report is {checkout.report}\n", "")
        page.page.goto(checkout.report.as_uri())
        text = page.page.locator("main").inner_text()
        assert "It ran" in text
        assert "A form at rest" in text
        expect(page.page.locator("script")).to_have_count(0)
        assert page.foreign_requests == []
        assert page.console_errors == []
        assert checkout.notebook.read_bytes() == before
        assert list(checkout.home.iterdir()) == []

    @pytest.mark.long
    def test_runs_on_the_python_of_the_script(self, tmp_path):
        """A user's own kernel of the same name is not taken for ours."""
        source = f"import sys\nassert sys.executable == {sys.executable!r}"
        checkout = Checkout(tmp_path, source)
        kernel = tmp_path / "theirs" / "kernels" / "python3" / "kernel.json"
        kernel.parent.mkdir(parents=True)
        kernel.write_text('{"argv": ["false"], "display_name": "", "language": ""}')
        code, _, err = checkout.run("--report", JUPYTER_PATH=str(tmp_path / "theirs"))
        assert (code, err) == (0, "")

    @pytest.mark.long
    def test_names_the_cell_that_fails_and_leaves_no_report(self, tmp_path):
        """An old report beside a failure would be taken for the new one."""
        checkout = Checkout(tmp_path, "print('fine')", "x = 0\n1 / x")
        checkout.report.parent.mkdir(parents=True)
        checkout.report.write_text("of an earlier run")
        code, out, err = checkout.run("--report")
        assert (code, out) == (1, "")
        assert err == (
            "tour.ipynb failed in cell 2:\n\n    x = 0\n    1 / x\n\n"
            "ZeroDivisionError: division by zero\n"
        )
        assert not checkout.report.exists()

    def test_a_missing_notebook_is_a_sentence(self, tmp_path):
        """No traceback for a wrong path."""
        checkout = Checkout(tmp_path)
        checkout.notebook.unlink()
        sentence = f"There is no notebook {str(checkout.notebook)!r}.\n"
        assert checkout.run("--report") == (1, "", sentence)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
class TestTerminal:
    @pytest.mark.long
    def test_without_a_screen_gets_a_report_and_the_reason(self, tmp_path):
        """Not even a home is needed for it."""
        checkout = Checkout(tmp_path, "1 + 1")
        code, out, err = checkout.run(HOME="/nonexistent")
        assert (code, err) == (0, "")
        assert out == (
            "This terminal has no screen (no DISPLAY, no WAYLAND_DISPLAY), "
            "so here is a report; `make lab` starts JupyterLab.\n"
            f"The report is {checkout.report}\n"
        )
        assert checkout.report.exists()

    def test_with_a_browser_gets_jupyterlab_on_the_notebook(self, tmp_path):
        """The browser is sent to the notebook itself."""
        checkout = Checkout(tmp_path)
        opened = tmp_path / "opened"
        browser = tmp_path / "browser"
        browser.write_text(f'#!/bin/sh\ncat "${{1#file://}}" > {opened}\n')
        browser.chmod(0o755)
        with checkout.start(DISPLAY=":0", BROWSER=f"{browser} %s") as process:
            try:
                eventually(opened.exists, what="the browser opens")
                eventually(opened.read_text, what="it has its page")
            finally:
                os.killpg(process.pid, signal.SIGTERM)
                process.communicate(timeout=PATIENCE)
        assert "/lab/tree/tour.ipynb?token=" in opened.read_text()
