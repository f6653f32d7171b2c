"""The explorer without a kernel: light, complete, closed without a trace, and inert."""

import re
from contextlib import suppress
from functools import partial
from threading import RLock, Thread

import pytest
from fastmcp import FastMCP
from patience import PATIENCE, eventually
from payloads import PAYLOADS
from test_display.inert import problems
from test_mcp.peers import light, misbehaving, scripted, serving
from test_mcp.peers import shop as server_of_the_shop

from test_widgets.front import (
    click,
    listing,
    named,
    page,
    pick,
    picker_of,
    receive,
    search_field,
    type_into,
    walk,
)
from test_widgets.panes import (
    DETAILS,
    LISTS,
    choose,
    enter,
    go,
    listed,
    open_details,
    open_panel,
    press,
)
from test_widgets.tooling import buttons, finish, shown, tabs, wait_for_ticker
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient
from toolbench.testing import FakeMCPServer
from toolbench.widgets.explorer import Explorer, client_view, open_explorers
from toolbench.widgets.explorer.resources import ResourcesPane
from toolbench.widgets.explorer.server import ServerView
from toolbench.widgets.kit.message_lines import Line, Lines

TITLES = LISTS + DETAILS


@pytest.fixture
def client():
    """A client whose servers end with the test."""
    with MCPClient(timeout=PATIENCE) as client:
        yield client


@pytest.fixture(scope="module")
def shop():
    """A server with one of each thing, which no test may change."""
    with MCPClient(timeout=PATIENCE) as client:
        yield client.connect("shop", server_of_the_shop())


@pytest.fixture
def url():
    """The place of a server of both protocols."""
    server = FastMCP("shop")
    server.tool(lambda: "ordered", name="order")
    with serving(server) as url:
        yield url


@pytest.fixture
def explorer(shop):
    """The explorer of that server."""
    shop.traffic.clear()
    explorer = Explorer({"shop": shop})
    yield explorer
    explorer.close()
    wait_for_ticker()


def dangers(explorer):
    """What of the page is markup beyond what text is shown with; our own attributes are known."""
    known = r' (role="(status|alert)"|class="(tb|toolbench)-[a-z -]*( \w+_ignore)*")'
    return problems(re.sub(known, "", page(explorer)))


