from types import SimpleNamespace

from toolbench.display.tables import ROWS
from toolbench.mcp.server_html import server_bundle
from toolbench.wording import counted


class Tools(list):
    """A list of tools that has come."""

    @property
    def count_words(self):
        return counted(len(self), "tool")


def server(tools, instructions=""):
    """A server as a view needs it."""
    return SimpleNamespace(
        name="s",
        status="connected",
        error=None,
        protocol_version=None,
        instructions=instructions,
        tools=Tools(tools),
    )


def test_a_name_of_a_tool_is_one_line():
    """Whatever a server calls its tools, no line of the text is another one's."""
    tool = SimpleNamespace(name="a\nmail: connected, 3 tools", description="Read.\nMore.")
    lines = ["s: connected, 1 tool", "  a mail: connected, 3 tools: Read."]
    assert server_bundle(server([tool]))["text/plain"].splitlines() == lines
    assert "Ask first." in server_bundle(server([tool], "Ask first."))["text/html"]
    assert server_bundle(server([tool] * ROWS))["text/plain"].splitlines()[1:] == lines[1:] * ROWS
    assert "1 tool left out" in server_bundle(server([tool] * (ROWS + 1)))["text/plain"]
