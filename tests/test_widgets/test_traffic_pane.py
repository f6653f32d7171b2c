"""The traffic of a server in pairs: what is open stays open, and a request can be sent again."""

import json
import re
from time import time

import pytest
from patience import PATIENCE, eventually
from payloads import some_payloads
from test_display.inert import problems
from test_mcp.servers.shop import shop

from test_widgets.front import click, named, page, receive, type_into, walk
from test_widgets.tooling import buttons
from toolbench.mcp import MCPClient
from toolbench.mcp.monitoring.traffic import ConnectionEnd
from toolbench.widgets.explorer import Explorer
from toolbench.widgets.explorer.tools import ToolsPane
from toolbench.widgets.explorer.traffic import TrafficPane
from toolbench.widgets.kit.message_lines import PIECE, Line, Lines
from toolbench.widgets.kit.ticker import ticker


@pytest.fixture
def explorer():
    """The explorer of a server, with its traffic in sight."""
    with MCPClient(timeout=PATIENCE) as client:
        client.connect("shop", shop)
        explorer = Explorer(client)
        explorer.page.details.show(TrafficPane)
        yield explorer
        explorer.close()
        assert ticker.wait_idle(PATIENCE)


@pytest.fixture
def traffic(explorer):
    """The pane of its traffic."""
    return explorer.page.details.pane


def pieces(traffic):
    """The models that have the lines, the oldest first."""
    [lines] = [widget for widget in walk(traffic.widget) if isinstance(widget, Lines)]
    return lines.pieces


def lines(traffic):
    """What the page draws, oldest first."""
    return [Line(*row) for piece in pieces(traffic) for row in piece.rows]


def subjects(traffic):
    """What the lines are about."""
    return [line.subject for line in lines(traffic)]


def open_line(traffic, subject):
    """Open the last message about *subject*, as a click on its line does."""
    number = [line.number for line in lines(traffic) if line.subject == subject][-1]
    receive(named(traffic.widget, "Open message"), value=str(number))


def type_letter(field, letter):
    """Add a letter to the text of *field*."""
    receive(field, value=field.value + letter)


def customs(wire):
    """What was sent that is no state: comm and content."""
    return [
        (comm_id, data["content"])
        for comm_id, kind, data in wire.messages
        if kind == "comm_msg" and data.get("method") == "custom"
    ]


def calls(session):
    """The calls of tools that were sent."""
    return session.traffic.find(method="tools/call", kind="request")


