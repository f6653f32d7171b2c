"""The history in a cell: the list of the runs of all tools, and the panel that a run opens below it."""

import pytest
from ipywidgets import Password
from pydantic import SecretStr

from test_widgets.front import click, deliver, named, receive, walk
from test_widgets.tooling import buttons, finish, shown, wait_for_ticker
from toolbench import history, run_tool, tool
from toolbench.runs.history import ListedRuns
from toolbench.widgets.history_panel import HistoryPanel
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.panel.run_list import Runs

pytestmark = pytest.mark.usefixtures("no_records")


@tool
def double(n: int) -> int:
    """Double a number."""
    return 2 * n


@tool
def login(user: str, password: SecretStr) -> str:
    """Log in."""
    return f"Welcome, {user}."


def rows(view):
    """The number, tool, arguments and result of each row that the page gets."""
    table = next(widget for widget in walk(view) if isinstance(widget, Runs))
    return [(row[1] - history()[0].id, row[3], row[7], row[8]) for row in table.rows]


def test_lists_the_runs_of_all_tools_and_follows_them():
    """Newest first, with the words of the line in the filter; a closed one listens no more."""
    run_tool(double, n=1)
    run_tool(login, user="ada", password="s3cret-word")
    view = HistoryPanel(ListedRuns(history()))
    assert rows(view) == [
        (1, "login", 'user = "ada", password = "<secret-hidden>"', "Welcome, ada."),
        (0, "double", "n = 1", "2"),
    ]
    found = HistoryPanel(ListedRuns(history(), words="tool:double"))
    assert [row[1] for row in rows(found)] == ["double"]
    found.close()
    run_tool(double, n=4)
    wait_for_ticker()
    assert rows(view)[0] == (2, "double", "n = 4", "8")
    static = view._repr_mimebundle_()["text/html"]
    assert "Welcome, ada." in static and "s3cret-word" not in static
    view.close()


def test_a_run_goes_on_in_the_panel_of_its_tool():
    """*Load* fills its form, *Run again* runs it; the chosen run stays open above, a secret stays typed."""
    run_tool(double, n=3)
    run_tool(login, user="ada", password="elsewhere-1")
    view = HistoryPanel(ListedRuns(history()))
    click(buttons(view)["Load"])
    [panel] = panels(view)
    assert panel.tool is login
    assert "did not keep &#x27;password&#x27;" in shown(panel)
    receive(named(panel, "password", Password), value="typed-here-2")
    click(buttons(view)["Run again"])
    finish(panel)
    assert panel.result.text == "Welcome, ada."
    wait_for_ticker()
    assert [row[1] for row in rows(view)] == ["login", "login", "double"]
    assert view.runs.record is history()[1]
    key = next(widget for widget in walk(view) if isinstance(widget, Runs)).rows[-1][0]
    table = next(widget for widget in walk(view) if isinstance(widget, Runs))
    deliver(table, {"method": "custom", "content": {"picked": key}})
    click(buttons(view)["Run again"])
    [panel] = panels(view)
    finish(panel)
    assert panel.result.text == "6"
    view.close()
    assert panel.comm is None


def panels(view):
    """The panels that are open in *view*."""
    return [widget for widget in walk(view) if isinstance(widget, ToolPanel)]