class TestExplorer:
    def test_is_light(self, wire, client):
        """A server of a thousand tools opens with as few comms as one of one."""
        sessions = [
            client.connect("one", light("one", "tool0")),
            client.connect("many", light("many", *(f"tool{n}" for n in range(1000)))),
        ]
        opened = []
        for session in sessions:
            before = wire.opened()
            Explorer({session.name: session})
            opened.append(wire.opened() - before)
        # Some 50 of them are the panel of a tool
        assert opened[0] == opened[1] <= 96

    def test_closing_leaves_nothing(self, wire, shop):
        """Whatever was opened; the servers stay connected."""
        before = set(wire.live)
        explorer = Explorer({"shop": shop})
        for title in TITLES:
            pane = go(explorer, title)
            if title in LISTS:
                listed(pane)
                receive(listing(pane), index=0)
        assert len(wire.live) > len(before) + 60
        explorer.close()
        explorer.close()
        wait_for_ticker()
        assert wire.live == before
        assert shop.status == "connected"
        assert explorer not in open_explorers

    def test_says_how_to_begin(self):
        """Without servers it says how to get one."""
        assert "%mcp connect NAME" in page(Explorer(MCPClient()))

    def test_needs_no_arrow_keys(self, client):
        """Enter goes to the next server or tool that is called so; JupyterLab takes arrows."""
        for name in ("one", "two", "other"):
            client.connect(name, light(name, "ping", "pong", "other"))
        explorer = Explorer(client)
        servers = []
        receive(search_field(explorer, "Servers"), value="o")
        for _ in range(3):
            enter(search_field(explorer, "Servers"))
            wait_for_ticker()
            servers.append(explorer.server)
        assert servers == ["two", "other", "one"]
        receive(search_field(explorer, "Servers"), value="oth")
        enter(search_field(explorer, "Servers"))
        eventually(lambda: explorer.server == "other")
        pane, picked = explorer.page.pane, []
        receive(search_field(pane), value="p")
        for _ in range(3):
            enter(search_field(pane))
            wait_for_ticker()
            picked.append(open_panel(pane).tool.name)
        assert picked == ["ping", "pong", "ping"]
        receive(search_field(pane), value="nothing like it")
        enter(search_field(pane))
        wait_for_ticker()
        assert open_panel(pane).tool.name == "ping"
        receive(search_field(pane), value="ot")
        # Overtakes the last key
        enter(search_field(pane))
        receive(search_field(pane), value="oth")
        eventually(lambda: open_panel(pane).tool.name == "other")

    def test_shows_a_change_while_a_tab_turns(self, client):
        """A click has turned the tab, and waits while the change is shown: the tab has no pane yet."""
        lock = RLock()
        session = client.connect("shop", {"server": FakeMCPServer("shop")})
        view = ServerView(session, lock, lambda *_, **__: False)
        with lock:
            turning = Thread(target=partial(receive, view.widget, selected_index=2))
            turning.start()
            eventually(lambda: view.widget.selected_index == 2)
            view.hear(frozenset({"traffic"}))
        turning.join(PATIENCE)
        assert named(view.widget, "Filter messages")
        view.close()

    def test_tells_why_a_server_is_not_there(self, client):
        """Its reason and its last lines on stderr, beside the servers that are."""
        client.connect("one", light("one", "x"))
        with pytest.raises(ServerError):
            client.connect("dead", misbehaving("exit-at-start"))
        explorer = Explorer(client, "dead")
        text = page(explorer)
        assert "did not connect" in text
        assert "missing API key" in text
        pick(listing(explorer, "Servers"), "one — connected")
        assert "missing API key" not in page(explorer)

    def test_disconnects_and_connects(self, client, url):
        """One click each way; what was opened stays."""
        shop = client.connect("shop", url)
        explorer = Explorer(client)
        open_details(explorer)
        assert "protocol 2026-07-28" in page(explorer.page.details.widget)
        click(buttons(explorer)["Disconnect"])
        eventually(lambda: "disconnected" in page(explorer.page.details.widget))
        assert shop.status == "closed"
        eventually(lambda: "Connect" in buttons(explorer))
        click(buttons(explorer)["Connect"])
        eventually(lambda: shop.is_connected)

    def test_is_text_where_there_are_no_widgets(self, client):
        """A saved notebook and a terminal show the servers and their tools."""
        client.connect("shop", light("shop", "order"))
        bundle = Explorer(client)._repr_mimebundle_()
        assert "application/vnd.jupyter.widget-view+json" in bundle
        assert "order" in bundle["text/html"]
        assert "shop: connected" in bundle["text/plain"]
        assert "application/vnd.jupyter.widget-view+json" not in client_view(client)


