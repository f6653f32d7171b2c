"""A server over time in the explorer: recorded by a button, compared, and the page opened."""

from pathlib import Path

from browser.axe import violations
from browser.explored import Explored, opened, own_errors
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
    "%mcp explore shop",
)


def test_is_recorded_compared_and_saved(lab: NotebookPage, nbroot: Path) -> None:
    """By mouse and keys alone; what is written is a recording, and a page that reads by itself."""
    with opened(lab, nbroot / "overtime.ipynb", *CELLS) as shown:
        faults = recorded(shown, nbroot) + compared(shown)
        page = nbroot / "shop-changes.html"
        shown.see(f"The page is in {page}")
        assert own_errors(lab) == []
        faults += read(shown, page)
        assert not faults, "\n".join(faults)


def recorded(shown: Explored, folder: Path) -> list[str]:
    """Record the server, and return what axe-core says of the tab."""
    shown.tab("Recording")
    shown.see("Not recorded.")
    shown.look("recording-off")
    shown.type_into("File", "mine.jsonl")
    shown.click("Record")
    shown.see(f"Recording into {folder / 'mine.jsonl'}")
    shown.look("recording-on")
    faults = shown.faults("recording")
    shown.click("Stop recording")
    shown.see(f"Recorded in {folder / 'mine.jsonl'}")
    shown.look("recording-done")
    return faults + shown.faults("recorded")


def compared(shown: Explored) -> list[str]:
    """Compare with the snapshot, and return what axe-core says of the tab."""
    shown.tab("Changes")
    shown.see("Nothing compared yet.")
    shown.look("changes-none")
    shown.type_into("Compare with", "shop.snapshot.json")
    shown.click("Compare")
    shown.see("1 of your 1 call would be refused now.")
    shown.see("may be refused, an output may be missing")
    assert shown.box.locator("ins", has_text="some").count()
    assert shown.box.locator("del", has_text="one").count()
    shown.look("changes")
    faults = shown.faults("changes")
    shown.click("Save as HTML")
    return faults


def read(shown: Explored, path: Path) -> list[str]:
    """Open the page as a file, and return what axe-core says of it in both schemes."""
    page = shown.lab.tab.page
    page.goto(path.as_uri())
    faults = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        shown.lab.screenshot(f"changes-page-{scheme}")
        assert page.locator("ins", has_text="some").is_visible()
        faults += [f"page, {scheme}: {each}" for each in violations(page, "body")]
    return faults
