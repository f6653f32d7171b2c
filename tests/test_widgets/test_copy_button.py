"""The button that copies a call of the tool in the panel."""

from pydantic import SecretStr

from test_widgets.front import click, named, pick, receive
from test_widgets.tooling import buttons, tabs
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


def copied(panel, wire):
    """Click "Copy call" and return what the kernel sends to copy."""
    click(buttons(panel)["Copy call"])
    content = wire.messages[-1][2]["content"]
    return content["copy"]


class TestCopyButton:
    def test_sends_the_call_for_the_page_to_copy(self, wire):
        """As Python, whatever the form holds, and no secret."""

        @tool
        def send(text: str, password: SecretStr) -> str:
            """Send."""
            return text

        hostile = "<script>'\"&\u202e"
        panel = ToolPanel(send, {"text": hostile, "password": "hunter22"})
        call = copied(panel, wire)
        assert "hunter22" not in call
        assert "run_tool(" in call or "'tool'" in call
        assert "<script>" in call

    def test_copies_what_is_chosen_in_the_tab_code(self, wire):
        """Its tooltip names the kind; a tab that is opened again shows the same kind."""
        panel = ToolPanel(add, {"a": 1})
        button = buttons(panel)["Copy call"]
        assert button.tooltip.startswith("Copy the call as Python;")
        pick(named(open_code(panel), "Copy as"), "%%tool cell")
        assert button.tooltip.startswith("Copy the call as %%tool cell;")
        assert copied(panel, wire).startswith("%%tool add\n")
        panel.show(add, {"a": 2})
        assert named(open_code(panel), "Copy as").value == "%%tool cell"
