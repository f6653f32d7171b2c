"""What a server's tools cost a model: per tool and in all, in lines and in the explorer."""

import sys
from threading import RLock

import pytest

from test_mcp.peers import light, scripted
from toolbench.llm.lint import cost_of, lint_tool
from toolbench.magics import mcp_listing
from toolbench.mcp.review import TokenBill, review_of
from toolbench.widgets.explorer.tools import ToolsPane
from toolbench.widgets.panel import ToolPanel

LONG = {
    "name": "long<b>",
    "description": "word " * 300,
    "inputSchema": {
        "type": "object",
        "properties": {f"argument_{n}": {"type": "string"} for n in range(20)},
    },
}
SHORT = {"name": "short", "inputSchema": {"type": "object"}}
FOR_APP = {**LONG, "_meta": {"ui": {"visibility": ["app"]}}}


@pytest.fixture
def session(client, tmp_path):
    """A server with a dear tool and a cheap one."""
    answer = [{"result": {"tools": [SHORT, LONG]}}]
    return client.connect("s", scripted(tmp_path / "script", {"tools/list": answer}))


@pytest.fixture
def app_session(client, tmp_path):
    """A server with a cheap tool, and a dear one that it keeps for its app."""
    answer = [{"result": {"tools": [SHORT, FOR_APP]}}]
    return client.connect("s", scripted(tmp_path / "script", {"tools/list": answer}))


class TestBill:
    def test_is_the_sum_of_its_tools(self, session):
        """Each tool has its cost; together they are what offering all of them costs."""
        bill = TokenBill.of(session.tools)
        assert bill.total == cost_of(session.tools)
        assert list(bill.tools) == ["short", "long<b>"]
        assert bill.tools["short"] == cost_of([session.tool("short")])
        assert [name for name, _ in bill.dearest] == ["long<b>", "short"]
        assert bill.tools["long<b>"].tokens > 300 > bill.tools["short"].tokens > 0

    def test_follows_the_list(self, session, tmp_path):
        """A tool that was described anew costs what it costs now."""
        before = TokenBill.of(session.tools).total.tokens
        answer = [{"result": {"tools": [SHORT]}}]
        scripted(tmp_path / "script", {"tools/list": answer})
        session.refresh()
        assert TokenBill.of(session.tools).total.tokens < before

    def test_estimates_as_the_lint_does(self, client, tmp_path, monkeypatch):
        """Without a tokenizer, both say the same number of the same tool."""
        monkeypatch.setitem(sys.modules, "toktok", None)
        dear = {**LONG, "description": "wörd " * 3_000}
        answer = [{"result": {"tools": [dear]}}]
        entry = scripted(tmp_path / "script", {"tools/list": answer})
        tool = client.connect("s", entry).tool("long<b>")
        bill = TokenBill.of([tool])
        assert not bill.total.exact
        (message,) = [f.message for f in lint_tool(tool) if f.rule == "tool-tokens"]
        assert f"about {bill.total.tokens:,} tokens" in message


class TestToolsForTheApp:
    """Tools that a server keeps for its app cost nothing, wherever a cost is shown."""

    def test_are_not_in_the_bill(self, app_session):
        """The bill is the one of the tools that a model gets."""
        bill = TokenBill.of(app_session.tools)
        assert list(bill.tools) == ["short"]
        assert bill.total == cost_of([app_session.tool("short")])
        assert (bill.number("short"), bill.number("long<b>")) == (bill.total.number, "")
        assert cost_of(app_session.tools) == bill.total

    def test_add_nothing_to_lines(self, app_session):
        """`%mcp list`, `%mcp list NAME` and the line after a connect show the same cost."""
        cost = TokenBill.of(app_session.tools).total
        servers = mcp_listing.servers([app_session])
        assert servers[0][servers.columns.index("tokens")] == cost.number
        tools = mcp_listing.tools(app_session)
        assert [(row[0], row[1]) for row in tools] == [
            ("short", cost.number),
            ("long<b>", ""),
        ]
        sentence = "No model gets 1 tool that the server keeps for its app: long<b>"
        assert sentence in tools.notes
        assert mcp_listing.summary(app_session).endswith(f", {cost}")

    def test_add_nothing_to_a_review(self, app_session):
        """Its cost is the bill's, and lint does not warn of what no model reads."""
        review = review_of(app_session)
        assert review.cost == TokenBill.of(app_session.tools).total
        assert review.tools == 2
        assert {finding.tool for finding in review.findings} == {"short"}

    def test_have_no_cost_in_their_panel(self, app_session):
        """The head of a panel shows a number of tokens only if a model may get the tool."""
        for name, has_cost in (("short", True), ("long<b>", False)):
            panel = ToolPanel(app_session.tool(name))
            assert any("tokens</span>" in text for text in texts(panel)) is has_cost
            panel.close()

    def test_alone_cost_nothing_to_show(self, client, tmp_path):
        """A server with tools for its app alone has no number."""
        answer = [{"result": {"tools": [FOR_APP]}}]
        entry = scripted(tmp_path / "script", {"tools/list": answer})
        session = client.connect("s", entry)
        servers = mcp_listing.servers([session])
        assert servers[0][servers.columns.index("tokens")] == ""
        assert "tokens" not in mcp_listing.summary(session)


class TestViews:
    def test_lines_show_each_tool_and_the_whole(self, session):
        """`%mcp list NAME` has a column of tokens, `%mcp list` the sum of each server."""
        bill = TokenBill.of(session.tools)
        tools = mcp_listing.tools(session)
        assert tools.columns[1] == "tokens"
        assert [row[1] for row in tools] == [c.number for c in bill.tools.values()]
        servers = mcp_listing.servers([session])
        column = servers.columns.index("tokens")
        assert servers[0][column] == bill.total.number

    def test_a_server_without_tools_costs_nothing_to_show(self, client):
        """There is no number where there is nothing to offer."""
        servers = mcp_listing.servers([client.connect("none", light("none"))])
        assert servers[0][servers.columns.index("tokens")] == ""

    def test_the_explorer_opens_the_bill(self, session):
        """The sum is in the line; the tools are below, the dearest first, their names escaped."""
        pane = ToolsPane(session, RLock())
        bill = TokenBill.of(session.tools)
        lines = [text for text in texts(pane.widget) if "A model pays" in text]
        pane.close()
        (text,) = lines
        assert str(bill.total) in text
        assert "<b>" not in text
        assert text.index("long&lt;b&gt;") < text.index("short")


def texts(widget):
    """The texts of the widgets in *widget*."""
    if hasattr(widget, "children"):
        return [text for child in widget.children for text in texts(child)]
    value = getattr(widget, "value", None)
    return [value] if isinstance(value, str) else []
