"""The tab Traffic of the explorer by hand: its filter, its rows, and a call that is edited."""

from playwright.sync_api import Locator, expect

from browser.explored import SHOP, Explored, connect, opened
from browser.lab import NotebookPage

CALLS = """
from toolbench import run_tool
for item in ("pear", "plum"):
    run_tool("basket", {"item": item})
"""
FILTER_FROM_AFAR = """(field, text) => {
  field.value = text;
  field.dispatchEvent(new Event('input', {bubbles: true}));
}"""


class TestTraffic:
    def test_by_hand(self, lab: NotebookPage) -> None:
        """One explorer for all, because it takes long to open."""
        cells = (
            connect("shop", str(SHOP)),
            CALLS,
            "%mcp explore shop",
        )
        with opened(lab, *cells) as explorer:
            explorer.tab("Traffic")
            lines = explorer.box.get_by_role("listbox", name="Messages").get_by_role("option")
            expect(lines.filter(has_text="tools/call basket")).to_have_count(2)
            self.filters_each_letter(explorer, lines)
            self.opens_the_row_that_was_pressed(explorer, lines)
            self.edits_a_call(explorer, lines)

    def filters_each_letter(self, explorer: Explored, lines: Locator) -> None:
        """No Enter is needed; a field that is emptied has no filter any more."""
        field = explorer.box.get_by_label("Filter messages")
        field.press_sequentially("plum")
        expect(lines).to_have_count(1)
        field.press("ControlOrMeta+a")
        field.press("Delete")
        expect(lines.filter(has_text="tools/call basket")).to_have_count(2)

    def opens_the_row_that_was_pressed(self, explorer: Explored, lines: Locator) -> None:
        """Although the list changes while the button of the mouse is down."""
        page = explorer.lab.tab.page
        field = explorer.box.get_by_label("Filter messages")
        pressed = lines.filter(has_text="tools/call basket").first
        pressed.hover()
        page.mouse.down()
        field.evaluate(FILTER_FROM_AFAR, "tools/list")
        expect(lines).to_have_count(1)
        page.mouse.up()
        explorer.see("Sent: request")
        head = explorer.box.locator(".toolbench-opened strong")
        expect(head.first).to_contain_text("tools/call basket")
        field.clear()

    def edits_a_call(self, explorer: Explored, lines: Locator) -> None:
        """In the form of its tool, which has the cursor then; the message says so."""
        explorer.open_tool("hire")
        explorer.open_tool("basket")
        lines.filter(has_text="tools/call basket").last.click()
        explorer.click("Edit and send")
        explorer.see("The form of basket now holds these arguments")
        expect(explorer.box.get_by_label("item", exact=True)).to_be_focused()
        explorer.look("explorer-edited")
