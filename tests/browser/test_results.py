"""Results in the page: they have an end, and can be copied, saved, wrapped and looked at closely."""

import json
import re
from pathlib import Path

import pytest
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.axe import violations
from browser.lab import NotebookPage, write_notebook

TOOLS = """
%load_ext toolbench
import base64
from rich.table import Table
from IPython.display import display
from toolbench import Observation, tool
from toolbench.core.content import ImageContent
from toolbench.widgets.panel import ToolPanel

class Lines(Observation):
    @property
    def visualize(self):
        table = Table("line")
        table.add_row("<img src=x onerror=alert(1)>")
        return table

@tool
def lines() -> Lines:
    '''Return 400 lines.'''
    return Lines.from_text("\\n".join(f"line {n} <b>&amp;</b>" for n in range(400)))

@tool
def weather() -> dict:
    '''Return JSON.'''
    return {"city": "Zürich \\"ZRH\\"", "days": [{"high": 31.5, "rain": None}, {"high": 9, "rain": True}], "none": {}}

@tool
def image() -> ImageContent:
    '''Return an image.'''
    return ImageContent(image_urls=["data:image/png;base64," + PIXEL])

PIXEL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
for name, shown in (("lines", lines), ("weather", weather), ("image", image)):
    panel = ToolPanel(shown)
    panel.add_class("result-" + name)
    display(panel)
    panel.run()
"""
SAME = "The user and the model read the same"
CLIPBOARD = "() => navigator.clipboard.readText()"


def opened(lab: NotebookPage) -> Locator:
    """Run the notebook and wait until its results are cards with buttons."""
    lab.tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab.share(TOOLS)
    lab.run_all()
    page = lab.tab.page
    expect(page.get_by_role("button", name="Full view")).to_have_count(4)
    return page.locator("body")


def copied(lab: NotebookPage, card: Locator) -> str:
    """Copy what a card holds."""
    card.get_by_role("button", name="Copy").click()
    expect(card.locator(".toolbench-said")).to_have_text("Copied")
    text: str = lab.tab.page.evaluate(CLIPBOARD)
    return text


@pytest.mark.usefixtures("looks")
def test_a_result_has_an_end_and_can_be_taken_away(lab: NotebookPage):
    """It is limited until all is asked for; copied and saved it is complete and exact."""
    page = opened(lab)
    panel = page.locator(".result-lines")
    body = panel.get_by_role("group", name="What the model reads")
    card = panel.locator("[data-toolbench-card]").last
    limited = body.bounding_box()
    assert limited
    assert limited["height"] < 24 * 16
    more = card.get_by_role("button", name="Show all 400 lines")
    expect(more).to_have_attribute("aria-expanded", "false")
    lab.show(0)
    for theme in lab.themes():
        lab.picture(f"results-{theme}")
        assert violations(lab.tab.page, ".result-lines") == []
    more.click()
    height = "body => body.getBoundingClientRect().height"
    eventually(lambda: body.evaluate(height) > 10 * limited["height"], what="all of it is shown")
    runs_again(lab, panel, body)
    eventually(
        lambda: body.evaluate(height) > 10 * limited["height"], what="all of it is shown again"
    )
    card.get_by_role("button", name="Show less").click()
    expect(more).to_be_visible()

    text = "\n".join(f"line {n} <b>&amp;</b>" for n in range(400))
    assert copied(lab, card) == text
    with lab.tab.page.expect_download() as download:
        card.get_by_role("button", name="Save").click()
    assert download.value.suggested_filename == "result.txt"
    assert download.value.path().read_text() == text

    wrap = card.get_by_role("button", name="Wrap")
    expect(wrap).to_have_attribute("aria-pressed", "true")
    wrap.click()
    expect(body.locator("pre")).to_have_css("white-space", "pre")
    # The keys scroll it sideways
    expect(body).to_have_attribute("tabindex", "0")
    wrap.click()
    expect(body).not_to_have_attribute("tabindex", "0")
    assert lab.tab.console_errors == []


def runs_again(lab: NotebookPage, panel: Locator, part: Locator) -> None:
    """Run the tool of *panel* again, and wait until *part* is that of the new result."""
    earlier = part.element_handle()
    panel.get_by_role("button", name="Run", exact=True).click()
    lab.tab.page.wait_for_function("earlier => !earlier.isConnected", arg=earlier)


PARTS = """card => [...card.children].map(part => {
  const box = part.getBoundingClientRect();
  return [Math.round(box.top), Math.round(box.bottom)];
})"""


