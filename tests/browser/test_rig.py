"""The rig itself, on a notebook that needs nothing but ipywidgets."""

import re
from contextlib import suppress

import nbformat
import pytest
from patience import eventually
from playwright.sync_api import Error

from browser.chromium import Chromium
from browser.lab import NotebookPage, write_notebook
from browser.tab import Tab

GREET = """
import ipywidgets as widgets

name = widgets.Text(description="Name")
button = widgets.Button(description="Greet")
answer = widgets.HTML()

def greet(_):
    answer.value = f"Hello <b>{name.value}</b>"

button.on_click(greet)
widgets.VBox([name, button, answer])
"""

GREETING = (GREET, "print(repr(name.value))")


@pytest.fixture
def greeting(request: pytest.FixtureRequest, nbroot) -> str:
    """A notebook with a form in its first cell; the second tells what arrived."""
    file = f"{request.node.name}.ipynb"
    write_notebook(nbroot / file, *GREETING)
    return file


def says(lab: NotebookPage, text: str) -> bool:
    """Whether the second cell prints *text* now."""
    lab.run(1)
    return lab.text(1) == text


class TestJupyterLab:
    def test_typed_text_reaches_the_kernel_and_a_button_answers(self, lab: NotebookPage):
        """The whole way: keys -> widget -> kernel -> widget -> page."""
        lab.share(*GREETING)
        lab.run_all()
        assert lab.text(1) == "''\n"
        lab.type_into("Name", "Ada Lovelace")
        # Not before: ipywidgets keeps back what is typed while the kernel is busy, and no clicks
        eventually(lambda: says(lab, "'Ada Lovelace'\n"), what="the text has reached the kernel")
        lab.click("Greet", within=lab.output(0))
        lab.wait_for_text("Ada Lovelace", within=lab.output(0))
        lab.show(0)
        assert lab.screenshot("rig").stat().st_size > 0
        assert lab.errors() == []
        assert lab.tab.foreign_requests == []
        assert lab.tab.console_errors == []

    def test_saving_writes_the_outputs_to_the_file(self, lab: NotebookPage):
        """A saved notebook holds what its cells printed."""
        lab.share(*GREETING)
        lab.run_all()
        lab.save()
        saved = nbformat.read(lab.tab.shared, as_version=4)
        assert saved.cells[1].outputs[0].text == "''\n"

    def test_a_failing_cell_ends_the_run_and_is_named(self, lab: NotebookPage):
        """Running all stops at the first error."""
        lab.share("1 / 0", "print('not reached')")
        lab.run_all(may_fail=True)
        assert lab.errors() == ["0: ZeroDivisionError: division by zero"]
        assert lab.text(1) == ""

    def test_a_running_cell_can_be_interrupted(self, lab: NotebookPage):
        """A test can act while a cell runs."""
        source = "import threading\nprint('started')\nthreading.Event().wait(60)"
        lab.share(source)
        lab.start(0)
        lab.wait_for_text("started", within=lab.output(0))
        lab.interrupt()
        lab.wait_until_done()
        assert lab.errors() == ["0: KeyboardInterrupt: "]

    def test_a_shared_kernel_forgets_the_test_before(self, lab: NotebookPage):
        """It goes on, with nothing of what was defined, registered and run in it."""
        run = "import os, toolbench\n@toolbench.tool\ndef own() -> int:\n    return 1\ntoolbench.run_tool(own)"
        say = "%load_ext toolbench\nimport os\nfrom toolbench import history\nprint(os.getpid(), len(history()), 'own' in globals())"
        pids = []
        for _ in range(2):
            lab.share(say, run)
            lab.run_all()
            pid, *rest = lab.text(0).split()
            assert rest == ["0", "False"]
            pids.append(pid)
        assert len({*pids}) == 1

    def test_a_closed_notebook_writes_nothing_to_the_console(self, lab: NotebookPage, greeting):
        """The error of a widget that is not there comes before the notebook is closed, not after."""
        lab.open(greeting)
        lab.run(0)
        lab.save()
        lab.clear()
        lab.open(greeting)
        # The second as soon as the page has asked the kernel
        lab.wait_for_text(re.compile("Loading widget|Error displaying widget"))
        lab.clear()
        assert "widget model not found" in "".join(lab.tab.console_errors)


class TestNotebook7:
    @pytest.mark.long
    def test_is_driven_like_jupyterlab(self, notebook7: NotebookPage, greeting):
        """One page object serves both front ends."""
        notebook7.open(greeting)
        # 7.6 has one while it starts
        own_errors = list(notebook7.tab.console_errors)
        notebook7.run_all()
        name = notebook7.output(0).get_by_label("Name", exact=True)
        # At once: a click may overtake the keys of plain ipywidgets
        name.fill("Grace")
        name.press("Tab")
        notebook7.click("Greet", within=notebook7.output(0))
        notebook7.run(1)
        assert notebook7.text(1) == "'Grace'\n"
        assert notebook7.tab.foreign_requests == []
        assert notebook7.tab.console_errors == own_errors


class TestChromium:
    def test_that_died_costs_one_test(self, chromium: Chromium):
        """The next one gets another Chromium."""
        chromium = chromium.another()
        died = chromium.browser()
        # Its connection is gone
        with suppress(Error):
            died.new_browser_cdp_session().send("Browser.crash")
        page = chromium.browser().new_context().new_page()
        page.set_content("<p>alive</p>")
        assert page.inner_text("p") == "alive"
        assert chromium.browser() is not died
        chromium.close()


class TestTab:
    def test_requests_beyond_this_machine_are_seen_and_fail(self, page: Tab):
        """A test that finds no foreign request had the means to find one."""
        picture = "http://example.org/picture.png"
        with page.page.expect_event("requestfailed") as failed:
            page.page.set_content(f"<img src='{picture}'>")
        assert failed.value.failure == "net::ERR_NAME_NOT_RESOLVED"
        assert page.foreign_requests == [picture]
