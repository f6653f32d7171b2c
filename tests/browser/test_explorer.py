"""The explorer: icons, by keyboard, as a cell's value, in a saved notebook; its panes and traffic."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.explored import SHOP, Explored, connect, opened
from browser.lab import NotebookPage, write_notebook
from browser.trap import Trap

ICONS = """
from base64 import b64encode
from fastmcp import FastMCP
from mcp.types import Icon
from toolbench.mcp import MCPClient
from toolbench.widgets.explorer import Explorer

def icons(color):
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><circle cx="12" cy="12" r="10" fill="{color}"/></svg>'
    data = b64encode(svg.encode()).decode()
    return [Icon(src=f"{TRAP}/{color}.png"), Icon(src=f"data:image/svg+xml;base64,{data}")]

server = FastMCP("library", icons=icons("purple"))
server.tool(lambda: "lent", name="lend", icons=icons("green"))
server.tool(lambda: "found", name="find")
server.resource("books://all", name="All books", icons=icons("red"))(lambda: "none")
server.resource("books://{shelf}", name="One shelf", icons=icons("orange"))(lambda shelf: shelf)
server.prompt(lambda: "Which book?", name="choose", icons=icons("blue"))
client = MCPClient(timeout=60)
client.connect("library", server)
client.connect("other", FastMCP("other"))
Explorer(client, "library")
"""
WIDTHS_OF_ICONS = (
    "pictures => pictures.map(it => [it.getBoundingClientRect().width, it.naturalWidth])"
)


class TestIcons:
    @pytest.mark.usefixtures("looks")
    @pytest.mark.long
    def test_are_drawn_in_lists_and_beside_names(self, lab: NotebookPage) -> None:
        """Where the server sent the picture itself; one on the web is not fetched."""
        with (
            Trap() as trap,
            opened(lab, f"TRAP = {trap.address!r}\n{ICONS}") as explorer,
        ):
            for tab, name in (
                ("Tools", "lend"),
                ("Resources", "All books"),
                ("Resources", "One shelf"),
                ("Prompts", "choose"),
            ):
                explorer.tab(tab)
                explorer.pick(tab, name)
                explorer.look(f"explorer-icons-{name}")
                option = explorer.box.get_by_role("option", name=name)
                head = explorer.box.locator(".toolbench-pane-main strong").first
                for place in (option, head):
                    self.has_icon(place)
            self.has_icon(explorer.box.get_by_role("option", name="library"))
            explorer.tab("Tools")
            find = explorer.box.get_by_role("option", name="find")
            expect(find).to_be_visible()
            expect(find.locator("img")).to_have_count(0)
            faults = explorer.faults("icons")
            assert not faults, "\n".join(faults)
        assert trap.requests == []

    def has_icon(self, place: Locator) -> None:
        eventually(
            lambda: place.locator("img").evaluate_all(WIDTHS_OF_ICONS) == [[20, 24]],
            what="the icon is drawn",
        )


class TestAsAValue:
    @pytest.mark.long
    def test_is_an_explorer_then_text(self, lab: NotebookPage) -> None:
        """By keyboard alone; saved and opened again it is text; unloaded it is no widget."""
        cells = (
            connect("shop", str(SHOP)),
            "from toolbench.mcp import create_mcp_tools\n"
            "client = create_mcp_tools({'mcpServers': "
            f"{{'a': {entry(SHOP)}, 'shop': {entry(SHOP)}}}}})",
            "client",
        )
        with opened(lab, *cells) as explorer:
            self.by_keyboard(explorer)
            lab.save()
            path = lab.tab.shared
            assert path
            lab.clear()
            lab.open(path.name)
            explorer.see("Order something; you are asked")
            expect(explorer.box.get_by_role("tab")).to_have_count(0)
            assert "model not found" not in explorer.box.inner_text()
            explorer.look("explorer-reopened")
        lab.clear()
        write_notebook(path, "%load_ext toolbench", cells[1], "%unload_ext toolbench", "client")
        lab.open(path.name)
        lab.run_all()
        assert "MCPClient(" in lab.text(3)
        expect(lab.output(3).get_by_label("Servers")).to_have_count(0)

    def by_keyboard(self, explorer: Explored) -> None:
        """Server, tab, tool, field, run: Tab, arrows, letters, Enter."""
        keys = explorer.lab.tab.page.keyboard
        explorer.box.get_by_label("Find a server").focus()
        keys.type("sh")
        keys.press("Enter")
        # Until then, tabs and fields are those of the other server
        head = explorer.box.locator(".toolbench-server strong")
        head.get_by_text("shop", exact=True).first.wait_for()
        reach(explorer, "tab", "Tools")
        keys.press("ArrowRight")
        expect(explorer.box.get_by_role("tab", name="Resources")).to_be_focused()
        keys.press("Enter")
        explorer.box.get_by_role("listbox", name="Resources").wait_for()
        keys.press("ArrowLeft")
        keys.press("Enter")
        reach(explorer, "textbox", "Search")
        keys.type("basket")
        keys.press("Enter")
        title = explorer.box.locator("strong", has_text="basket").locator("visible=true")
        # Until then, the fields are another tool's
        title.first.wait_for()
        reach(explorer, "textbox", "item")
        keys.type("pear")
        reach(explorer, "button", "Run")
        keys.press("Enter")
        explorer.see("in the basket")


def reach(explorer: Explored, role: Any, name: str, presses: int = 40) -> None:
    """Press Tab until the cursor is there."""
    target = explorer.box.get_by_role(role, name=name).locator("visible=true").first
    target.wait_for()
    for _ in range(presses):
        if target.evaluate("e => e === document.activeElement"):
            return
        explorer.lab.tab.page.keyboard.press("Tab")
    msg = f"no way by Tab to the {role} {name!r}"
    raise AssertionError(msg)


def entry(script: Path) -> str:
    """The entry of a Python script, as written in a cell."""
    return repr({"command": sys.executable, "args": [str(script)]})


WIDE = """
import asyncio, pathlib, tempfile
from fastmcp import Context, FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.skills.extension import SkillsExtension
from toolbench.mcp import MCPClient