class TestTools:
    def test_open_as_panels(self, explorer):
        """Lazily, and once: what was entered stays."""
        pane = go(explorer, "Tools")
        choose(pane, "basket")
        panel = open_panel(pane)
        panel.form.value = {"item": "pear"}
        choose(pane, "order")
        choose(pane, "basket")
        assert open_panel(pane) is panel
        panel.run()
        finish(panel)
        assert panel.result.data == {"item": "pear", "state": "in the basket"}

    def test_stand_in_groups_and_none_opens_unasked(self, client):
        """But one that declares that it only reads. Few tools, or names without a like, stand in no groups."""
        desk = FastMCP("desk")
        for verb, hints in (("drop", {"destructiveHint": True}), ("get", {"readOnlyHint": True})):
            for number in range(8):
                desk.tool(lambda: "", name=f"{verb}_{number}", annotations=hints)
        desk.tool(lambda: "", name="ping")
        client.connect("desk", desk)
        explorer = Explorer(client)
        picker = picker_of(explorer.page.lists.widget)
        assert [item[4] for item in picker.items] == [
            *["drop_* 8"] * 8,
            *["get_* 8"] * 8,
            "other names 1",
        ]
        assert picker.groups["drop_* 8"][1] == [("destructive", 8)]
        assert "tokens" in picker.groups["get_* 8"][0]
        assert open_panel(explorer.page.pane).tool.name == "get_0"
        client.connect("small", light("small", "drop_1", "drop_2", "get_1", "get_2"))
        explorer.choose("small")
        assert not picker_of(explorer.page.lists.widget).groups
        assert "Only tools declared read-only are opened" in page(explorer.page.pane.detail)

    def test_begin_folded_if_there_are_many(self, client):
        """None is opened then: it would unfold its group, with the other headings below its tools."""
        desk = FastMCP("desk")
        for verb in ("drop", "get"):
            for number in range(20):
                desk.tool(lambda: "", name=f"{verb}_{number}", annotations={"readOnlyHint": True})
        client.connect("desk", desk)
        explorer = Explorer(client)
        picker = picker_of(explorer.page.lists.widget)
        assert (picker.is_folded, picker.picked) == (True, None)
        assert "Choose a tool from the list" in page(explorer.page.pane.detail)

    def test_are_not_called_none_if_their_list_failed(self, client, tmp_path):
        refused = {"error": {"code": -32603, "message": "database is down"}}
        with suppress(ServerError):
            client.connect("s", scripted(tmp_path / "s.json", {"tools/list": [refused]}))
        explorer = Explorer(client)
        words = page(explorer.page.pane.detail)
        assert "The tools are not loaded" in words and "offers no tools" not in words

    def test_show_the_traffic_of_their_calls(self, explorer):
        """Once there is any, on demand, beside the result: no message of another tool."""
        pane = go(explorer, "Tools")
        for name in ("order", "basket"):
            choose(pane, name)
        panel = open_panel(pane)
        panel.form.value = {"item": "pear"}
        assert "Show its traffic" not in buttons(pane.detail)
        panel.run()
        finish(panel)
        press(pane, "Show its traffic")
        panel.run()
        finish(panel)
        [lines] = [widget for widget in walk(pane.detail) if isinstance(widget, Lines)]
        eventually(lambda: sum(len(piece.rows) for piece in lines.pieces) == 2)
        assert {Line(*row).subject for row in lines.pieces[0].rows} == {"tools/call basket"}
        press(pane, "Hide its traffic")
        assert not [widget for widget in walk(pane.detail) if isinstance(widget, Lines)]

    def test_that_cannot_be_called_are_named(self, client):
        """With the reason, below those that can."""
        session = client.connect("odd", misbehaving("illegal-schemas"))
        text = page(Explorer(client))
        assert f"{len(session.tools.disabled)} listed tools cannot be called" in text
        assert "inputSchema" in text

    def test_that_cannot_be_called_are_named_up_to_fifty(self, client, tmp_path):
        """A server of thousands does not fill the page; the others are counted."""
        tools = [{"name": f"t{number}", "inputSchema": 3} for number in range(52)]
        script = {"tools/list": [{"result": {"tools": tools}}]}
        client.connect("odd", scripted(tmp_path / "script.json", script))
        text = page(Explorer(client))
        assert "52 listed tools cannot be called" in text
        assert text.count("<li><code>t") == 50
        assert "<li>2 others</li>" in text

    def test_that_change_are_told(self, client):
        """The list says what changed; an open panel that is stale says so."""
        session = client.connect("odd", misbehaving("calls"))
        explorer = Explorer(client)
        pane = go(explorer, "Tools")
        choose(pane, "ping")
        session.call("change_silently")
        session.refresh()
        eventually(lambda: "changed ping" in page(explorer))
        eventually(lambda: "This panel shows the previous version" in page(explorer))
        # Once, in the panel
        assert page(explorer).count("This panel shows the previous version") == 1
        press(pane, "Reload")
        assert open_panel(pane).tool is session.tool("ping")
        assert "This panel shows the previous version" not in page(explorer)

    def test_that_change_have_the_secrets_of_their_runs_still(self, client):
        """What was typed before Reload is put back after it."""
        desk = FastMCP("desk")

        def enter(password: str) -> str:
            return "in"

        offer = partial(desk.tool, enter, annotations={"readOnlyHint": True})
        offer(description="Enter.")
        session = client.connect("desk", desk)
        pane = go(Explorer(client), "Tools")
        panel = open_panel(pane)
        panel.form.value = {"password": "hunter2!"}
        panel.run()
        finish(panel)
        panel.form.value = {}
        offer(description="Come in.")
        session.refresh()
        press(pane, "Reload")
        panel = open_panel(pane)
        receive(tabs(panel), selected_index=4)
        click(buttons(panel)["Load"])
        eventually(lambda: panel.form.value == {"password": "hunter2!"})

    def test_elsewhere_are_marked(self, client):
        """A list that changes out of sight has a word at its tab."""
        shop = FakeMCPServer("shop")
        shop.answer("order", "ordered")
        client.connect("shop", shop)
        explorer = Explorer(client)
        go(explorer, "Prompts")
        shop.answer("ann", "hello")
        eventually(lambda: explorer.page.lists.widget.titles[0] == "Tools (2) (changed)")
        pane = go(explorer, "Tools")
        assert explorer.page.lists.widget.titles[0] == "Tools (2)"
        assert "added ann" in page(pane.widget)


