"""MCP servers as a person meets them: the explorer, questions, progress, an app, both eras."""

import pytest
from patience import eventually
from playwright.sync_api import FrameLocator, expect
from test_mcp.peers import misbehaving

from browser.explored import SHOP, Explored, connect, opened
from browser.lab import NotebookPage
from browser.trap import Trap
from browser.tripwire import TRIPWIRE

CONTROL = """
    async port => {
      void fetch(`http://127.0.0.1:${port}/control`, {mode: "no-cors"}).catch(() => 0);
      const c = new RTCPeerConnection({iceServers: [{urls: `stun:127.0.0.1:${port}`}]});
      c.createDataChannel("x");
      await c.setLocalDescription(await c.createOffer());
      window.control = c;
    }
"""


class TestExplorer:
    @pytest.mark.usefixtures("looks")
    def test_shows_all_a_server_offers(self, lab: NotebookPage) -> None:
        """Servers, tools, resources, prompts, log, traffic; a dead one beside a good one."""
        dead = misbehaving("exit-at-start")["args"]
        cells = (
            # With -X it is a server of its own: what is approved here is not for other tests, nor for
            # this one when it looks closely.
            connect("shop", f"-Xlooks_closely={lab.looks_closely}", str(SHOP)),
            f"try:\n    get_ipython().run_line_magic('mcp', {connect('dead', *dead)[5:]!r})\n"
            "except Exception as error:\n    print(error)",
            "%mcp",
        )
        with opened(lab, *cells) as explorer:
            explorer.tab("Server")
            explorer.see("protocol 2026-07-28")
            faults = explorer.faults("at first")
            explorer.look("explorer-first")
            self.calls(explorer)
            faults += explorer.faults("tools")
            explorer.tab("Resources")
            self.reads(explorer)
            faults += explorer.faults("resources")
            explorer.tab("Prompts")
            self.writes(explorer)
            faults += explorer.faults("prompts")
            explorer.tab("Log")
            explorer.see("The server logged nothing.")
            faults += explorer.faults("log")
            explorer.tab("Traffic")
            self.follows(explorer)
            faults += explorer.faults("traffic")
            explorer.server("dead")
            explorer.see("missing API key")
            explorer.look("explorer-dead")
            faults += explorer.faults("dead")
            assert not faults, "\n".join(faults)
            assert lab.tab.console_errors == []

    def calls(self, explorer: Explored) -> None:
        """A tool opens as its panel; one that is hired meanwhile is in the list."""
        explorer.open_tool("hire")
        explorer.type_into("name", "ann")
        explorer.run(until="The user and the model read the same")
        explorer.see("The list changed: added ann.")
        explorer.open_tool("ann")
        explorer.see("ann says hello.")
        explorer.look("explorer-tools")
        self.approves(explorer)

    def approves(self, explorer: Explored) -> None:
        """Who was hired is new on the server: its tools are called again once that is approved."""
        explorer.tab("Changes")
        explorer.see("the tool is new")
        explorer.click("Approve")
        explorer.see("approved as they are now")

    def reads(self, explorer: Explored) -> None:
        """A resource, a template with completion, and news of what was subscribed to."""
        explorer.pick("Resources", "shop://news")
        explorer.click("Subscribe")
        explorer.click("Read")
        explorer.see("Nothing is")
        expect(explorer.box.locator("strong", has_text="new").first).to_be_attached()
        explorer.box.get_by_role("button", name="Unsubscribe").wait_for()
        explorer.tab("Tools")
        explorer.open_tool("announce")
        explorer.click("Run")
        explorer.box.get_by_role("tab", name="Resources (changed)").wait_for()
        explorer.tab("Resources")
        explorer.see("Changed on the server: shop://news")
        explorer.look("explorer-resources")
        explorer.pick("Resources", "template:", text="template")
        explorer.type_into("item", "ap")
        offered = explorer.box.locator(
            "datalist option[data-value='apricots'], option[value='apricots']"
        )
        offered.first.wait_for(state="attached")
        explorer.click("Read")
        explorer.see("left")
        explorer.look("explorer-template")

    def writes(self, explorer: Explored) -> None:
        """A prompt is a form, and its messages."""
        explorer.pick("Prompts", "Complain")
        explorer.type_into("about", "the weather")
        explorer.click("Get messages")
        explorer.see("Write a polite complaint about the weather.")
        explorer.look("explorer-prompts")

    def follows(self, explorer: Explored) -> None:
        """Messages are filtered, opened, sent again and copied."""
        # The newest: the more slowly was typed, the more completions, and only lines near are drawn
        explorer.see("prompts/get")
        messages = explorer.box.get_by_role("listbox", name="Messages")
        explorer.type_into("Filter messages", "hired")
        lines = messages.get_by_role("option")
        # the filter is at work
        expect(lines.filter(has_not_text="hire")).to_have_count(0)
        lines.filter(has_text="tools/call hire").click()
        explorer.see("Sent: request")
        explorer.see("Received: response")
        explorer.look("explorer-traffic")
        style = "e => getComputedStyle(e).overflowY"
        # It scrolls by itself
        assert messages.evaluate(style) == "auto"
        self.stays_open(explorer)

    def stays_open(self, explorer: Explored) -> None:
        """The open message is there while others come; a call is repeated in its panel."""
        explorer.click("Repeat")
        explorer.box.get_by_role("tab", name="Tools", exact=False, selected=True).wait_for()
        explorer.see("The user and the model read the same")
        explorer.see("Sent: request")


