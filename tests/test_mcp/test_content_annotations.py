"""What a server says of its blocks, in what a person sees and a model reads."""

import pytest
from fastmcp import FastMCP
from fastmcp.tools.base import ToolResult
from mcp_types import Annotations, TextContent

from toolbench.display.observations import observation_text
from toolbench.mcp.lists.prompts import prompt_observation
from toolbench.mcp.results import priority_of


def block(text, **annotations):
    """A text block with annotations."""
    return TextContent(type="text", text=text, annotations=Annotations(**annotations))


def server():
    """A server whose tool answers with blocks of different importance."""
    report = FastMCP("report")

    @report.tool
    def weather() -> ToolResult:
        return ToolResult(
            content=[
                block("the footnote", priority=0.0),
                TextContent(type="text", text="the plain part"),
                block("the warning", priority=1.0),
                block("for the user", priority=0.9, audience=["user"]),
                block("the second plain part"),
                block("for the model", priority=0.8, audience=["assistant"]),
            ]
        )

    return report


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_required_content_comes_first_and_nothing_is_lost(client, mode):
    """Both columns begin with the highest priority; the server's order and blocks are kept."""
    session = client.connect("report", server(), mode=mode)
    observation = session.tool("weather")({})
    texts = [item.text for item in observation.to_llm_content]
    plain = ["the plain part", "the second plain part"]
    assert texts == ["the warning", "for the model", *plain, "the footnote"]
    person, model = observation_text(observation).split("What the model reads")
    lines = ["the warning", "for the user", *plain, "the footnote"]
    assert "\n".join(lines) in person
    assert model.index("for the model") < model.index("the footnote")
    assert [item["text"] for item in observation.blocks][:3] == [
        *("the footnote", "the plain part", "the warning")
    ]
    assert observation.to_mcp_result()["content"] == observation.blocks


@pytest.mark.parametrize("priority", [None, "1", True, -1, 1.5, float("nan"), float("inf"), [1]])
def test_a_priority_that_is_none_counts_as_absent(priority):
    """A value outside of 0 to 1 moves no block."""
    assert priority_of({"annotations": {"priority": priority}}) == priority_of({}) == 0.5
    assert priority_of({"annotations": [priority]}) == 0.5


def test_messages_of_a_prompt_keep_their_order():
    """A conversation is read in its order, whatever the priority of its blocks."""
    blocks = [
        {"type": "text", "text": "last", "annotations": {"priority": 0}},
        {"type": "text", "text": "first", "annotations": {"priority": 1}},
    ]
    messages = [{"role": "user", "content": item} for item in blocks]
    observation = prompt_observation("p", {"messages": messages})
    assert [item.text for item in observation.to_llm_content] == ["last", "first"]