def test_two_cards_begin_and_end_together(lab: NotebookPage):
    """Their bars, contents and buttons are level, also where the title of one takes two lines."""
    table = """\
from toolbench import run_tool, tool
import pandas as pd

@tool
def numbers() -> pd.DataFrame:
    \"\"\"Count.\"\"\"
    return pd.DataFrame({"n": range(90), "text": ["x" * 20] * 90})

run_tool(numbers)"""
    lab.share("%load_ext toolbench", table, "numbers")
    lab.run_all()
    buttons = lab.output(1).get_by_role("button", name=re.compile("^Show"))
    expect(buttons).to_have_text(["Show the first 50 of 90 rows", "Show all 91 lines"])
    person, model = lab.output(1).locator("[data-toolbench-card]").all()
    sidebar = "window.jupyterapp.commands.execute('application:toggle-left-area')"
    lab.tab.page.evaluate(sidebar)
    for width in (1280, 800):
        lab.tab.page.set_viewport_size({"width": width, "height": 960})
        eventually(
            lambda: person.evaluate(PARTS) == model.evaluate(PARTS),
            what=f"the cards are level at {width} pixels",
        )


def test_each_kind_of_result_can_be_used(lab: NotebookPage):
    """A text, JSON and an image of one notebook, and cards that come and go."""
    page = opened(lab)
    a_full_view_shows_it_and_gives_it_back(lab, page)
    json_is_one_card_that_is_copied_as_json(lab, page)
    an_image_can_be_enlarged(lab, page)
    a_result_is_completed_with_the_change_that_shows_it(page)


def a_full_view_shows_it_and_gives_it_back(lab: NotebookPage, page: Locator) -> None:
    """The dialog holds the keys; Escape closes it, and the focus is on its button again."""
    panel = page.locator(".result-lines")
    button = panel.get_by_role("button", name="Full view").last
    button.focus()
    button.press("Enter")
    dialog = page.get_by_role("dialog", name="What the model reads")
    expect(dialog.get_by_text("line 399")).to_be_attached()
    before = lab.tab.page.evaluate("rig.cells().length")
    lab.tab.page.keyboard.press("x")
    lab.picture("result-full")
    assert violations(lab.tab.page, "dialog") == []
    lab.tab.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()
    expect(panel.get_by_text("line 399")).to_be_attached()
    assert lab.tab.page.evaluate("rig.cells().length") == before


def json_is_one_card_that_is_copied_as_json(lab: NotebookPage, page: Locator) -> None:
    """What both readers read is shown once; the tree opens as a whole and is copied as JSON."""
    panel = page.locator(".result-weather")
    expect(panel.get_by_role("group", name=SAME)).to_be_visible()
    card = panel.locator("[data-toolbench-card]")
    expect(card).to_have_count(1)
    switch = card.get_by_role("group", name="View")
    expect(card.get_by_role("columnheader")).to_have_text(["high float", "rain bool"])
    expect(card.get_by_text("city:")).to_be_visible()
    assert copied(lab, card) == "\thigh\train\n0\t31.5\tNone\n1\t9\tTrue"
    switch.get_by_role("button", name="Text").click()
    expect(card.get_by_text('"rain": null')).to_be_visible()
    tree = switch.get_by_role("button", name="Tree")
    tree.click()
    expect(tree).to_have_attribute("aria-pressed", "true")
    runs_again(lab, panel, card)
    expect(tree).to_have_attribute("aria-pressed", "true")
    card.get_by_role("button", name="Expand").click()
    expect(card.get_by_text("rain:").first).to_be_visible()
    assert json.loads(copied(lab, card)) == {
        "city": 'Zürich "ZRH"',
        "days": [{"high": 31.5, "rain": None}, {"high": 9, "rain": True}],
        "none": {},
    }
    with lab.tab.page.expect_download() as download:
        card.get_by_role("button", name="Save").click()
    assert download.value.suggested_filename == "result.json"
    assert json.loads(download.value.path().read_text())["city"] == 'Zürich "ZRH"'
    lab.tab.page.locator(".result-weather").scroll_into_view_if_needed()
    assert violations(lab.tab.page, ".result-weather") == []
    lab.picture("result-json")


