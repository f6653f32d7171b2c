"""The widget managers of VS Code and of pages such as Colab's show panels; the front ends themselves are not started.

VS Code's is Microsoft's own package. Colab's is on no registry: what is tried is the manager for pages
outside of notebooks, which like Colab's is built on ipywidgets' base manager.
"""

import pytest

from browser.manager_page import ManagerPage
from browser.test_runs import PANELS, watch_stop_answer_refuse

FORM = """
%load_ext toolbench
from toolbench import tool

@tool(read_only=True)
def split_bill(total: float, people: int = 2) -> str:
    '''Split a restaurant bill evenly.

    Args:
        total: The bill, in euros.
        people: How many share it.
    '''
    return f"Everybody pays {total / people:.2f} euros."

split_bill
"""
ASK = "from toolbench import history; print(history()[-1].arguments, history()[-1].source)"


@pytest.fixture
def manager_page(page, lab_server, screenshots):
    """An empty page of JupyterLab's server; its kernel ends with the test."""
    manager_page = ManagerPage(page, lab_server, screenshots)
    yield manager_page
    manager_page.shut_down()


@pytest.mark.parametrize(
    "manager",
    [
        pytest.param(
            "vscode",
            marks=pytest.mark.front_end("VS Code's manager", "load", "type", "run", "cancel"),
        ),
        pytest.param(
            "html",
            marks=[
                pytest.mark.front_end("html-manager", "load", "type", "run", "cancel"),
                pytest.mark.long,
            ],
        ),
    ],
)
class TestManager:
    @pytest.mark.long
    def test_form_is_filled_and_run(self, manager_page, manager):
        """The form takes values, Run reaches the kernel, and the result comes back, with the module's buttons."""
        manager_page.open(manager)
        manager_page.run(FORM)
        manager_page.type_into("total", "84")
        manager_page.click("Run")
        manager_page.wait_for_text("Everybody pays 42.00 euros.")
        manager_page.tab.page.get_by_role("button", name="Copy", exact=True).wait_for()
        assert manager_page.run(ASK) == "{'total': 84} button\n"
        manager_page.picture(f"manager-{manager}")
        assert manager_page.tab.foreign_requests == []
        assert manager_page.tab.console_errors == []

    @pytest.mark.long
    def test_watch_stop_answer_refuse(self, manager_page, manager):
        """The same as in the front ends that are started."""
        manager_page.open(manager)
        manager_page.run(PANELS)
        watch_stop_answer_refuse(manager_page)
