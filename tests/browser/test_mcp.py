"""MCP servers as a person meets them: the explorer, questions, progress, an app, both eras."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import FrameLocator, Locator
from test_mcp.peers import misbehaving

from browser.axe import THEMES, use_theme, violations
from browser.lab import NotebookPage, write_notebook
from browser.polling import poll
from browser.trap import Trap

SHOP = Path(__file__).parents[1] / "test_mcp" / "servers" / "shop.py"
WIDTHS = (1280, 700)
EXPLORER = ".toolbench-explorer"
TRIPWIRE = (
    "window.fired = []; window.tripwire = (...args) => window.fired.push(args.join());"
)

CONTROL = """
    async port => {
      void fetch(`http://127.0.0.1:${port}/control`, {mode: "no-cors"}).catch(() => 0);
      const c = new RTCPeerConnection({iceServers: [{urls: `stun:127.0.0.1:${port}`}]});
      c.createDataChannel("x");
      await c.setLocalDescription(await c.createOffer());
      window.control = c;
    }
"""


class Explored:
    """An explorer in a notebook of JupyterLab."""

    def __init__(self, lab: NotebookPage, cell: int) -> None:
        self.lab = lab
        self.box = lab.output(cell)

    def server(self, name: str) -> None:
        """Pick a server."""
        self.box.get_by_label("Servers").get_by_role("option", name=name).click()

    def tab(self, title: str) -> None:
        """Go to a tab of the server."""
        self.box.get_by_role("tab", name=title).click()

    def pick(self, label: str, name: str) -> None:
        """Pick a line of the list called *label*."""
        options = self.box.get_by_label(label, exact=True).get_by_role("option")
        options.filter(has_text=name).first.click()

    def open_tool(self, name: str) -> None:
        """Pick a tool and wait for its panel: until then, Run is another tool's."""
        self.pick("Tools", name)
        title = self.box.locator("strong", has_text=name).locator("visible=true")
        title.first.wait_for()

    def click(self, button: str) -> None:
        """Click a button that can be seen."""
        named = self.box.get_by_role("button", name=button, exact=True)
        named.locator("visible=true").click()

    def type_into(self, label: str, text: str) -> None:
        """Type into a field that can be seen."""
        field = self.box.get_by_label(label, exact=True).locator("visible=true")
        field.fill("")
        field.press_sequentially(text)
        field.press("Tab")

    def choose(self, value: str) -> None:
        """Choose a value in the only list of the question."""
        question = self.box.locator(".toolbench-question")
        question.get_by_role("combobox").first.select_option(label=value)

    def see(self, text: str) -> Locator:
        """Wait until a text can be seen."""
        found = self.box.get_by_text(text).locator("visible=true").first
        found.wait_for()
        return found

    def look(self, name: str) -> None:
        """Take pictures in both themes and widths."""
        page = self.lab.tab.page
        for theme in THEMES:
            use_theme(page, theme)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 1300})
                self.box.evaluate("o => o.scrollIntoView({block: 'start'})")
                self.lab.screenshot(f"{name}-{theme}-{width}")
        page.set_viewport_size({"width": 1280, "height": 1300})

    def faults(self, state: str) -> list[str]:
        """What axe-core says of it, in both themes."""
        page = self.lab.tab.page
        found = []
        for theme in THEMES:
            use_theme(page, theme)
            faults = violations(page, EXPLORER)
            found += [f"{state}, {theme}: {fault}" for fault in faults]
        return found


@contextmanager
def opened(lab: NotebookPage, path: Path, *cells: str) -> Iterator[Explored]:
    """A notebook of *cells*, run; the last one shows an explorer."""
    write_notebook(path, "%load_ext toolbench", *cells)
    lab.tab.page.set_viewport_size({"width": 1280, "height": 1300})
    lab.open(path.name)
    lab.tab.page.evaluate(
        "window.jupyterapp.commands.execute('application:toggle-left-area')"
    )
    lab.run_all()
    assert lab.errors() == []
    try:
        yield Explored(lab, len(cells))
    except BaseException:
        lab.screenshot(f"failed-{path.stem}")
        raise
    assert lab.tab.foreign_requests == []


def connect(name: str, *words: str) -> str:
    """The line that connects a Python script."""
    return f"%mcp connect {name} -- {sys.executable} {' '.join(words)}"


