"""The button that copies a call of the tool in the panel."""

import json
import re
from html import unescape

from patience import eventually
from pydantic import SecretStr

from test_widgets.front import click, named, pick, receive
from test_widgets.tooling import buttons, shown, tabs
from toolbench import tool
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.panel.tabs import TABS


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def open_code(panel):
    """Open the tab Code and return it."""
    receive(tabs(panel), selected_index=TABS.index("Code"))
    return tabs(panel).children[TABS.index("Code")]


class TestCopyButton:
    def test_writes_the_call_for_the_page_to_copy(self):
        """As Python, whatever the form holds; no secret, and no text of the form is markup."""

        @tool
        def send(text: str, password: SecretStr) -> str:
            """Send."""
            return text

        hostile = "<script>'\"&\u202e"
        panel = ToolPanel(send, {"text": hostile, "password": "hunter22"})
        click(buttons(panel)["Copy call"])
        eventually(lambda: "data-toolbench-copy" in shown(panel))
        assert "hunter22" not in shown(panel)
        assert "<script>" not in shown(panel)
        [written] = re.findall(r'data-toolbench-copy="([^"]*)"', shown(panel))
        call = json.loads(unescape(written))
        assert "run_tool(" in call or "'tool'" in call
        assert "<script>" in call

    def test_copies_what_is_chosen_in_the_tab_code(self):
        """Its tooltip names the kind; a tab that is opened again shows the same kind."""
        panel = ToolPanel(add, {"a": 1})
        button = buttons(panel)["Copy call"]
        assert button.tooltip.startswith("Copy the call as Python;")
        pick(named(open_code(panel), "Copy as"), "%%tool cell")
        assert button.tooltip.startswith("Copy the call as %%tool cell;")
        click(button)
        eventually(lambda: "data-toolbench-copy" in shown(panel))
        [written] = re.findall(r'data-toolbench-copy="([^"]*)"', shown(panel))
        assert json.loads(unescape(written)).startswith("%%tool add\n")
        panel.show(add, {"a": 2})
        assert named(open_code(panel), "Copy as").value == "%%tool cell"
