"""A server's tool that does not say what it changes: asked about once, where somebody is."""

import pytest
from ipywidgets import Checkbox
from patience import eventually
from test_widgets.conftest import wire  # noqa: F401 - panels talk to it
from test_widgets.front import click, named, receive
from test_widgets.tooling import buttons, finish, shown

from toolbench import ToolAnnotations, history
from toolbench.mcp import create_mcp_tools
from toolbench.runs.perform import perform
from toolbench.runs.policy import policy
from toolbench.runs.questions import Answer, answering, decline
from toolbench.runs.run import Run
from toolbench.testing import FakeMCPServer
from toolbench.widgets.form.question import REMEMBER
from toolbench.widgets.panel import ToolPanel


@pytest.fixture
def shop():
    return FakeMCPServer("shop")


@pytest.fixture
def client(shop):
    shop.answer("drop", "dropped")
    shop.answer("drop_all", "dropped")
    only_added = ToolAnnotations(readOnlyHint=False, destructiveHint=False)
    shop.answer("add", "added", annotations=only_added)
    shop.answer("look", "seen", annotations=ToolAnnotations(readOnlyHint=True))
    with create_mcp_tools(shop) as client:
        yield client


class Person:
    """Answers every question the same, and keeps them."""

    def __init__(self, answer):
        self.questions = []
        self._answer = answer

    def __call__(self, question):
        self.questions.append(question.message)
        return Answer(self._answer, {"answer": True})


def by_magic(tool, asker, arguments=None):
    run = Run(tool, arguments or {}, source="magic", asker=asker)
    perform(run)
    return run


class TestUndeclared:
    def test_asks_once_per_tool(self, client):
        """A yes holds for the session, for that tool and no other."""
        person = Person("accept")
        states = [by_magic(client["drop"], person).state for _ in range(3)]
        assert states == ["ok"] * 3
        assert len(person.questions) == 1
        assert "undeclared" in person.questions[0]
        by_magic(client["drop_all"], person)
        assert len(person.questions) == 2

    def test_asks_again_after_a_no(self, client):
        """A no is for the call that was asked about."""
        person = Person("decline")
        runs = [by_magic(client["drop"], person) for _ in range(2)]
        assert [run.state for run in runs] == ["denied", "denied"]
        assert len(person.questions) == 2
        assert "declined: drop does not declare" in runs[0].decision

    @pytest.mark.parametrize(
        "change",
        [
            {"description": "Drops every table."},
            {"output_schema": {"type": "object"}},
            {"schema": {"type": "object", "properties": {"all": {}}}},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_asks_again_for_a_tool_that_the_server_changed(self, client, shop, change):
        """A yes is for the tool as it was described: a server cannot swap another in."""
        person = Person("accept")
        before = client["drop"]
        by_magic(before, person)
        shop.answer("drop", "dropped", **change)
        eventually(lambda: client["drop"] is not before)
        by_magic(client["drop"], person)
        by_magic(client["drop"], person)
        assert ["changed" in question for question in person.questions] == [False, True]

    def test_does_not_ask_again_for_the_same_tool_listed_anew(self, client, shop):
        """A list that came again with the same words changes nothing."""
        person = Person("accept")
        by_magic(client["drop"], person)
        shop.answer("drop", "dropped again")
        client.servers["shop"].reconnect()
        assert by_magic(client["drop"], person).state == "ok"
        assert len(person.questions) == 1

    def test_asks_again_for_another_server_of_the_same_name(self, shop):
        """A yes is for the server that was there: another one may do what it likes."""
        person, other = Person("accept"), FakeMCPServer("shop")
        for server in (shop, other, other):
            server.answer("drop", "dropped")
            with create_mcp_tools(server) as client:
                by_magic(client["drop"], person)
        assert ["changed" in question for question in person.questions] == [False, True]

    def test_is_allowed_of_that_server_alone(self, shop):
        """What was allowed of a server is asked about again for another one of its name."""
        person, other = Person("accept"), FakeMCPServer("shop")
        for server, questions in ((shop, 0), (shop, 0), (other, 1)):
            server.answer("drop", "dropped")
            with create_mcp_tools(server) as client:
                if not policy.by_tool:
                    policy.allow(client["drop"])
                assert by_magic(client["drop"], person).state == "ok"
            assert len(person.questions) == questions

    @pytest.mark.parametrize("verdict", ["deny", "ask"])
    def test_is_denied_or_asked_about_whatever_server_it_is_of(self, shop, verdict):
        """Another server of the name is trusted no more than the one that was denied."""
        person, other = Person("decline"), FakeMCPServer("shop")
        for server in (shop, other):
            server.answer("drop", "dropped")
            with create_mcp_tools(server) as client:
                if not policy.by_tool:
                    getattr(policy, verdict)(client["drop"])
                assert by_magic(client["drop"], person).state == "denied"

    def test_runs_where_nobody_is(self, client):
        """A notebook that nobody watches goes on; the record says why."""
        run = by_magic(client["drop"], decline)
        assert run.state == "ok"
        assert "nobody could be asked" in history()[-1].decision

    def test_takes_no_answer_that_was_given_in_advance(self, client):
        """Those are for what the tool asks: who gave them knew nothing of this question."""
        person = Person("decline")
        with answering("Ada"):
            assert by_magic(client["drop"], person).state == "ok"
        assert person.questions == []

    @pytest.mark.parametrize("name", ["add", "look"])
    def test_what_declares_itself_harmless_runs(self, client, name):
        """Nobody is asked about a tool that says it deletes nothing."""
        person = Person("decline")
        assert by_magic(client[name], person).state == "ok"
        assert person.questions == []

    def test_plain_python_is_never_asked(self, client):
        """Whoever writes the call has decided."""
        assert client["drop"]({}).text == "dropped"

    @pytest.mark.parametrize("verdict", ["allow", "deny"])
    def test_follows_the_policy(self, client, verdict):
        """Servers may be trusted, or not at all; the tool's own entry comes first."""
        policy.undeclared = verdict
        person = Person("accept")
        state = "ok" if verdict == "allow" else "denied"
        assert by_magic(client["drop"], person).state == state
        assert person.questions == []
        policy.allow(client["drop"])
        assert by_magic(client["drop"], person).state == "ok"

    def test_a_panel_says_so_and_asks(self, client):
        """The head of the panel shows it; a yes is for the session unless the person unticks that."""
        panel = ToolPanel(client["drop"])
        assert "undeclared" in shown(panel)
        click(buttons(panel)["Run"])
        eventually(lambda: "Run drop" in buttons(panel))
        receive(named(panel, REMEMBER, Checkbox), value=False)
        click(buttons(panel)["Run drop"])
        finish(panel)
        assert panel.result.text == "dropped"
        click(buttons(panel)["Run"])
        eventually(lambda: "Run drop" in buttons(panel))
        click(buttons(panel)["Run drop"])
        finish(panel)
        panel.run()
        finish(panel)
        assert panel.record.state == "ok"
