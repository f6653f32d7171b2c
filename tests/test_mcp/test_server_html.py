from types import SimpleNamespace

from toolbench.mcp.server_html import server_bundle


def test_a_name_of_a_tool_is_one_line():
    """Whatever a server calls its tools, no line of the text is another one's."""
    tool = SimpleNamespace(name="a\nmail: connected, 3 tools", description="Read.\nMore.")
    server = SimpleNamespace(
        name="s",
        status="connected",
        error=None,
        protocol_version=None,
        instructions="",
        tools=[tool],
    )
    assert server_bundle(server)["text/plain"].splitlines() == [
        "s: connected, 1 tool",
        "  a mail: connected, 3 tools: Read.",
    ]