class TestResources:
    def test_are_read(self, explorer):
        """As what they are: Markdown, JSON, an app."""
        pane = go(explorer, "Resources")
        choose(pane, "shop://news")
        press(pane, "Read")
        eventually(lambda: "<strong>new</strong>" in shown(pane.detail))
        choose(pane, "ui://shop/basket")
        press(pane, "Read")
        eventually(lambda: 'sandbox="allow-scripts"' in shown(pane.detail))

    def test_of_a_template_need_its_variables(self, explorer):
        """A form of them, with what the server proposes."""
        pane = go(explorer, "Resources")
        choose(pane, "template: shop://stock")
        press(pane, "Read")
        assert pane._result.value == ""
        box = named(pane.detail, "item")
        type_into(box, "ap")
        eventually(lambda: box.options == ("apples", "apricots"))
        receive(box, value="apples")
        press(pane, "Read")
        eventually(lambda: "apples" in shown(pane.detail))

    def test_that_change_are_told(self, explorer, shop):
        """To who subscribed; reading it again takes the notice away."""
        pane = go(explorer, "Resources")
        assert isinstance(pane, ResourcesPane)
        choose(pane, "shop://news")
        press(pane, "Subscribe")
        eventually(lambda: "Unsubscribe" in buttons(pane.detail))
        eventually(
            lambda: shop.traffic.find(
                "shop://news", method="notifications/subscriptions/acknowledged"
            )
        )
        shop.call("announce")
        eventually(lambda: "Changed on the server: shop://news" in page(pane.detail))
        press(pane, "Read")
        assert "Changed on the server" not in page(pane.detail)

    def test_of_a_server_without_subscriptions_have_no_button_for_them(self, client):
        """They can be read."""
        server = FastMCP("desk")
        server.resource("desk://rules", name="rules")(lambda: "Be quiet.")
        client.connect("desk", server)
        pane = go(Explorer(client), "Resources")
        choose(pane, "desk://rules")
        eventually(lambda: "Read" in buttons(pane.detail))
        assert "Subscribe" not in buttons(pane.detail)

    def test_that_cannot_be_read_say_why(self, client):
        """The server's own words."""
        client.connect("odd", misbehaving("claims-all"))
        pane = go(Explorer(client), "Resources")
        eventually(lambda: "does not list its resources" in page(pane.widget))