def own_errors(lab: NotebookPage) -> list[str]:
    """What went wrong in the page, but for JupyterLab's splash of a theme that changed twice."""
    return [e for e in lab.tab.console_errors if "execute 'removeChild'" not in e]


class TestExplorer:
    def test_shows_all_a_server_offers(self, lab: NotebookPage, nbroot: Path) -> None:
        """Servers, tools, resources, prompts, log, traffic; a dead one beside a good one."""
        dead = misbehaving("exit-at-start")["args"]
        cells = (
            connect("shop", str(SHOP)),
            f"try:\n    get_ipython().run_line_magic('mcp', {connect('dead', *dead)[5:]!r})\n"
            "except Exception as error:\n    print(error)",
            "%mcp",
        )
        with opened(lab, nbroot / "explorer.ipynb", *cells) as shown:
            shown.see("newer protocol")
            faults = shown.faults("at first")
            shown.look("explorer-first")
            self.calls(shown)
            faults += shown.faults("tools")
            shown.tab("Resources")
            self.reads(shown)
            faults += shown.faults("resources")
            shown.tab("Prompts")
            self.writes(shown)
            faults += shown.faults("prompts")
            shown.tab("Log")
            shown.see("The server logged nothing.")
            faults += shown.faults("log")
            shown.tab("Traffic")
            self.follows(shown)
            faults += shown.faults("traffic")
            shown.server("dead")
            shown.see("missing API key")
            shown.look("explorer-dead")
            faults += shown.faults("dead")
            assert not faults, "\n".join(faults)
            assert own_errors(lab) == []

    def calls(self, shown: Explored) -> None:
        """A tool opens as its panel; one that is hired meanwhile is in the list."""
        shown.open_tool("hire")
        shown.type_into("name", "ann")
        shown.click("Run")
        shown.see("What the model reads")
        shown.see("The list changed: added ann.")
        shown.open_tool("ann")
        shown.see("ann says hello.")
        shown.look("explorer-tools")

    def reads(self, shown: Explored) -> None:
        """A resource, a template with completion, and news of what was subscribed to."""
        shown.pick("Resources", "shop://news")
        shown.click("Subscribe")
        shown.click("Read")
        shown.see("Nothing is")
        assert shown.box.locator("strong", has_text="new").count()
        shown.box.get_by_role("button", name="Unsubscribe").wait_for()
        shown.tab("Tools")
        shown.open_tool("announce")
        shown.click("Run")
        shown.box.get_by_role("tab", name="Resources (changed)").wait_for()
        shown.tab("Resources")
        shown.see("Changed on the server: shop://news")
        shown.look("explorer-resources")
        shown.pick("Resources", "template:")
        shown.type_into("item", "ap")
        offered = shown.box.locator(
            "datalist option[data-value='apricots'], option[value='apricots']"
        )
        offered.first.wait_for(state="attached")
        shown.click("Read")
        shown.see("left")
        shown.look("explorer-template")

    def writes(self, shown: Explored) -> None:
        """A prompt is a form, and its messages."""
        shown.pick("Prompts", "Complain")
        shown.type_into("about", "the weather")
        shown.click("Get messages")
        shown.see("Write a polite complaint about the weather.")
        shown.look("explorer-prompts")

    def follows(self, shown: Explored) -> None:
        """Messages are filtered, opened and copied."""
        shown.see("tools/list")
        shown.type_into("Containing", "hired")
        row = shown.box.locator("details.toolbench-line").last
        row.locator("summary").click()
        shown.see("hired")
        shown.click("Show to copy")
        area = shown.box.get_by_label("JSON to copy")
        area.wait_for()
        assert "hired" in area.input_value()
        shown.look("explorer-traffic")
        feed = shown.box.locator(".toolbench-feed").locator("visible=true")
        style = "e => getComputedStyle(e).overflowY"
        assert feed.first.evaluate(style) == "auto"  # it scrolls by itself


