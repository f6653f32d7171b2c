"""Lists of tools: a thousand scroll, the keyboard picks, and plain lists remain without the module."""

import pytest
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.axe import violations
from browser.lab import NotebookPage

TOOLS = """
%load_ext toolbench
from toolbench import Action, ToolDefinition, bench, tool

@tool(read_only=True, title="Find a book")
def find_book(words: str) -> str:
    '''Search the library.'''
    return f"Found {words}."

@tool(destructive=True)
def erase(path: str) -> str:
    '''Erase a file.'''
    return f"Erased {path}."

many = [ToolDefinition(name=f"tool_{n}", description=f"Does thing {n}.", action_type=Action)
        for n in range(1000)]
bench(find_book, erase, many)
"""
DRAWN = "list => list.querySelectorAll('[role=option]').length"
# Options drawn at most, of a thousand
MOST_OPTIONS = 60


def opened(lab: NotebookPage) -> Locator:
    """Run the bench of a thousand tools and return its output."""
    lab.share(TOOLS)
    lab.tab.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    lab.run_all()
    return lab.output(0)


def main_of(output: Locator) -> Locator:
    """The pane of the tool that is open."""
    return output.locator(".toolbench-pane-main")


@pytest.mark.usefixtures("looks")
def test_a_thousand_tools_scroll(lab: NotebookPage):
    """Only what is seen is in the page; the last one is reached and picked; axe finds nothing."""
    output = opened(lab)
    tools = output.get_by_role("listbox", name="Tools")
    expect(tools.get_by_role("option")).not_to_have_count(0)
    eventually(lambda: tools.evaluate(DRAWN) <= MOST_OPTIONS, what="few options are drawn")
    tools.evaluate("list => list.scrollTop = list.scrollHeight")
    last = tools.get_by_role("option", name="tool_999")
    expect(last).to_have_attribute("aria-posinset", "1002")
    eventually(lambda: tools.evaluate(DRAWN) <= MOST_OPTIONS, what="few options are drawn")
    last.click()
    expect(last).to_have_attribute("aria-selected", "true")
    lab.wait_for_text("Does thing 999.", within=main_of(output))
    for _ in lab.themes():
        assert violations(lab.tab.page, ".toolbench-workbench") == []


def test_nothing_opens_empty(lab: NotebookPage):
    """The first tool is open and marked; each line has a title, a name, and a mark in a word."""
    output = opened(lab)
    lab.wait_for_text("Search the library.", within=main_of(output))
    tools = output.get_by_role("listbox", name="Tools")
    first = tools.get_by_role("option", selected=True)
    expect(first).to_have_text("Find a bookfind_book")
    expect(first.get_by_role("img", name="read-only")).to_be_visible()
    erase = tools.get_by_role("option", name="erase")
    expect(erase.get_by_role("img", name="destructive")).to_be_visible()


IN_SIGHT = """list => {
  const picked = list.querySelector("[aria-selected=true]");
  if (!picked) return false;
  const [outer, inner] = [list, picked].map(part => part.getBoundingClientRect());
  return outer.top <= inner.top && inner.bottom <= outer.bottom;
}"""


def test_the_picked_tool_stays_in_sight(lab: NotebookPage):
    """While the filter changes and is cleared; who has scrolled away from it stays there."""
    output = opened(lab)
    tools = output.get_by_role("listbox", name="Tools")
    options, search = tools.get_by_role("option"), output.get_by_label("Search")

    def filter_by(words: str, size: int) -> None:
        search.fill(words)
        expect(options.first).to_have_attribute("aria-setsize", str(size))

    filter_by("tool_555", 1)
    options.click()
    lab.wait_for_text("Does thing 555.", within=main_of(output))
    for words, size in (("", 1002), ("find", 1), ("", 1002), ("55", 19), ("", 1002)):
        filter_by(words, size)
        # Which finds another tool
        if words != "find":
            until = f"the picked tool is in sight at {words!r}"
            eventually(lambda: tools.evaluate(IN_SIGHT), what=until)
    tools.evaluate("list => list.scrollTop = 0")
    filter_by("tool", 1000)
    eventually(
        lambda: tools.evaluate("list => list.scrollTop") < 100, what="the list is at its top"
    )


ACTIVE = """list => document
  .getElementById(list.getAttribute("aria-activedescendant"))?.textContent ?? ''"""


def test_arrows_and_enter_pick(lab: NotebookPage):
    """Arrows go from line to line, End to the last, and Enter opens; the search narrows the list."""
    output = opened(lab)
    tools, keys = output.get_by_role("listbox", name="Tools"), lab.tab.page.keyboard
    tools.focus()
    keys.press("ArrowDown")
    keys.press("Enter")
    lab.wait_for_text("Erase a file.", within=main_of(output))
    keys.press("End")
    eventually(lambda: "tool_999" in tools.evaluate(ACTIVE), what="the last line is active")
    keys.press("Home")
    keys.press("Enter")
    lab.wait_for_text("Search the library.", within=main_of(output))
    output.get_by_label("Search", exact=True).fill("thing 777")
    expect(tools.get_by_role("option")).to_have_count(1)


@pytest.mark.usefixtures("looks")
def test_a_tool_that_waits_says_so_in_the_list(lab: NotebookPage):
    """Also while another one is open; once it is answered, its line is as before."""
    output = opened(lab)
    tools = output.get_by_role("listbox", name="Tools")
    erase = tools.get_by_role("option", name="erase")
    erase.click()
    lab.wait_for_text("Erase a file.", within=main_of(output))
    lab.type_into("path", "x", within=main_of(output))
    lab.click("Run", within=main_of(output))
    expect(erase).to_have_text("erasewaiting for an answer")
    tools.get_by_role("option", name="Find a book").click()
    lab.wait_for_text("Search the library.", within=main_of(output))
    expect(erase).to_have_text("erasewaiting for an answer")
    for theme in lab.themes():
        lab.picture(f"list-waits-{theme}")
        assert violations(lab.tab.page, ".toolbench-workbench") == []
    erase.click()
    main_of(output).locator(".toolbench-question button").first.click()
    expect(erase).to_have_text("eraseErase a file.")


def test_panes_stand_beside_each_other_where_there_is_room(lab: NotebookPage):
    """From 900 pixels of room on; with less the tool stands below its list."""
    output = opened(lab)
    left_pane, main = output.locator(".toolbench-pane-list"), main_of(output)

    def beside() -> bool:
        left, right = left_pane.bounding_box(), main.bounding_box()
        return left is not None and right is not None and right["x"] >= left["x"] + left["width"]

    lab.tab.page.set_viewport_size({"width": 1280, "height": 900})
    eventually(beside, what="the panes stand beside each other")
    for width in (700, 400):
        lab.tab.page.set_viewport_size({"width": width, "height": 900})
        eventually(lambda: not beside(), what="they stand below each other")


@pytest.mark.long
def test_plain_lists_remain_without_the_module(new_lab: NotebookPage):
    """Where the page cannot load it, a list of ipywidgets picks a tool, and it runs."""
    new_lab.tab.page.route("**/*anywidget*/**", lambda route: route.abort())
    output = opened(new_lab)
    expect(output.get_by_text("more: type to narrow the list")).to_be_visible()
    output.get_by_label("Search", exact=True).fill("erase")
    options = output.locator(".toolbench-list select:visible option")
    expect(options).to_have_text(["erase — Erase a file."])
    options.click()
    new_lab.wait_for_text("Erase a file.", within=main_of(output))
    expect(output.locator(".toolbench-items")).to_have_count(0)
