"""A panel whose form cannot be run yet: it says which fields to mend, and leads to them."""

from typing import Annotated

import pytest
from pydantic import Field

from test_widgets.front import click, named, page, receive, type_into
from test_widgets.tooling import buttons, links, shown, tabs
from toolbench import tool
from toolbench.widgets.panel.panel import ToolPanel

pytestmark = pytest.mark.usefixtures("no_open_panels")


@tool
def add(a: int, b: Annotated[int, Field(ge=0)] = 1) -> int:
    """Add two numbers."""
    return a + b


def test_does_not_start_with_what_does_not_fit():
    """What is wrong is said on its field, and the notice goes when it is mended."""
    panel = ToolPanel(add, {"a": 1, "b": -1})
    click(buttons(panel)["Run"])
    assert panel.record is None
    assert not panel.is_busy
    assert "Fix 1 field to run:" in shown(panel)
    assert "Send anyway" not in buttons(panel)
    panel.form.value = {"a": 1}
    assert "Fix" not in shown(panel)


def test_links_to_each_field_that_is_wrong(wire):
    """Beside Run stands what is still to be mended; each name leads to its field."""
    panel = ToolPanel(add, {"b": -1})
    click(buttons(panel)["Run"])
    assert "Fix 2 fields to run:" in shown(panel)
    assert links(panel) == ["a", "b"]
    click(buttons(panel)["b"])
    box = named(panel.form.widget, "b")
    focused = [
        comm
        for comm, kind, data in wire.messages
        if kind == "comm_msg" and data.get("content") == {"do": "focus"}
    ]
    assert focused[-1] == box.comm.comm_id
    type_into(box, "1")
    assert "Fix 1 field to run:" in shown(panel)
    assert links(panel) == ["a"]


def test_names_the_json_while_it_cannot_be_read(wire):
    """The fields hold what the text was before, so they come back only with text that can be read."""
    panel = ToolPanel(add, {"b": -1})
    tabs(panel).selected_index = 1
    click(buttons(panel)["Run"])
    area = named(panel, "Arguments as JSON")
    receive(area, value='{"a": ')
    assert "Fix the JSON to run." in shown(panel.controls.notice)
    assert "Fix the JSON." in page(panel.form.widget)
    assert links(panel) == []
    assert "is required" not in page(panel)
    tabs(panel).selected_index = 3
    assert "refuses this call. Fix the JSON." in shown(tabs(panel).children[3])
    receive(area, value='{"b": -1}')
    assert "Fix 2 fields to run:" in shown(panel.controls.notice)
    assert links(panel) == ["a", "b"]


def test_leads_to_the_json_that_cannot_be_read(wire):
    """A click on Run puts the cursor into the text that is wrong, not into a field."""
    panel = ToolPanel(add, {"b": -1})
    tabs(panel).selected_index = 1
    area = named(panel, "Arguments as JSON")
    receive(area, value='{"a": ')
    click(buttons(panel)["Run"])
    focused = [
        comm
        for comm, kind, data in wire.messages
        if kind == "comm_msg" and data.get("content") == {"do": "focus"}
    ]
    assert focused == [area.comm.comm_id]