class TestRuns:
    def test_ask_report_and_stop(self, lab: NotebookPage, nbroot: Path) -> None:
        """Accepted, declined, in rounds; a message written; stopped; in the other era as well."""
        cells = (connect("shop", str(SHOP)), "%mcp explore shop")
        with opened(lab, nbroot / "asking.ipynb", *cells) as shown:
            faults = self.accepts(shown)
            self.declines(shown)
            self.writes(shown)
            self.stops(shown)
            self.reconnects(shown)
            assert not faults, "\n".join(faults)
            assert own_errors(lab) == []

    def accepts(self, shown: Explored) -> list[str]:
        """Two rounds of questions, one form each, and the server is named."""
        shown.open_tool("order")
        shown.type_into("item", "apple")
        shown.click("Run")
        shown.see("Server 'shop' asks: Which size?")
        shown.look("explorer-question")
        faults = shown.faults("question")
        shown.choose("large")
        shown.click("Accept")
        shown.see("Really large?")
        shown.choose("true")
        shown.click("Accept")
        shown.see("ordered: large apple")
        return faults

    def declines(self, shown: Explored) -> None:
        """A no is the server's to deal with."""
        shown.click("Run")
        shown.see("Server 'shop' asks: Which size?")
        shown.click("Decline")
        shown.see("elicitation was decline")
        shown.click("Run")
        shown.see("Server 'shop' asks: Which size?")
        shown.click("Cancel question")
        shown.see("elicitation was cancel")

    def writes(self, shown: Explored) -> None:
        """The person writes what a model should."""
        shown.open_tool("review")
        shown.click("Run")
        shown.see("user: Praise the shop.")
        shown.box.locator(".toolbench-question").get_by_role("textbox").fill("Fine!")
        shown.click("Accept")
        shown.see("They say: Fine!")

    def stops(self, shown: Explored) -> None:
        """Progress moves; Cancel is heard by the server."""
        shown.open_tool("pack")
        shown.type_into("boxes", "500")
        shown.click("Run")
        shown.see("box 3")
        shown.look("explorer-progress")
        shown.click("Cancel")
        shown.see("cancelled")
        shown.tab("Log")
        shown.see("the shop was told to stop")
        shown.tab("Traffic")
        shown.see("notifications/cancelled")

    def reconnects(self, shown: Explored) -> None:
        """The older protocol has questions by URL; then the newer one again."""
        shown.click("Use the older protocol")
        shown.see("older protocol")
        shown.see("MCP 2025-11-25")
        shown.tab("Tools")
        shown.open_tool("visit")
        shown.click("Run")
        shown.see("https://shop.invalid/in")
        link = shown.box.get_by_role("link", name="Open the page at shop.invalid")
        assert link.get_attribute("rel") == "noopener noreferrer"
        assert link.get_attribute("target") == "_blank"
        shown.look("explorer-url")
        shown.click("Yes")
        shown.see("visit: accept")
        shown.click("Use the newer protocol")
        shown.see("MCP 2026-07-28")


class TestOnTheWay:
    def test_reads_and_writes_after_a_question(
        self, lab: NotebookPage, nbroot: Path
    ) -> None:
        """What a server asks before it answers stands in the tab that waits for it."""
        cells = (connect("shop", str(SHOP)), "%mcp explore shop")
        with opened(lab, nbroot / "ontheway.ipynb", *cells) as shown:
            shown.tab("Resources")
            shown.pick("Resources", "shop://receipt")
            shown.type_into("item", "pear")
            shown.click("Read")
            shown.see("Server 'shop' asks: Who are you?")
            shown.look("explorer-asked")
            faults = shown.faults("asked")
            shown.type_into("name", "Ann")
            shown.click("Accept")
            shown.see("pear for Ann")
            shown.tab("Prompts")
            shown.pick("Prompts", "Thank")
            shown.click("Get messages")
            shown.click("Cancel question")
            shown.see("as cancel.")
            assert not faults, "\n".join(faults)
            assert own_errors(lab) == []


