"""The proposals of a server under the fields of prompts and templates."""

import pytest
from ipywidgets import Password
from mcp.server.mcpserver import MCPServer
from mcp_types import Completion
from patience import PATIENCE, eventually

from test_widgets.front import named, only, page, receive, type_into, walk
from test_widgets.panes import choose, go, press
from test_widgets.tooling import buttons
from toolbench.mcp import MCPClient
from toolbench.widgets.explorer import Explorer
from toolbench.widgets.kit.ticker import ticker

CITIES = [f"city {number}" for number in range(1204)]


def atlas():
    """A server that sends three proposals, and says how many it knows if it is asked for cities."""
    server = MCPServer("atlas", log_level="ERROR")

    @server.prompt()
    def visit(city: str, street: str, password: str = "") -> str:
        return f"Visit {street} in {city}."

    @server.prompt()
    def leave() -> str:
        return "Leave."

    @server.resource("atlas://{city}")
    def read(city: str) -> str:
        return f"All of {city}."

    @server.resource("atlas://")
    def overview() -> str:
        return "All cities."

    @server.completion()
    async def complete(ref, argument, context):
        matches = [name for name in CITIES if name.startswith(argument.value)]
        total = len(matches) if argument.name == "city" else None
        return Completion(values=matches[:3], total=total, has_more=len(matches) > 3)

    return server


def test_a_secret_typed_into_a_template_or_prompt_is_hidden(wire):
    """In the traffic and the page, also if the server repeats it; in the URI no name says that it is one."""
    server = MCPServer("vault", log_level="ERROR")

    @server.prompt()
    def log_in(password: str) -> str:
        return f"Log in with {password}."

    @server.resource("vault://{password}/x")
    def secret(password: str) -> str:
        return "opened"

    with MCPClient(timeout=PATIENCE) as client:
        session = client.connect("vault", server)
        explorer = Explorer(client)
        pane = go(explorer, "Resources")
        choose(pane, "template: vault:")
        eventually(lambda: "Read" in buttons(pane.detail))
        receive(only(pane.detail, Password), value="hunter2-hunter2")
        press(pane, "Read")
        eventually(lambda: "opened" in page(pane.detail))
        pane = go(explorer, "Prompts")
        eventually(lambda: "Get messages" in buttons(pane.detail))
        receive(only(pane.detail, Password), value="hunter2-hunter2")
        press(pane, "Get messages")
        eventually(lambda: "Log in with" in page(pane.detail))
        explorer.close()
        assert "hunter2" not in session.traffic.to_ndjson() + repr(wire.updates())
        assert ticker.wait_idle(PATIENCE)


@pytest.fixture(params=["auto", "legacy"])
def pane(request):
    """The opened prompt in the explorer, in each era."""
    with MCPClient(timeout=PATIENCE) as client:
        client.connect("atlas", atlas(), mode=request.param)
        explorer = Explorer(client)
        pane = go(explorer, "Prompts")
        choose(pane, "visit")
        yield pane
        explorer.close()
        assert ticker.wait_idle(PATIENCE)


def test_say_how_many_the_server_did_not_send(pane):
    """The total, or only that there are more; no remark once all are in the list."""
    eventually(lambda: "the list has 3 of 1,204 proposals" in page(pane.detail).lower())
    eventually(lambda: "the list has 3 proposals" in page(pane.detail).lower())
    city = named(pane.detail, "city")
    eventually(lambda: tuple(city.options) == tuple(CITIES[:3]))
    type_into(city, "city 1203")
    eventually(lambda: tuple(city.options) == ("city 1203",))
    eventually(lambda: "1,204" not in page(pane.detail))
    assert "the list has 3 proposals" in page(pane.detail).lower()


@pytest.mark.parametrize(
    ("tab", "item", "other"),
    [("Prompts", "visit", "leave"), ("Resources", "template: atlas", "atlas://")],
)
def test_what_was_typed_outlives_a_look_at_another_item(tab, item, other):
    """A person looks something up in another prompt or resource, and goes on typing."""
    with MCPClient(timeout=PATIENCE) as client:
        client.connect("atlas", atlas())
        explorer = Explorer(client)
        pane = go(explorer, tab)
        choose(pane, item)
        eventually(lambda: "city" in _names(pane))
        type_into(named(pane.detail, "city"), "Ulm")
        choose(pane, other)
        assert "city" not in _names(pane)
        choose(pane, item)
        assert named(pane.detail, "city").value == "Ulm"
        explorer.close()
        assert ticker.wait_idle(PATIENCE)


def test_a_secret_gets_no_proposals(pane):
    """It is in no widget, neither when it is typed nor when its prompt is picked again."""
    eventually(lambda: "password" in _names(pane))
    for _ in range(2):
        password = named(pane.detail, "password")
        if not pane._form.values:
            type_into(password, "hunter22")
        assert "hunter22" not in repr([part.get_state() for part in walk(pane.detail)])
        choose(pane, "leave")
        choose(pane, "visit")
    assert pane._form.values == {"password": "hunter22"}


def _names(pane):
    return [getattr(part, "description", "") for part in walk(pane.detail)]
