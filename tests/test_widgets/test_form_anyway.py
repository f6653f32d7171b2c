"""What a foreign tool's schema refuses can be sent all the same: the server is the judge."""

from typing import Any

import pytest
from patience import PATIENCE, eventually

from test_widgets.front import click, page, receive, walk
from test_widgets.tooling import buttons, finish, shown
from toolbench.core.declarations import ToolAnnotations
from toolbench.core.schema import Observation
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel import ToolPanel

_CAT = {"kind": {"const": "cat"}, "lives": {"type": "integer"}}
_SCHEMA = {
    "type": "object",
    "properties": {
        "amount": {"type": "integer", "minimum": 1},
        "pet": {
            "oneOf": [
                {"title": "Cat", "properties": _CAT, "required": ["kind"]},
                {"title": "Dog", "properties": {"kind": {"const": "dog"}}},
            ]
        },
    },
    "required": ["amount"],
}


@pytest.fixture
def sent() -> list[dict[str, Any]]:
    """What reached the server."""
    return []


@pytest.fixture
def panel(sent):
    """The panel of a server's tool that notes what it is sent."""

    def order(action: Any) -> Observation:
        sent.append(action.data)
        return Observation.from_text("noted")

    panel = ToolPanel(
        MCPToolDefinition(
            name="order",
            description="Order something.",
            server="shop",
            remote_name="order",
            schema=_SCHEMA,
            annotations=ToolAnnotations(destructiveHint=False),
            executor=order,
        )
    )
    yield panel
    assert ticker.wait_idle(PATIENCE)
    panel.close()


def test_what_does_not_fit_is_sent_on_request(panel, sent):
    """Run refuses and offers it; pressed, the arguments arrive as they are. No check can repeat it."""
    panel.form.value = {"amount": 0, "more": None}
    click(buttons(panel)["Run"])
    eventually(lambda: "Send anyway" in buttons(panel))
    assert sent == []
    click(buttons(panel)["Send anyway"])
    eventually(lambda: sent)
    finish(panel)
    assert sent == [{"amount": 0, "more": None}]
    click(buttons(panel)["Save as check"])
    assert "Run the tool first, with valid arguments" in shown(panel)


def test_what_cannot_be_read_is_never_sent(panel, sent):
    """Half a number has no value that a server could judge."""
    (box,) = [x for x in walk(panel.form.widget) if getattr(x, "description", "") == "amount"]
    receive(box, value="1x")
    click(buttons(panel)["Run"])
    eventually(lambda: "Fix 1 field to run" in shown(panel))
    assert "Send anyway" not in buttons(panel)
    assert panel.run(unchecked=True) is None
    assert sent == []
    # The same field is still wrong, but now it has a value
    receive(box, value="0")
    assert "Send anyway" in buttons(panel)


def test_errors_are_those_of_the_chosen_branch(panel):
    """A server's union complains as any union does, whoever checks the value."""
    panel.form.value = {"amount": 1, "pet": {"kind": "cat", "lives": "nine"}}
    panel.form.reveal_errors()
    assert panel.form.errors == [(("pet", "lives"), 'should be an integer, not "nine"')]
    assert "fits none" not in page(panel.form.widget)