class TestAsAValue:
    def test_is_an_explorer_then_text(self, lab: NotebookPage, nbroot: Path) -> None:
        """By keyboard alone; saved and opened again it is text; unloaded it is no widget."""
        cells = (
            connect("shop", str(SHOP)),
            "from toolbench.mcp import create_mcp_tools\n"
            f"client = create_mcp_tools({{'mcpServers': {{'shop': {entry(SHOP)}}}}})",
            "client",
        )
        path = nbroot / "value.ipynb"
        with opened(lab, path, *cells) as shown:
            self.by_keyboard(shown)
            lab.save()
            lab.shut_down()
            lab.tab.page.goto("about:blank")
            lab.open(path.name)
            shown.see("Order something; you are asked")
            assert shown.box.get_by_role("tab").count() == 0
            assert "model not found" not in shown.box.inner_text()
            shown.look("explorer-reopened")
        write_notebook(
            path, "%load_ext toolbench", cells[1], "%unload_ext toolbench", "client"
        )
        lab.tab.page.goto("about:blank")
        lab.open(path.name)
        lab.run_all()
        assert lab.errors() == []
        assert "MCPClient(" in lab.text(3)
        assert lab.output(3).get_by_label("Servers").count() == 0

    def by_keyboard(self, shown: Explored) -> None:
        """Server, tab, tool, field, run: Tab, arrows, letters, Enter."""
        keys = shown.lab.tab.page.keyboard
        shown.box.get_by_label("Servers").focus()
        reach(shown, "tab", "Tools")
        keys.press("ArrowRight")
        keys.press("Enter")
        shown.box.get_by_role("listbox", name="Resources").wait_for()
        keys.press("ArrowLeft")
        keys.press("Enter")
        reach(shown, "listbox", "Tools")
        for _ in range(7):
            keys.press("ArrowDown")
        shown.lab.screenshot("kbd")
        reach(shown, "textbox", "item")
        keys.type("pear")
        reach(shown, "button", "Run")
        keys.press("Enter")
        shown.see("in the basket")


def reach(shown: Explored, role: Any, name: str, presses: int = 40) -> None:
    """Press Tab until the cursor is there."""
    wanted = shown.box.get_by_role(role, name=name).locator("visible=true").first
    wanted.wait_for()
    for _ in range(presses):
        if wanted.evaluate("e => e === document.activeElement"):
            return
        shown.lab.tab.page.keyboard.press("Tab")
    msg = f"no way by Tab to the {role} {name!r}"
    raise AssertionError(msg)


def entry(script: Path) -> str:
    """The entry of a Python script, as written in a cell."""
    return repr({"command": sys.executable, "args": [str(script)]})


class TestApp:
    def test_is_previewed(self, lab: NotebookPage, nbroot: Path) -> None:
        """It gets the call and its result, and no more: its call of a tool is refused."""
        cells = (connect("shop", str(SHOP)), "%mcp explore shop")
        with opened(lab, nbroot / "app.ipynb", *cells) as shown:
            shown.open_tool("basket")
            shown.type_into("item", "pear")
            shown.click("Run")
            shown.see("What the model reads")
            shown.click("Preview its app")
            app_in(lab).get_by_text("Basket of toolbench").wait_for()
            app_in(lab).get_by_text("pear: in the basket").wait_for()
            app_host(lab).get_by_text("Refused: tools/call").wait_for()
            shown.look("explorer-app")
            faults = shown.faults("app")
            assert not faults, "\n".join(faults)
            assert shown.box.get_by_role("option", name="intruder").count() == 0

    def test_cannot_get_out(self, lab: NotebookPage, nbroot: Path) -> None:
        """Whatever it tries, nothing is asked of the network, the page, or the notebook."""
        page = lab.tab.page
        page.context.add_init_script(TRIPWIRE)
        with Trap() as trap:
            cells = (connect("shop", str(SHOP), trap.address), "%mcp explore shop")
            with opened(lab, nbroot / "escape.ipynb", *cells) as shown:
                url = page.url
                shown.tab("Resources")
                shown.pick("Resources", "ui://shop/escape")
                shown.click("Read")
                app_in(lab).get_by_text("tried everything").wait_for()
                shown.pick("Resources", "ui://shop/leave")
                shown.click("Read")
                poll(lambda: is_refused(lab), until="it may not leave", seconds=20)
                assert trap.caught <= {"nothing"}
                # the page itself, under no such policy, falls into the trap
                page.evaluate(CONTROL, trap.port)
                wanted = {"GET /control", "udp"}
                poll(lambda: wanted <= trap.caught, until="it works", seconds=20)
                assert trap.caught - {"nothing"} == wanted
                assert page.evaluate("window.fired") == []
                assert page.url == url
                assert len(page.context.pages) == 1


def app_host(lab: NotebookPage) -> FrameLocator:
    """The outer frame of a preview: ours."""
    return lab.tab.page.frame_locator("iframe[title^='Preview of']")


def app_in(lab: NotebookPage) -> FrameLocator:
    """The inner frame of a preview: the server's."""
    return app_host(lab).frame_locator("iframe")


def is_refused(lab: NotebookPage) -> bool:
    """Whether a frame that tried to go elsewhere shows the browser's own refusal."""
    lab.tab.page.evaluate("0")  # Playwright hears of frames while it talks to the page
    return any(f.url.startswith("chrome-error:") for f in lab.tab.page.frames)