class TestLines:
    def test_pair_a_request_with_its_answer(self, explorer, traffic):
        """One line has what was asked, what came of it, and how long that took."""
        session = explorer.page.session
        session.call("basket", {"item": "pear"})
        session.call("no such tool")

        def outcomes():
            return {line.subject: line.outcome for line in lines(traffic)}

        last = "tools/call no such tool"
        eventually(lambda: outcomes().get(last, "no answer yet") != "no answer yet")
        results = outcomes()
        assert results["tools/list"] == "7 tools"
        assert re.fullmatch(r"result, \d+ characters", results["tools/call basket"])
        [request] = [line for line in lines(traffic) if line.subject == "tools/call basket"]
        assert request.is_sent
        assert re.fullmatch(r"[\d,.]+ ms", request.duration)

    def test_mark_a_failed_call(self, explorer, traffic):
        """A result with `isError` is an error in its line and in the filter; an unknown key is named."""
        session = explorer.page.session
        assert session.call("pack", {"boxes": "many"}).is_error
        receive(named(traffic.widget, "Filter messages"), value="stat:error")
        assert "Did you mean &#x27;state&#x27;?" in page(traffic.widget) and not lines(traffic)
        receive(named(traffic.widget, "Filter messages"), value="error tool:pack")
        eventually(lambda: "tools/call pack" in subjects(traffic))
        [line] = lines(traffic)
        assert line.outcome.startswith("error: Error executing tool pack")
        assert line.is_failed

    def test_are_filtered(self, explorer, traffic):
        """By who sent the first message, by tool, and by any text of either message."""
        explorer.page.session.call("basket", {"item": "pear"})
        eventually(lambda: "tools/call basket" in subjects(traffic))
        # Words of the answer, which a later tick than that of the request may bring
        receive(named(traffic.widget, "Filter messages"), value='"In The Basket" tool:basket')
        eventually(lambda: subjects(traffic) == ["tools/call basket"])
        receive(named(traffic.widget, "Filter messages"), value="direction:received basket")
        assert lines(traffic) == []
        assert "No message matches" in page(traffic.widget)

    def test_follow_each_letter_of_the_filter(self, explorer, traffic):
        """An emptied filter hides nothing; a letter that changes no line sends no line."""
        explorer.page.session.call("basket", {"item": "pear"})
        eventually(lambda: "tools/call basket" in subjects(traffic))
        everything = lines(traffic)
        type_into(named(traffic.widget, "Filter messages"), "tool:bask")
        assert subjects(traffic) == ["tools/call basket"]
        before = pieces(traffic)
        type_letter(named(traffic.widget, "Filter messages"), "e")
        assert pieces(traffic) == before
        type_into(named(traffic.widget, "Filter messages"), "")
        assert lines(traffic) == everything

    def test_of_10_000_messages_are_all_there(self, explorer, traffic):
        """And what was sent once is not sent again: a new message is one piece."""
        messages = explorer.page.session.traffic
        for number in range(9_900):
            text = json.dumps({"method": f"notifications/{number}"})
            messages.note("received", text, kind="notification", method=f"notifications/{number}")
        # The tick of an earlier message may be writing the first of them
        assert ticker.wait_idle(PATIENCE)
        traffic.refresh()
        assert len(lines(traffic)) >= 9_900
        before = [piece.rows for piece in pieces(traffic)]
        messages.note("received", "{}", kind="notification", method="notifications/last")
        traffic.refresh()
        after = [piece.rows for piece in pieces(traffic)]
        [changed] = [rows for rows in after if rows not in before]
        assert len(changed) <= PIECE

    @some_payloads
    def test_are_inert(self, explorer, traffic, payloads):
        """Whatever a message says, it is text, in its own line, and what is invisible is spelled out."""
        messages = explorer.page.session.traffic
        # A comm cannot send half a character
        messages.note("received", "{}", kind="notification", method="half \ud800, \u202eturned")
        for payload in payloads:
            messages.note("received", payload, kind="noise", method=payload)
        traffic.refresh()
        assert len([line for line in lines(traffic) if "no message" in str(line)]) == len(payloads)
        assert "half ⟨U+D800⟩, ⟨U+202E⟩turned" in subjects(traffic)
        assert problems(page(traffic.widget)) == []
        receive(
            named(traffic.widget, "Open message"),
            value=str(explorer.page.session.traffic[-1].id),
        )
        assert problems(traffic._opened._cards.value) == []


