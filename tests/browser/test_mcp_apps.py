"""Two-way apps of MCP servers: what they may do in a notebook, and what none can."""

from pathlib import Path

import pytest
from patience import eventually
from playwright.sync_api import expect

from browser.axe import use_theme
from browser.explored import Explored, connect, opened
from browser.lab import NotebookPage
from browser.tab import CLOCK_OF_ANYWIDGET
from browser.test_mcp import app_host, app_in
from browser.trap import Trap
from browser.tripwire import TRIPWIRE

SERVER = Path(__file__).parents[1] / "test_mcp" / "servers" / "app_shop.py"
REFUSED = "storage session database cookie rtc open notebook host kernel"

# anywidget waits two seconds for a module, and where the page is busy for longer it gives up: here at
# once, for the module of this notebook, its editor, and the view of that
BUSY = """
from IPython.display import Javascript
Javascript('''
  const timeout = AbortSignal.timeout;
  let rest = 3;
  AbortSignal.timeout = (milliseconds) => {
    if (milliseconds !== 2000) return timeout.call(AbortSignal, milliseconds);
    rest -= 1;
    if (rest === 0) AbortSignal.timeout = timeout;
    const controller = new AbortController();
    queueMicrotask(() => controller.abort());
    return controller.signal;
  };
''')
"""
WATCH = """box => {
  window.holds = [];
  new MutationObserver((changes) => {
    for (const {target} of changes) if (target.matches(".toolbench-agree")) holds.push(target.disabled);
  }).observe(box, {attributeFilter: ["disabled"], subtree: true});
}"""


def show(explorer: Explored, tool: str) -> None:
    """Run the tool *tool*, and show its app."""
    explorer.open_tool(tool)
    explorer.preview_app()


class TestCounter:
    @pytest.mark.usefixtures("looks")
    def test_does_what_an_app_may(self, lab: NotebookPage) -> None:
        """It calls tools, reads, sends a message, grows, and asks to open a link."""
        errors: list[str] = []
        lab.tab.page.on("pageerror", lambda error: errors.append(error.message))
        cells = (BUSY, connect("counter", str(SERVER)), "%mcp explore counter")
        with opened(lab, *cells) as explorer:
            use_theme(lab.tab.page, "light")
            show(explorer, "show")
            app = app_in(lab)
            app.get_by_text("light, live").wait_for()
            app.get_by_text("count 0").wait_for()
            app.get_by_role("button", name="Add").click()
            app.get_by_text("count 1").wait_for()
            explorer.see("What the app did")
            app.get_by_role("button", name="Read").click()
            app.get_by_text("three rows").wait_for()
            app.get_by_role("button", name="For models").click()
            app.get_by_text("for_models is not for apps.").wait_for()
            app.get_by_role("button", name="Message").click()
            explorer.see("Count <b>on</b>")
            self.edits(lab, explorer)
            self.asks(lab, explorer)
            self.grows(lab, explorer)
            explorer.look("explorer-app-live")
            faults = explorer.faults("app")
            assert not faults, "\n".join(faults)
            assert lab.tab.console_errors == []
        assert errors.count(CLOCK_OF_ANYWIDGET) > 0

    def edits(self, lab: NotebookPage, explorer: Explored) -> None:
        """The editor of the arguments comes and is heard, on a page that was busy as well."""
        explorer.box.get_by_role("tab", name="JSON").locator("visible=true").click()
        editor = explorer.box.get_by_role("textbox", name="Arguments as JSON")
        expect(editor).to_have_text("{}")
        editor.click()
        lab.tab.page.keyboard.type("oops")
        explorer.see("Not JSON yet")
        explorer.box.get_by_role("tab", name="Form").locator("visible=true").click()

    def asks(self, lab: NotebookPage, explorer: Explored) -> None:
        """The person refuses a call, lets one run, and refuses a link."""
        app = app_in(lab)
        app.get_by_role("button", name="Wipe").click()
        explorer.see("can delete or overwrite data")
        explorer.look("explorer-app-asks")
        explorer.click("Don't run")
        app.get_by_text("the user declined").wait_for()
        app.get_by_role("button", name="Wipe").click()
        explorer.see("can delete or overwrite data")
        explorer.click("Run wipe")
        app.get_by_text("wiped").wait_for()
        app.get_by_role("button", name="Link").click()
        explorer.see("The app asks to open https://counter.invalid/more")
        explorer.click("Do not open")
        app.get_by_text("link refused").wait_for()

    def grows(self, lab: NotebookPage, explorer: Explored) -> None:
        """To the height it asks for; a yes that moves with it cannot be clicked for a moment."""
        page = lab.tab.page
        explorer.box.evaluate(WATCH)
        app_in(lab).get_by_role("button", name="Wipe").click()
        # Any number of times: it may move more than once
        held = "holds.includes(true) && !holds.at(-1)"
        eventually(lambda: page.evaluate(held), what="it was held when it came")
        page.evaluate("holds.length = 0")
        app_in(lab).get_by_role("button", name="Grow").click()
        eventually(lambda: page.evaluate(held), what="it was held when it moved")
        explorer.click("Don't run")
        frame = page.locator("iframe[data-toolbench-app]")
        expect(frame).to_have_css("height", "640px")