class TestQuestions:
    """What is asked while a resource is read or a prompt is written."""

    def test_of_a_resource_are_answered_in_its_pane(self, wire, explorer):
        """The form is where the content comes; it is gone once that is there."""
        pane = go(explorer, "Resources")
        choose(pane, "template: shop://receipt")
        receive(named(pane.detail, "item"), value="pear")
        press(pane, "Read")
        eventually(lambda: "Accept" in buttons(pane.detail))
        assert "Server &#x27;shop&#x27; asks: Who are you?" in page(pane.detail)
        type_into(named(pane.detail, "name"), "Ann")
        click(buttons(pane.detail)["Accept"])
        eventually(lambda: "pear for Ann" in page(pane.detail))
        eventually(lambda: "Accept" not in buttons(pane.detail))

    @pytest.mark.parametrize(
        ("button", "text"),
        [("Decline", "as decline"), ("Cancel question", "as cancel")],
    )
    def test_of_a_prompt_may_be_declined_or_cancelled(self, explorer, button, text):
        """Each is the server's to deal with."""
        pane = go(explorer, "Prompts")
        choose(pane, "Thank")
        press(pane, "Get messages")
        eventually(lambda: button in buttons(pane.detail))
        click(buttons(pane.detail)[button])
        eventually(lambda: text in page(pane.detail))

    def test_are_cancelled_when_another_is_picked(self, explorer, shop):
        """Nobody waits for an answer that is wanted no more."""
        pane = go(explorer, "Prompts")
        choose(pane, "Thank")
        press(pane, "Get messages")
        eventually(lambda: "Accept" in buttons(pane.detail))
        choose(pane, "Complain")
        eventually(lambda: shop.traffic.find('"cancel"', direction="sent"))
        eventually(lambda: "Accept" not in buttons(pane.detail))
        assert pane._result.value == ""


class TestPrompts:
    def test_are_written(self, explorer):
        """Message by message, by role."""
        pane = go(explorer, "Prompts")
        choose(pane, "Complain")
        type_into(named(pane.detail, "about"), "rain")
        press(pane, "Get messages")
        eventually(lambda: "a polite complaint about rain" in shown(pane.detail))
        assert ">user<" in shown(pane.detail)
        assert "&#x27;type&#x27;" not in shown(pane.detail)
        assert shown(pane.detail).count("Write a complaint.") == 1

    def test_take_the_last_keys_that_a_click_overtakes(self, explorer):
        """A click is sent at once, a key when the one before was answered."""
        pane = go(explorer, "Prompts")
        choose(pane, "Complain")
        receive(named(pane.detail, "about"), value="the wea")
        press(pane, "Get messages", settled=False)
        receive(named(pane.detail, "about"), value="the weather")
        eventually(lambda: "a polite complaint about" in shown(pane.detail))
        assert "about the weather" in shown(pane.detail)


class TestApps:
    def test_get_the_call(self, explorer):
        """The frame holds the arguments and the result, and may do nothing but run."""
        pane = go(explorer, "Tools")
        choose(pane, "basket")
        open_panel(pane).form.value = {"item": "pear-of-mine"}
        press(pane, "Preview its app")
        eventually(lambda: "iframe" in page(pane.detail))
        html = page(pane.detail)
        assert "pear-of-mine" in html
        assert html.count("sandbox=") == 1
        assert "allow-same-origin" not in html

    def test_are_offered_for_tools_that_have_one(self, explorer):
        """For no other."""
        pane = go(explorer, "Tools")
        choose(pane, "order")
        assert "Preview its app" not in buttons(pane.detail)


class TestHostileText:
    @pytest.mark.parametrize("part", range(0, len(PAYLOADS), 40))
    def test_stays_text(self, client, part):
        """In names, reasons, logs, stderr and traffic, nothing becomes markup."""
        session = client.connect("light", light("light", "x"))
        for payload in PAYLOADS[part : part + 40]:
            session.log.add({"level": payload, "logger": payload, "data": payload})
            session.stderr.add(payload)
            session.traffic.note("received", payload, kind="noise", method=payload)
            session.noise.append(payload)
        session._described = {
            "serverInfo": {"title": PAYLOADS[part], "version": PAYLOADS[part + 1]},
            "instructions": PAYLOADS[part + 2],
        }
        explorer = Explorer(client)
        for title in TITLES:
            go(explorer, title)
            assert dangers(explorer) == []

    def test_of_a_hostile_server_stays_text(self, client):
        """Title, instructions, names and descriptions, as one server sends them."""
        client.connect("hostile", misbehaving("hostile-listing"))
        explorer = Explorer(client)
        pane = go(explorer, "Tools")
        receive(listing(pane), index=0)
        assert dangers(explorer) == []