skill = pathlib.Path(tempfile.mkdtemp(), "lending")
skill.mkdir()
(skill / "SKILL.md").write_text("---\\nname: lending\\ndescription: How books are lent.\\n---\\n")
provider = SkillsDirectoryProvider(skill.parent, experimental_skills=True)
server = FastMCP("library")
server.add_provider(provider)
server.add_extension(SkillsExtension(providers=[provider]))
server.tool(lambda: "lent", name="get_structured_content", annotations={"readOnlyHint": True})
server.tool(lambda text, prefix, suffix, left, right: text, name="echo")

@server.tool(annotations={"readOnlyHint": True})
async def count(ctx: Context) -> str:
    await ctx.report_progress(6, 10, "counting the books on the shelves")
    await asyncio.sleep(60)
    return "10"
server.resource("books://all", name="All books", description="Each of them.")(lambda: "none")
server.prompt(lambda: "Which book?", name="choose", description="Choose a book.")
client = MCPClient(timeout=60)
client.connect("library", server)
client
"""
GROUNDS = "fields => [...new Set(fields.map(it => getComputedStyle(it).backgroundColor))]"
CUT = "parts => parts.filter(it => it.scrollWidth > it.clientWidth).map(it => it.textContent)"


@pytest.mark.long
class TestLayout:
    @pytest.mark.usefixtures("looks")
    def test_in_a_window_of_1280_pixels(self, lab: NotebookPage) -> None:
        """The tabs of a list stand on one line, a call is not cut, and no item touches its pane."""
        with opened(lab, WIDE) as explorer:
            lists = explorer.box.locator(".toolbench-pane-list").get_by_role("tab")
            expect(lists).to_have_count(4)
            tops = lists.evaluate_all("tabs => tabs.map(it => it.offsetTop)")
            assert len(set(tops)) == 1
            explorer.run(until="lent")
            form = explorer.box.locator(".toolbench-card").locator("visible=true").bounding_box()
            result = (
                explorer.box.locator(".toolbench-report").locator("visible=true").bounding_box()
            )
            assert form is not None and result is not None
            assert form["x"] + form["width"] <= result["x"]
            lists_pane = explorer.box.locator(".toolbench-pane-list").bounding_box()
            search = explorer.box.get_by_label("Search", exact=True)
            field = search.locator("visible=true").bounding_box()
            assert lists_pane is not None and field is not None
            assert field["x"] - lists_pane["x"] >= 6
            explorer.tab("Traffic")
            explorer.see("get_structured_content")
            for theme in lab.themes():
                fields = explorer.box.get_by_role("textbox").locator("visible=true")
                assert len(fields.evaluate_all(GROUNDS)) == 1, theme
            messages = explorer.box.get_by_role("listbox", name="Messages")
            assert messages.locator(".toolbench-what > *").evaluate_all(CUT) == []
            pane = explorer.box.locator(".toolbench-pane-main").bounding_box()
            for tab, name, button in (
                ("Resources", "All books", "Read"),
                ("Prompts", "choose", "Get messages"),
                ("Skills", "lending", "Read"),
            ):
                explorer.tab(tab)
                explorer.pick(tab, name)
                main = explorer.box.locator(".toolbench-pane-main")
                for part in (
                    main.locator("strong", has_text=name),
                    main.get_by_role("button", name=button),
                ):
                    box = part.locator("visible=true").first.bounding_box()
                    assert pane is not None and box is not None
                    assert box["x"] - pane["x"] >= 12, (tab, button)

    @pytest.mark.long
    def test_in_a_narrow_window(self, lab: NotebookPage) -> None:
        """*Copy call* is beside Run when the run has ended, and has a line below while it runs."""
        with opened(lab, WIDE) as explorer:
            explorer.run(until="lent")
            lab.tab.page.set_viewport_size({"width": 480, "height": 900})
            run, copy_call = self.tops(explorer)
            assert abs(run - copy_call) < 10
            lab.tab.page.set_viewport_size({"width": 1280, "height": 900})
            explorer.open_tool("count")
            explorer.run(until="counting")
            for width in (1280, 700, 480):
                lab.tab.page.set_viewport_size({"width": width, "height": 900})
                run, copy_call = self.tops(explorer)
                assert run + 10 < copy_call, width
            explorer.click("Cancel")
            explorer.see("cancelled")
            explorer.open_tool("echo")
            explorer.run(until="Fix 5 fields")
            lab.tab.page.set_viewport_size({"width": 1280, "height": 600})
            row = explorer.box.locator(".toolbench-actions").locator("visible=true")
            assert row.evaluate("it => it.scrollHeight <= it.clientHeight")

    def tops(self, explorer: Explored) -> list[int]:
        """Where the buttons of the open tool begin, from the top of the page."""
        tops = []
        for name in ("Run", "Copy call"):
            button = explorer.box.get_by_role("button", name=name, exact=True)
            box = button.locator("visible=true").first.bounding_box()
            assert box is not None
            tops.append(round(box["y"]))
        return tops


MANY_MESSAGES = """
import asyncio
from fastmcp import FastMCP
from toolbench.mcp import MCPClient