class TestRuns:
    @pytest.mark.usefixtures("looks")
    def test_ask_report_and_stop(self, lab: NotebookPage) -> None:
        """Accepted, declined, in rounds; a message written; stopped; in the other era as well."""
        # The second time it is reconnected in the older protocol
        again = (
            "mode = {'auto': 'legacy'}.get(globals().get('mode'), 'auto')\n"
            "get_ipython().run_line_magic('mcp', f'reconnect shop --mode {mode}')"
        )
        cells = (connect("shop", str(SHOP)), again, "%mcp explore shop")
        with opened(lab, *cells) as explorer:
            faults = self.accepts(explorer)
            faults += self.asks_before_it_answers(explorer)
            self.declines(explorer)
            self.writes(explorer)
            self.stops(explorer)
            explorer.tab("Server")
            lab.run(2)
            self.follows(explorer)
            assert not faults, "\n".join(faults)
            assert lab.tab.console_errors == []

    def accepts(self, explorer: Explored) -> list[str]:
        """Two rounds of questions, one form each, and the server is named."""
        explorer.open_tool("order")
        explorer.type_into("item", "apple")
        explorer.run(until="Server 'shop' asks: Which size?")
        explorer.look("explorer-question")
        faults = explorer.faults("question")
        explorer.choose("large")
        explorer.click("Accept")
        explorer.see("Really large?")
        explorer.choose("yes")
        explorer.click("Accept")
        explorer.see("ordered: large apple")
        return faults

    def asks_before_it_answers(self, explorer: Explored) -> list[str]:
        """What a server asks before it lets something be read stands in the tab that waits for it."""
        explorer.tab("Resources")
        explorer.pick("Resources", "shop://receipt")
        explorer.type_into("item", "pear")
        explorer.click("Read")
        explorer.see("Server 'shop' asks: Who are you?")
        explorer.look("explorer-asked")
        faults = explorer.faults("asked")
        explorer.type_into("name", "Ann")
        explorer.click("Accept")
        explorer.see("pear for Ann")
        explorer.tab("Prompts")
        explorer.pick("Prompts", "Thank")
        explorer.click("Get messages")
        explorer.click("Cancel question")
        explorer.see("as cancel.")
        explorer.tab("Tools")
        return faults

    def declines(self, explorer: Explored) -> None:
        """A no is the server's to deal with."""
        explorer.run(until="Server 'shop' asks: Which size?")
        explorer.click("Decline")
        explorer.see("elicitation was decline")
        explorer.run(until="Server 'shop' asks: Which size?")
        explorer.click("Cancel question")
        explorer.see("elicitation was cancel")

    def writes(self, explorer: Explored) -> None:
        """The person writes what a model should."""
        explorer.open_tool("review")
        explorer.run(until="user: Praise the shop.")
        explorer.box.locator(".toolbench-question").get_by_role("textbox").fill("Fine!")
        explorer.click("Accept")
        explorer.see("They say: Fine!")

    def stops(self, explorer: Explored) -> None:
        """Progress moves; Cancel is heard by the server."""
        explorer.open_tool("pack")
        explorer.type_into("boxes", "500")
        explorer.run(until="box 3")
        explorer.look("explorer-progress")
        explorer.click("Cancel")
        explorer.see("cancelled")
        explorer.tab("Log")
        explorer.see("the shop was told to stop")
        explorer.tab("Traffic")
        explorer.see("notifications/cancelled")

    def follows(self, explorer: Explored) -> None:
        """A cell connected it in the older protocol, which has questions by URL."""
        explorer.see("protocol 2025-11-25")
        explorer.tab("Tools")
        explorer.open_tool("visit")
        explorer.run(until="https://shop.invalid/in")
        link = explorer.box.get_by_role("link", name="Open the page at shop.invalid")
        assert link.get_attribute("rel") == "noopener noreferrer"
        assert link.get_attribute("target") == "_blank"
        explorer.look("explorer-url")
        explorer.click("Yes")
        explorer.see("visit: accept")


