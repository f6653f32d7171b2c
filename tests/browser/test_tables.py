"""Tables of tools, servers and findings keep their shape in a narrow window."""

import re

import pytest
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.explored import SHOP, connect
from browser.lab import NotebookPage

CELLS = (
    "%load_ext toolbench",
    "from toolbench import tool\n"
    "@tool(destructive=True)\n"
    "def remove_volumes_of_project(project: str, force: bool = False) -> str:\n"
    "    '''Remove all volumes of a project, and the snapshots that were made of them.'''\n"
    "    return project",
    connect("shop", str(SHOP)),
    "%tools",
    "%mcp list",
    "%tools lint",
)
TABLES = (3, 4, 5)
FADES = re.compile(r"\btoolbench-fades\b")
OUT_OF_SHAPE = """
output => [...output.querySelectorAll('table')].flatMap(table => {
  const room = output.getBoundingClientRect();
  const wide = table.getBoundingClientRect().right > room.right + 1;
  const broken = [...table.querySelectorAll('tr > :first-child')].filter(cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const tops = new Set([...range.getClientRects()].map(line => Math.round(line.top / 8)));
    return tops.size > 2;
  });
  return [...(wide ? ['wider than the output'] : []), ...broken.map(cell => cell.textContent)];
})
"""


@pytest.mark.usefixtures("looks")
def test_keep_their_shape(lab: NotebookPage) -> None:
    """At 1280 and 700 pixels: inside the output, and the first column on two lines at most."""
    lab.share(*CELLS)
    lab.tab.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    lab.run_all()
    for width in (1280, 700):
        lab.tab.page.set_viewport_size({"width": width, "height": 1000})
        for index in TABLES:
            output = lab.output(index)
            output.evaluate("o => o.scrollIntoView({block: 'start'})")
            expect(output.locator("table").first).to_be_visible()
            until = f"the tables of cell {index} keep their shape at {width} pixels"
            eventually(lambda: output.evaluate(OUT_OF_SHAPE) == [], what=until)  # noqa: B023
            for theme in lab.themes():
                lab.picture(f"table-{index}-{theme}-{width}")


@pytest.mark.long
def test_fade_where_there_is_more_and_go_below_names_where_there_is_no_room(
    lab: NotebookPage,
) -> None:
    """The edge of a table that is wider than its frame fades, until it was scrolled to its end.

    Sentences go below names in a narrow window; the table is then as wide as its frame.
    """
    # It brings the front-end module
    a_panel = "%tool remove_volumes_of_project"
    lab.share(*CELLS, a_panel)
    lab.run_all()
    frame = lab.output(TABLES[1]).locator("[data-toolbench-listing]").first
    lab.tab.page.set_viewport_size({"width": 1600, "height": 1000})
    expect(frame).not_to_have_class(FADES)
    lab.tab.page.set_viewport_size({"width": 460, "height": 1000})
    expect(frame).to_have_class(FADES)
    frame.evaluate("f => f.scrollTo(f.scrollWidth, 0)")
    expect(frame).not_to_have_class(FADES)
    frame.evaluate("f => f.scrollTo(0, 0)")
    expect(frame).to_have_class(FADES)

    lab.tab.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    frame = lab.output(TABLES[0]).locator("[data-toolbench-listing]").first
    for width, is_below in ((1280, False), (460, True)):
        lab.tab.page.set_viewport_size({"width": width, "height": 1000})
        until = f"the sentence is at its place at {width} pixels"
        eventually(lambda: is_below_its_name(frame) is is_below, what=until)  # noqa: B023
        expect(frame).not_to_have_class(FADES)


def is_below_its_name(frame: Locator) -> bool:
    """Whether the sentence of the first line stands below the name."""
    cells = frame.locator("tbody tr").first.locator("th, td")
    name, sentence = cells.first.bounding_box(), cells.last.bounding_box()
    assert name is not None and sentence is not None
    return sentence["y"] >= name["y"] + name["height"]