class TestAttack:
    @pytest.mark.long
    def test_reaches_nothing(self, new_lab: NotebookPage) -> None:
        """No request leaves, no call but its own runs, storage and the notebook are closed to it."""
        page = new_lab.tab.page
        page.context.add_init_script(TRIPWIRE)
        with Trap() as trap:
            attack = connect("counter", str(SERVER), trap.address)
            cells = (attack, "%mcp explore counter")
            with opened(new_lab, *cells) as explorer:
                url = page.url
                show(explorer, "attack")
                app = app_in(new_lab)
                app.get_by_text("attacked", exact=True).wait_for()
                result = app.locator("#given").inner_text()
                assert result == (
                    "The message is too large. | This server has no tool 'basket'. | true | true"
                )
                refused = app.locator("body").get_attribute("data-refused") or ""
                assert set(REFUSED.split()) <= set(refused.split()), refused
                expect(explorer.box.get_by_text("can delete or overwrite data")).to_have_count(0)
                expect(app_host(new_lab).locator("iframe")).to_have_count(1)
                eventually(lambda: trap.caught <= {"nothing"}, what="all is quiet")
                assert page.evaluate("window.fired") == []
                assert page.url == url
                assert len(page.context.pages) == 1

    @pytest.mark.long
    def test_with_odd_messages_changes_nothing(self, new_lab: NotebookPage) -> None:
        """Sizes beyond reason, forged ids, names of JavaScript, 50 MB, circles, odd links."""
        page = new_lab.tab.page
        page.context.add_init_script(TRIPWIRE)
        cells = (connect("counter", str(SERVER)), "%mcp explore counter")
        with opened(new_lab, *cells) as explorer:
            show(explorer, "odd")
            app = app_in(new_lab)
            app.get_by_text("tried", exact=True).wait_for()
            large, circle, buffer, links = app.locator("#given").inner_text().split(" | ")
            assert large == circle == "The message is too large."
            assert "count" not in buffer or buffer.startswith("count")
            assert set(links.split(",")) <= {"true", ""}
            frame = page.locator("iframe[data-toolbench-app]")
            expect(frame).to_have_count(1)
            box = frame.bounding_box()
            assert box is not None
            assert 60 <= box["height"] <= 902
            expect(explorer.box.get_by_text("can delete or overwrite data")).to_have_count(0)
            expect(explorer.box.get_by_text("The app asks to open")).to_have_count(0)
            assert page.evaluate("window.fired") == []
            assert len(page.context.pages) == 1
