"""A server over time in the explorer: recorded and compared by buttons, and the page of a line opened."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.axe import violations
from browser.explored import Explored, opened
from browser.lab import NotebookPage

SERVERS = """
from toolbench.testing import FakeMCPServer

def shop(description, **properties):
    server = FakeMCPServer("shop")
    schema = {"type": "object", "properties": {"item": {"type": "string"}, **properties}}
    schema["required"] = ["item", *properties]
    server.answer("buy", "bought", schema=schema, description=description)
    server.answer("hours", "9 to 5", description="When the shop is open.")
    return server

before = shop("Buy one item of the shop <b>now</b>.")
after = shop("Buy some items of the shop <b>now</b>, paid from the account.",
             amount={"type": "integer", "maximum": 10})
"""
CELLS = (
    SERVERS,
    "%mcp connect shop before",
    '%%tool buy --yes\n{"item": "tea"}',
    "%mcp snapshot shop",
    "%mcp connect shop after",
    "%mcp diff shop shop.snapshot.json --html shop-changes.html",
    "%mcp explore shop",
)


@pytest.mark.long
@pytest.mark.usefixtures("looks")
def test_is_recorded_and_compared(lab: NotebookPage, nbroot: Path) -> None:
    """By mouse and keys alone; what is written is a recording. The page of a line reads by itself."""
    with opened(lab, *CELLS) as explored:
        faults = recorded(explored, nbroot) + compared(explored)
        assert lab.tab.console_errors == []
        faults += read(explored, nbroot / "shop-changes.html")
        assert not faults, "\n".join(faults)


def recorded(explored: Explored, folder: Path) -> list[str]:
    """Record the server, and return what axe-core says of the tab."""
    explored.tab("Recording")
    explored.see("shop is not recorded.")
    explored.look("recording-off")
    explored.type_into("File", "mine.jsonl")
    explored.click("Record")
    explored.see(f"shop is recorded in {folder / 'mine.jsonl'}")
    explored.look("recording-on")
    faults = explored.faults("recording")
    explored.click("Stop recording")
    explored.see(f"{folder / 'mine.jsonl'} is complete")
    explored.look("recording-done")
    return faults + explored.faults("recorded")


def compared(explored: Explored) -> list[str]:
    """Compare with the snapshot, and return what axe-core says of the tab."""
    explored.tab("Changes")
    explored.see("Nothing compared yet.")
    explored.look("changes-none")
    explored.type_into("Compare with", "shop.snapshot.json")
    explored.click("Compare")
    explored.see("1 of your 1 call would be refused now.")
    explored.see("may be refused, an output may be missing")
    expect(explored.box.locator("ins", has_text="some").first).to_be_attached()
    expect(explored.box.locator("del", has_text="one").first).to_be_attached()
    explored.look("changes")
    return explored.faults("changes")


def read(explored: Explored, path: Path) -> list[str]:
    """Open the page as a file, and return what axe-core says of it in both schemes."""
    # Another page: JupyterLab's goes on with the next test
    page = explored.lab.tab.page.context.new_page()
    page.goto(path.as_uri())
    faults = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator("ins", has_text="some")).to_be_visible()
        faults += [f"page, {scheme}: {each}" for each in violations(page, "body")]
    page.close()
    return faults
