"""Runs as people watch, stop and answer them, in every front end."""

import json
import re
from pathlib import Path

import pytest
from kernels import OLDEST, OURS, TOOLS, python_of

from browser.lab import Hands, NotebookPage, write_notebook
from browser.server import JupyterServer

PANELS = (
    TOOLS
    + """
from IPython.display import display

@tool
def ask(greeting: str) -> str:
    '''Ask for a name.'''
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    return f"{greeting} {current_run().ask('Who is it?', schema)['name']}."

for panel in (ToolPanel(slow), ToolPanel(ask, {"greeting": "Hello"}),
              ToolPanel(erase, {"path": "x"})):
    panel.add_class("panel-of-" + panel.tool.name)
    display(panel)
"""
)
BUSY = "print('busy', flush=True)\nwhile True: pass"


def panel(page: Hands, tool: str):
    """The panel of a tool on the page."""
    return page.tab.page.locator(f".panel-of-{tool}").last


def watch_stop_answer_refuse(page: Hands) -> None:
    """Progress is seen moving, Cancel stops it, a question is answered, a consent refused."""
    slow = panel(page, "slow")
    page.click("Run", within=slow)
    page.wait_for_text("step 3.", within=slow)
    # Each is soon replaced
    later = slow.get_by_text(re.compile(r"at ([89]|[1-9]\d)"))
    later.locator("visible=true").first.wait_for()
    page.wait_for_text("step 12.", within=slow)
    page.click("Cancel", within=slow)
    page.wait_for_text("Stopped at", within=slow)
    page.wait_for_text("cancelled", within=slow)

    asking = panel(page, "ask")
    page.click("Run", within=asking)
    page.wait_for_text("Who is it?", within=asking)
    page.type_into("name", "Ada", within=asking)
    page.click("Accept", within=asking)
    page.wait_for_text("Hello Ada.", within=asking)

    erasing = panel(page, "erase")
    page.click("Run", within=erasing)
    page.wait_for_text("can delete or overwrite data", within=erasing)
    page.click("Don't run", within=erasing)
    page.wait_for_text("You declined; erase was not run.", within=erasing)
    assert "Erased" not in erasing.inner_text()


@pytest.fixture(params=[OURS, pytest.param(OLDEST, marks=pytest.mark.long)])
def kernel(request, lab_server: JupyterServer) -> str:
    """The name of a kernel that JupyterLab knows."""
    if request.param == OURS:
        return "python3"
    name = request.param.replace(" ", "-")
    spec = lab_server.home / ".local/share/jupyter/kernels" / name / "kernel.json"
    spec.parent.mkdir(parents=True, exist_ok=True)
    launch = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]
    described = {
        "argv": [python_of(request.param), *launch],
        "display_name": name,
        "language": "python",
        "env": {"PYTHONPATH": str(Path(__file__).parents[2])},
    }
    spec.write_text(json.dumps(described))
    return name


@pytest.mark.front_end("JupyterLab", "load", "type", "run", "cancel")
class TestJupyterLab:
    def test_watch_stop_answer_refuse(self, lab: NotebookPage, kernel):
        """All of it, beside cells and interrupts, on each kernel."""
        self.has(lab, kernel, PANELS, "6 * 7", BUSY)
        lab.run(0)
        watch_stop_answer_refuse(lab)

        slow = panel(lab, "slow")
        lab.click("Run", within=slow)
        lab.wait_for_text("step 3.", within=slow)
        # A cell works while a run goes on
        lab.run(1)
        assert lab.text(1) == "42"
        lab.wait_for_text("step 9.", within=slow)
        # Kernel > Interrupt with only a background run
        lab.interrupt()
        lab.wait_for_text("Stopped at", within=slow)
        lab.start(2)
        lab.wait_for_text("busy", within=lab.output(2))
        lab.interrupt()
        lab.wait_until_done()
        assert lab.errors() == ["2: KeyboardInterrupt: "]
        assert lab.tab.foreign_requests == []
        assert lab.tab.console_errors == []

    def has(self, lab: NotebookPage, kernel: str, *cells: str) -> None:
        """Open a notebook of *cells* with a kernel of that name."""
        if kernel == "python3":
            lab.share(*cells)
            return
        write_notebook(lab.server.root / "runs.ipynb", *cells, kernel=kernel)
        # A page that is open already has read the list of kernels
        lab.tab.page.evaluate("globalThis.jupyterapp?.serviceManager.kernelspecs.refreshSpecs()")
        lab.open("runs.ipynb")


@pytest.mark.front_end("Notebook 7", "load", "type", "run", "cancel")
class TestNotebook7:
    @pytest.mark.long
    def test_watch_stop_answer_refuse(self, notebook7: NotebookPage, nbroot: Path):
        """The same in Notebook 7."""
        write_notebook(nbroot / "runs7.ipynb", PANELS)
        notebook7.open("runs7.ipynb")
        notebook7.run(0)
        watch_stop_answer_refuse(notebook7)
        assert notebook7.tab.foreign_requests == []


@pytest.mark.front_end("Voila", "load", "type", "run", "cancel")
class TestVoila:
    @pytest.mark.long
    def test_watch_stop_answer_refuse(self, voila, nbroot: Path):
        """The same where there is no notebook to be seen."""
        write_notebook(nbroot / "voila.ipynb", PANELS)
        voila.open("voila.ipynb")
        watch_stop_answer_refuse(voila)
        voila.picture("panel-voila")


@pytest.mark.front_end("nbclassic", "load", "type", "run", "cancel")
class TestClassic:
    @pytest.mark.long
    def test_watch_stop_answer_refuse(self, nbclassic, nbroot: Path):
        """The same in the classic front end."""
        write_notebook(nbroot / "classic.ipynb", PANELS)
        nbclassic.open("classic.ipynb")
        nbclassic.run_all()
        watch_stop_answer_refuse(nbclassic)
        nbclassic.picture("panel-classic")