def an_image_can_be_enlarged(lab: NotebookPage, page: Locator) -> None:
    """Enter on an image fits it into the window, and shows its true size there; it is saved as it is."""
    panel = page.locator(".result-image")
    image = panel.get_by_role("button", name="Enlarge image/png")
    image.focus()
    image.press("Enter")
    dialog = page.get_by_role("dialog")
    large = dialog.get_by_role("button", name="True size: image/png")
    expect(large).to_be_focused()
    assert large.bounding_box()["height"] > 100
    large.press("Enter")
    expect(large).to_have_attribute("aria-pressed", "true")
    assert large.bounding_box()["height"] == 1
    dialog.get_by_role("button", name="Close").click()
    expect(image).to_be_focused()
    # The same in the full view of the whole card
    panel.get_by_role("button", name="Full view").click()
    shown = dialog.get_by_role("button", name="Enlarge image/png")
    height = "image => image.getBoundingClientRect().height"
    eventually(lambda: shown.evaluate(height) > 100, what="the image fits into the window")
    shown.click()
    eventually(lambda: shown.evaluate(height) == 1, what="the image has its true size")
    dialog.get_by_role("button", name="Close").click()
    with lab.tab.page.expect_download() as download:
        panel.get_by_role("button", name="Save", exact=True).click()
    assert download.value.suggested_filename == "result.png"
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_without_the_module_a_result_scrolls(new_lab: NotebookPage, nbroot: Path):
    """Where the page cannot load anywidget, a card is complete static HTML of the same height."""
    new_lab.tab.page.route("**/*anywidget*/**", lambda route: route.abort())
    write_notebook(nbroot / "plain.ipynb", TOOLS)
    new_lab.open("plain.ipynb")
    new_lab.run_all()
    panel = new_lab.tab.page.locator(".result-lines")
    body = panel.get_by_role("group", name="What the model reads")
    expect(body).to_have_css("overflow-y", "auto")
    expect(body.get_by_text("line 399")).to_be_attached()
    box = body.bounding_box()
    assert box
    assert box["height"] < 24 * 16
    body.focus()
    new_lab.tab.page.keyboard.press("End")
    new_lab.tab.page.wait_for_function("body => body.scrollTop > 1000", arg=body.element_handle())
    expect(panel.get_by_role("button", name="Copy")).to_have_count(0)
    assert violations(new_lab.tab.page, ".result-lines") == []


CODE = """
%load_ext toolbench
from toolbench import tool

@tool
def note(text: str, tags: dict = {}, title: str = "") -> str:
    '''Write a note.'''
    return text

note
"""


@pytest.mark.usefixtures("looks")
def test_json_is_edited_in_an_editor(lab: NotebookPage):
    """What is typed there is in the form, what the form holds is there; Ctrl+Z undoes the text."""
    lab.share(CODE)
    lab.run_all()
    page, keys = lab.output(0), lab.tab.page.keyboard
    page.get_by_label("text", exact=True).fill("first")
    page.get_by_role("tab", name="JSON").click()
    editor = page.get_by_role("textbox", name="Arguments as JSON")
    expect(editor).to_have_text(re.compile("first"))
    expect(editor).to_have_attribute("contenteditable", "true")
    editor.click()
    keys.press("Control+A")
    keys.type('{"text": "second", "tags": {"a": 1}}')
    page.get_by_role("tab", name="Form").click()
    expect(page.get_by_label("text", exact=True)).to_have_value("second")
    page.get_by_role("tab", name="JSON").click()
    editor.click()
    keys.press("Control+End")
    # At once: what is typed slowly is undone in several steps
    keys.insert_text(" oops")
    lab.wait_for_text("Not JSON yet", within=page)
    keys.press("Control+z")
    expect(page.get_by_text("Not JSON yet")).to_have_count(0)
    for theme in lab.themes():
        lab.picture(f"editor-{theme}")
        assert violations(lab.tab.page, ".toolbench-panel") == []
    keys.press("Control+Enter")
    lab.wait_for_text(SAME, within=page)
    page.get_by_role("tab", name="Code").click()
    lab.tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    code = page.locator(".toolbench-code")
    code.get_by_role("button", name="Copy").click()
    expect(code.get_by_role("status")).to_have_text("Copied")
    assert "run_tool(note" in lab.tab.page.evaluate(CLIPBOARD)
    lab.picture("editor-code")
    pasted_line_ends_are_said(lab, page)
    assert lab.tab.console_errors == []


def pasted_line_ends_are_said(lab: NotebookPage, page: Locator) -> None:
    """A field of one line has spaces in their place; the end of a single line is no loss."""
    page.get_by_role("tab", name="Form").click()
    title, said = (
        page.get_by_label("title", exact=True),
        page.get_by_text("This field takes one line"),
    )
    for text, value, count in (("a\nb\r\nc\n", "a b c", 1), ("one\n", "one", 0)):
        lab.tab.page.evaluate("text => navigator.clipboard.writeText(text)", text)
        title.fill("")
        title.press("Control+V")
        expect(title).to_have_value(value)
        expect(said).to_have_count(count)
    expect(page.get_by_label("text", exact=True)).to_have_value("second")


TABLE = """
%load_ext toolbench
import pandas as pd
from toolbench import tool

@tool
def books() -> object:
    '''Return 5,000 rows.'''
    return pd.DataFrame({"title": [f"<i>{n % 7}</i>" for n in range(5000)], "year": range(5000, 0, -1)})

books
"""
TRIPS = """
def trips() -> pd.DataFrame:
    rows = {"minutes": [n * 0.5 for n in range(40_000)], "note": [None, 'late, "again"'] * 20_000}
    return pd.DataFrame(rows, index=pd.RangeIndex(40_000, name="trip"))

tool(trips)
"""