class TestOpenMessage:
    def test_stays_open_when_others_come(self, explorer, traffic, monkeypatch):
        """Both its parts are read on; its answer is added when that comes, and the time it took."""
        session = explorer.page.session
        session.traffic.note("sent", '{"id": "77"}', kind="request", method="ping", request_id="77")
        traffic.refresh()
        open_line(traffic, "ping")
        assert "Sent: request" in page(traffic.widget)
        assert "Received: response" not in page(traffic.widget)
        for _ in range(300):
            session.traffic.note("received", "{}", kind="notification", method="n")
        late = time() + 28.354
        monkeypatch.setattr("toolbench.mcp.monitoring.traffic.time", lambda: late)
        session.traffic.note("received", '{"id": "77"}', kind="response", request_id="77")
        traffic.refresh()
        assert "Sent: request" in page(traffic.widget)
        assert "Received: response" in page(traffic.widget)
        assert "12 characters · 28 s" in page(traffic.widget)
        assert [line.duration for line in lines(traffic) if line.subject == "ping"] == ["28 s"]
        click(buttons(traffic.widget)["Close"])
        assert "Sent: request" not in page(traffic.widget)

    def test_of_a_list_is_sent_again(self, explorer, traffic):
        """As it is; the answer comes in the traffic."""
        session = explorer.page.session
        before = len(session.traffic.find(method="tools/list", kind="request"))
        open_line(traffic, "tools/list")
        click(buttons(traffic.widget)["Repeat"])
        eventually(lambda: "Answered" in page(traffic.widget))
        again = session.traffic.find(method="tools/list", kind="request")
        assert len(again) == before + 1

    def test_is_edited_and_sent(self, explorer, traffic):
        """With the parameters that were typed; what is no JSON object is said, what the server asks is shown."""
        session = explorer.page.session
        session.resources.read("shop://news")
        eventually(lambda: "resources/read shop://news" in subjects(traffic))
        open_line(traffic, "resources/read shop://news")
        click(buttons(traffic.widget)["Edit and send"])
        area, send = (
            named(traffic.widget, "Parameters"),
            buttons(traffic.widget)["Send"],
        )
        assert json.loads(area.value) == {"uri": "shop://news"}
        receive(area, value="{")
        click(send)
        eventually(lambda: "not JSON" in page(traffic.widget))
        receive(area, value="[]")
        click(send)
        eventually(lambda: "must be an object" in page(traffic.widget))
        receive(area, value='{"uri": "shop://stock/pe')
        # It overtakes the last keys
        click(send, settled=False)
        receive(area, value='{"uri": "shop://stock/pear"}')
        eventually(lambda: "Answered" in page(traffic.widget))
        assert session.traffic.find("shop://stock/pear", direction="sent")
        receive(area, value='{"uri": "shop://receipt/pear"}')
        click(send)
        eventually(lambda: "Accept" in buttons(traffic.widget))
        type_into(named(traffic.widget, "name"), "Ann")
        click(buttons(traffic.widget)["Accept"])
        eventually(lambda: session.traffic.find("pear for Ann", direction="received"))

    def test_of_a_call_goes_through_the_panel(self, explorer, traffic, wire):
        """Repeating runs the tool there, where it may be asked about; editing fills the form."""
        session = explorer.page.session
        session.call("basket", {"item": "pear"})
        eventually(lambda: "tools/call basket" in subjects(traffic))
        open_line(traffic, "tools/call basket")
        click(buttons(traffic.widget)["Edit and send"])
        pane = explorer.page.lists.pane
        assert isinstance(pane, ToolsPane)
        panel = pane._open["basket"]
        assert panel.form.value == {"item": "pear"}
        assert "The form of basket now holds these arguments" in page(traffic.widget)
        item = named(panel.form.widget, "item")
        # So that a person sees where to go on
        content = {"do": "focus"}
        assert (item.comm.comm_id, content) in customs(wire)
        assert len(calls(session)) == 1
        click(buttons(traffic.widget)["Repeat"])
        eventually(lambda: len(calls(session)) == 2 and panel.record is not None)
        assert panel.record.tool == "basket"

    def test_with_a_secret_is_not_sent_again(self, explorer, traffic):
        """What is hidden here cannot be sent, and no mark is sent in its place."""
        messages = explorer.page.session.traffic
        text = '{"method": "ping", "params": {"token": "<secret-hidden>"}}'
        messages.note("sent", text, kind="request", method="ping", request_id="x")
        traffic.refresh()
        open_line(traffic, "ping")
        before = len(messages)
        click(buttons(traffic.widget)["Repeat"])
        assert "holds a secret" in page(traffic.widget)
        assert len(messages) == before


def test_a_request_ends_with_its_connection_though_the_messages_were_cleared(traffic):
    """The pane has them still, and goes on."""
    end, kept = ConnectionEnd("stdio"), traffic.session.traffic
    kept.note(
        "sent",
        '{"id": 9, "method": "tools/call", "params": {"name": "pack"}}',
        kind="request",
        method="tools/call",
        request_id=9,
        connection=end,
    )
    traffic.refresh()
    kept.clear()
    end.note("exit code 3")
    traffic.refresh()
    assert lines(traffic)[-1].is_failed


def test_a_new_connection_has_a_line_beside_that_of_its_first_message(traffic):
    """The page knows lines by their numbers; a click on either opens the message."""
    traffic.session.reconnect()
    traffic.refresh()
    numbers = [line.number for line in lines(traffic)]
    assert len(set(numbers)) == len(numbers)
    [again] = [line for line in lines(traffic) if line.subject == "reconnected"]
    [first] = [line for line in lines(traffic) if line.number == -again.number]
    assert first.subject == "server/discover"
    mentions = page(traffic.widget).count("server/discover")
    open_line(traffic, "reconnected")
    assert "Sent: request" in page(traffic.widget)
    assert page(traffic.widget).count("server/discover") > mentions