server = FastMCP("counter")
server.tool(lambda n: f"counted {n}", name="count", description="Count.")
client = MCPClient()
session = client.connect("counter", server)
count = session.tool("count")

async def count_from(begin):
    for first in range(begin, begin + 700, 100):
        await asyncio.gather(*[count.acall({"n": n}) for n in range(first, first + 100)])
"""
# Lines at most that are elements, of almost five thousand
LINES_DRAWN = 200


class TestTraffic:
    @pytest.mark.long
    def test_almost_ten_thousand_messages_scroll(self, lab: NotebookPage) -> None:
        """Only lines in sight are elements; the oldest is reached, and one is found by its text.

        The tooltip of the filter says what can be typed, and no tooltip says "null".
        """
        # No cell takes longer than a test waits for one
        cells = [f"await count_from({begin})" for begin in range(0, 4900, 700)]
        cells[-1] += "\nassert 9_800 <= len(session.traffic) < 10_000"
        with opened(lab, MANY_MESSAGES, *cells, "client") as explorer:
            explorer.tab("Traffic")
            messages = explorer.box.get_by_role("listbox", name="Messages")
            lines = messages.get_by_role("option")
            expect(lines.first).to_contain_text("count")
            assert lines.count() <= LINES_DRAWN
            eventually(lambda: self.oldest(messages).filter(has_text="tools/list").count())
            assert lines.count() <= LINES_DRAWN
            title = re.compile("^words, .*; keys: time, tool, method")
            expect(explorer.box.get_by_label("Filter messages")).to_have_attribute("title", title)
            expect(explorer.box.locator('[title="null"]')).to_have_count(0)
            explorer.type_into("Filter messages", '"counted 4321"')
            expect(lines).to_have_count(1)
            expect(lines).to_have_text(re.compile(r"tools/call count"))
            lines.click()
            explorer.see("Received: response")
            assert lab.tab.console_errors == []

    def oldest(self, messages: Locator) -> Locator:
        """The lines at the end of the list, which may have grown since the last look."""
        messages.evaluate("list => list.scrollTop = list.scrollHeight")
        return messages.get_by_role("option")
