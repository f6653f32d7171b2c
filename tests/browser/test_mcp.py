"""MCP servers as a person meets them: the explorer, questions, progress, an app, both eras."""

from pathlib import Path

from playwright.sync_api import FrameLocator, expect
from test_mcp.peers import misbehaving

from browser.explored import SHOP, Explored, connect, opened, own_errors
from browser.lab import NotebookPage
from browser.polling import poll
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
    def test_shows_all_a_server_offers(self, lab: NotebookPage, nbroot: Path) -> None:
        """Servers, tools, resources, prompts, log, traffic; a dead one beside a good one."""
        dead = misbehaving("exit-at-start")["args"]
        cells = (
            # With -B it is a server of its own: what is approved here is not for other tests.
            connect("shop", "-B", str(SHOP)),
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
        shown.see("A person and the model read the same")
        shown.see("The list changed: added ann.")
        shown.open_tool("ann")
        shown.see("ann says hello.")
        shown.look("explorer-tools")
        self.approves(shown)

    def approves(self, shown: Explored) -> None:
        """Who was hired is new on the server: its tools are called again once that is approved."""
        shown.tab("Changes")
        shown.see("the tool is new")
        shown.click("Approve")
        shown.see("its tools can be called again")

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
        shown.pick("Resources", "template:", shown="template")
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
        """Messages are filtered, opened, sent again and copied."""
        shown.see("tools/list")
        messages = shown.box.get_by_role("listbox", name="Messages")
        shown.type_into("Containing", "hired")
        lines = messages.get_by_role("option")
        # the filter is at work
        expect(lines.filter(has_not_text="hire")).to_have_count(0)
        lines.filter(has_text="tools/call hire").click()
        shown.see("Sent: request")
        shown.see("Received: response")
        shown.look("explorer-traffic")
        shown.click("All as text")
        text = shown.box.get_by_label("Messages as text")
        expect(text).to_contain_text("hired")
        style = "e => getComputedStyle(e).overflowY"
        assert messages.evaluate(style) == "auto"  # it scrolls by itself
        self.stays_open(shown)

    def stays_open(self, shown: Explored) -> None:
        """The open message is there while others come; a call is repeated in its panel."""
        shown.click("Repeat")
        shown.box.get_by_role(
            "tab", name="Tools", exact=False, selected=True
        ).wait_for()
        shown.see("A person and the model read the same")
        shown.see("Sent: request")


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
        shown.choose("yes")
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
        shown.tab("Server")
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


class TestApp:
    def test_is_previewed(self, lab: NotebookPage, nbroot: Path) -> None:
        """It gets the call and its result; what it calls is a run that the person sees."""
        cells = (connect("shop", str(SHOP)), "%mcp explore shop")
        with opened(lab, nbroot / "app.ipynb", *cells) as shown:
            shown.open_tool("basket")
            shown.type_into("item", "pear")
            shown.click("Run")
            shown.see("A person and the model read the same")
            shown.click("Preview its app")
            app_in(lab).get_by_text("Basket of toolbench").wait_for()
            app_in(lab).get_by_text("pear: in the basket").wait_for()
            shown.see("What the app did")
            shown.see("hire")
            shown.look("explorer-app")
            faults = shown.faults("app")
            assert not faults, "\n".join(faults)
            expect(shown.box.get_by_role("option", name="intruder")).to_have_count(1)
            shown.tab("Resources")
            shown.pick("Resources", "ui://shop/basket")
            shown.click("Read")  # without a tool it is a preview, which can only read
            app_host(lab).get_by_text("Refused: tools/call").wait_for()

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
