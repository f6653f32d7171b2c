"""The tab Log of the explorer: long logs stay in their boxes, and are read with the wheel."""

from pathlib import Path

import pytest
from patience import eventually
from playwright.sync_api import Locator

from browser.explored import connect, opened
from browser.lab import NotebookPage

CHATTY = """
import sys
from fastmcp import FastMCP

for number in range(120):
    print(f"stderr line {number}", file=sys.stderr)
server = FastMCP("chatty")
server.tool(name="wait")(lambda: "waited")
server.run()
"""
IS_OVER = """box => {
  const inside = box.getBoundingClientRect();
  const point = document.elementFromPoint(inside.left + 20, inside.top - 6);
  return point === null || box.contains(point);
}"""


@pytest.mark.long
@pytest.mark.usefixtures("looks")
def test_lines_stay_in_their_box(lab: NotebookPage, nbroot: Path) -> None:
    """The newest is seen first, beside nothing else; the wheel reaches the oldest."""
    server = nbroot / "chatty.py"
    server.write_text(CHATTY)
    cells = (connect("chatty", str(server)), "%mcp explore chatty")
    with opened(lab, *cells) as explorer:
        explorer.tab("Log")
        lines = explorer.box.locator(".toolbench-feed").locator("visible=true")
        explorer.see("stderr line 119")
        box = lines.filter(has_text="stderr line 119")
        texts = box.locator(".toolbench-line").all_inner_texts()
        numbers = [int(text.split()[-1]) for text in texts if text.startswith("stderr line")]
        assert numbers == sorted(numbers)
        box.scroll_into_view_if_needed()
        assert not box.evaluate(IS_OVER)
        explorer.look("explorer-log")
        reach(box, "stderr line 0")
        assert not explorer.faults("log")


def reach(box: Locator, text: str) -> None:
    """Turn the wheel over *box* until *text* is in its window."""
    place = box.get_by_text(text, exact=True)
    box.hover()

    def is_in_sight() -> bool:
        box.page.mouse.wheel(0, -400)
        outer, inner = box.bounding_box(), place.bounding_box()
        assert outer is not None
        assert inner is not None
        return outer["y"] <= inner["y"] + 1 <= outer["y"] + outer["height"]

    eventually(is_in_sight, what=f"{text} is in sight")