@pytest.mark.usefixtures("looks")
def test_a_large_table_is_virtual_and_sorted_by_its_heads(lab: NotebookPage):
    """Of 5,000 rows only those near the window are in the page; all are sorted and copied."""
    lab.tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab.share(TABLE, TRIPS)
    lab.run_all()
    page = lab.output(0)
    lab.click("Run", within=page)
    table = page.get_by_role("table").first
    expect(table).to_have_attribute("aria-rowcount", "5001")
    assert table.locator("tr").count() < 200
    card = page.locator(".toolbench-panel [data-toolbench-card]").first
    card.get_by_role("button", name="Show all 5,000 rows").click()
    head = table.get_by_role("columnheader", name="year int64")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(table.get_by_role("row").nth(1).get_by_role("cell").last).to_have_text("1")
    scroller = page.locator(".toolbench-panel .toolbench-scroller")
    scroller.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    expect(table.get_by_role("cell", name="5000", exact=True)).to_be_visible()
    assert table.locator("tr").count() < 200
    lines = copied(lab, card).split("\n")
    assert len(lines) == 5001
    assert lines[1].split("\t")[1:] == ["<i>1</i>", "1"]
    for theme in lab.themes():
        lab.picture(f"table-{theme}")
        assert violations(lab.tab.page, ".toolbench-panel") == []
    a_part_of_a_table_says_so_and_is_saved_whole(lab, lab.output(1))
    assert lab.tab.console_errors == []


def a_part_of_a_table_says_so_and_is_saved_whole(lab: NotebookPage, page: Locator) -> None:
    """The kernel filters and sorts all rows; the file has them all, with their labels."""
    lab.click("Run", within=page)
    card = page.locator(".toolbench-panel [data-toolbench-card]").first
    count = card.locator(".toolbench-filter [role=status]")
    expect(count).to_have_text("40,000 of 40,000 rows")
    expect(card.get_by_role("button", name="Show all 40,000 rows")).to_be_visible()
    expect(card.get_by_role("columnheader")).to_have_text(
        ["trip", "minutes float64", re.compile("note ")]
    )
    card.get_by_label("Filter rows").fill("minutes>19000 note:late")
    expect(count).to_have_text("1,000 of 40,000 rows")
    card.get_by_role("button", name="minutes").click()
    card.get_by_role("button", name="minutes").click()
    first = card.get_by_role("row").nth(1).get_by_role("cell")
    expect(first).to_have_text(["39999", "19999.5", 'late, "again"'])
    scroller = card.locator(".toolbench-scroller")
    scroller.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    expect(card.get_by_role("cell", name="38001", exact=True)).to_be_visible()
    save = card.get_by_role("button", name="Save")
    # While the kernel writes, the button says so, in letters and not in a line of one pixel
    busy = "save.setAttribute('aria-busy', 'true'); return save.lastElementChild.offsetHeight"
    assert save.evaluate(f"save => {{{busy}}}") > 10
    save.evaluate("save => save.removeAttribute('aria-busy')")
    with lab.tab.page.expect_download() as download:
        save.click()
    assert download.value.suggested_filename == "result.csv"
    lines = download.value.path().read_text().split("\n")
    assert lines[:3] == ["trip,minutes,note", "0,0.0,", '1,0.5,"late, ""again"""']
    assert lines[-2:] == ['39999,19999.5,"late, ""again"""', ""]
    assert len(lines) == 40_002
    expect(save).to_have_text("Save")
    # It is not installed here. The sentence stands in the bar: below it, the two cards would be askew
    card.locator("summary[aria-label^='Save as']").click()
    card.get_by_role("button", name="Parquet").click()
    problem = card.locator("[data-toolbench-bar]").get_by_role("alert")
    expect(problem).to_contain_text("Parquet needs pyarrow, which is not installed")
    expect(card.locator(".toolbench-forms")).not_to_have_attribute("open", "")
    assert problem.bounding_box()["y"] < card.get_by_label("Filter rows").bounding_box()["y"]


def a_result_is_completed_with_the_change_that_shows_it(page: Locator) -> None:
    """Its buttons do not wait for a frame; a result that is gone again gets none."""
    panel = page.locator(".result-weather")
    has_buttons: list[bool] = panel.evaluate(
        """async panel => {
            const body = panel.querySelector("[data-toolbench-body]");
            const card = body.closest("[data-toolbench-card]").cloneNode(true);
            card.querySelector(".toolbench-tools").remove();
            const gone = card.cloneNode(true);
            panel.append(card, gone);
            gone.remove();
            await Promise.resolve();  // the changes are looked at, but no frame is drawn
            const cards = [card, gone].map(e => e.querySelector(".toolbench-tools") !== null);
            card.remove();
            return cards;
        }"""
    )
    assert has_buttons == [True, False]