class TestApp:
    @pytest.mark.usefixtures("looks")
    @pytest.mark.long
    def test_is_previewed(self, lab: NotebookPage) -> None:
        """It gets the call and its result; what it calls is a run that the person sees."""
        cells = (connect("shop", str(SHOP)), "%mcp explore shop")
        with opened(lab, *cells) as explorer:
            explorer.open_tool("basket")
            explorer.type_into("item", "pear")
            explorer.preview_app()
            app_in(lab).get_by_text("Basket of toolbench").wait_for()
            app_in(lab).get_by_text("pear: in the basket").wait_for()
            explorer.see("What the app did")
            explorer.see("hire")
            explorer.look("explorer-app")
            faults = explorer.faults("app")
            assert not faults, "\n".join(faults)
            expect(explorer.box.get_by_role("option", name="intruder")).to_have_count(1)
            explorer.tab("Resources")
            explorer.pick("Resources", "ui://shop/basket")
            # Without a tool it is a preview, which can only read
            explorer.click("Read")
            app_host(lab).get_by_text("Refused: tools/call").wait_for()

    @pytest.mark.long
    def test_cannot_get_out(self, new_lab: NotebookPage) -> None:
        """Whatever it tries, nothing is asked of the network, the page, or the notebook."""
        page = new_lab.tab.page
        page.context.add_init_script(TRIPWIRE)
        with Trap() as trap:
            cells = (connect("shop", str(SHOP), trap.address), "%mcp explore shop")
            with opened(new_lab, *cells) as explorer:
                url = page.url
                explorer.tab("Resources")
                explorer.pick("Resources", "ui://shop/escape")
                explorer.click("Read")
                app_in(new_lab).get_by_text("tried everything").wait_for()
                explorer.pick("Resources", "ui://shop/leave")
                explorer.click("Read")
                eventually(lambda: is_refused(new_lab), what="it may not leave")
                assert trap.caught <= {"nothing"}
                # the page itself, under no such policy, falls into the trap
                page.evaluate(CONTROL, trap.port)
                traces = {"GET /control", "udp"}
                eventually(lambda: traces <= trap.caught, what="it works")
                assert trap.caught - {"nothing"} == traces
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
    # Playwright hears of frames while it talks to the page
    lab.tab.page.evaluate("0")
    return any(f.url.startswith("chrome-error:") for f in lab.tab.page.frames)
