"""What a person does with the lists of the explorer."""

from patience import eventually

from test_widgets.front import click, listing, pick, receive, walk
from test_widgets.tooling import buttons
from toolbench.widgets.explorer.tools import ToolsPane
from toolbench.widgets.panel import ToolPanel

LISTS = ("Tools", "Resources", "Prompts")
DETAILS = ("Server", "Log", "Traffic")


def go(explorer, title):
    """Go to a tab and return what it shows."""
    titles, tabs = LISTS, explorer.page.lists
    if title in DETAILS:
        open_details(explorer)
        titles, tabs = DETAILS, explorer.page.details
    receive(tabs.widget, selected_index=titles.index(title))
    return tabs.pane


def open_details(explorer):
    """Let the explorer show the tabs about the server, if it does not yet."""
    button = buttons(explorer).get("Server and traffic")
    if button is not None:
        click(button)


def listed(pane):
    """Wait until a pane has its list, and return the lines."""
    eventually(lambda: listing(pane) and listing(pane).options)
    return list(listing(pane).options)


def enter(line):
    """Press Enter in a line of text, as the browser tells it."""
    line._handle_custom_msg({"event": "submit", "settled": True}, [])


def choose(pane, start):
    """Pick the line that starts so; not before a pane that itself picks the first has done it."""
    (label,) = [line for line in listed(pane) if line.startswith(start)]
    if not isinstance(pane, ToolsPane):
        eventually(lambda: listing(pane).index is not None)
    # The thread that picks the first still sets traits of the list after its index
    with pane._lock:
        pick(listing(pane), label)


def open_panel(pane):
    """Return the panel of the tool that is open."""
    [panel] = [part for part in walk(pane.detail) if isinstance(part, ToolPanel)]
    return panel


def press(pane, label, *, settled=True):
    """Press a button of what a pane shows of its item, once it is there."""
    eventually(lambda: label in buttons(pane.detail))
    click(buttons(pane.detail)[label], settled=settled)
