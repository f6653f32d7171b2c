"""A tool as text: what has to be typed can be read from it."""

from enum import Enum

import pytest
from pydantic import BaseModel

from toolbench import Action, Observation, ToolAnnotations, ToolDefinition, tool
from toolbench.display.objects import call_html, tool_bundle, tool_html


class Mode(Enum):
    TRAIN = "train"
    BUS = "bus"


class Stop(BaseModel):
    city: str
    nights: int = 1


@tool
def plan(
    stops: list[Stop], mode: Mode, budget: float | None = None, notes: tuple[str, ...] = ()
) -> str:  # fmt: skip
    """Plan a trip.

    Args:
        stops: Where to sleep.
        mode: How to travel.
        budget: Euros at most.
        notes: Anything else.
    """
    return ""


def test_a_tool_is_no_flood():
    """Titles, names, descriptions, choices and their number: all that is long is cut."""
    long = "x" * 10_000
    properties = {
        "a": {"type": "string", "description": long},
        "b": {"enum": [long]},
        "c": {"type": "object", "properties": {long: {}}},
        long: {"anyOf": [{"enum": [long]}] * 10},
        **{f"p{n}": {"type": "string", "description": long[:300]} for n in range(999)},
    }
    definition = ToolDefinition(
        name="t",
        description=long,
        action_type=Action.from_mcp_schema("Big", {"type": "object", "properties": properties}),
        annotations=ToolAnnotations(title=long),
    )
    bundle = tool_bundle(definition)
    assert len(bundle["text/html"]) < 100_000
    assert "903 parameters left out" in bundle["text/html"]
    assert len(tool_html(definition)) < 30_000
    assert len(call_html(long, {}, Observation.from_text("x"))) < 5_000


@pytest.mark.parametrize(
    "line",
    [
        "stops: array of object of city, nights. Where to sleep.",
        "mode: one of train, bus. How to travel.",
        "budget (optional): number. Euros at most.",
        "notes (optional): array of string (default: []). Anything else.",
    ],
)
def test_each_parameter_says_what_may_be_typed(line):
    """Choices, the kinds of a union, the items of a list and the keys of an object."""
    assert line in tool_bundle(plan)["text/plain"]


def test_a_saved_tool_stands_in_one_frame():
    """Head, description and parameters, as in its panel; the head alone has no frame."""

    @tool
    def lend(title: str) -> str:
        """Lend a book."""
        return title

    html = tool_bundle(lend)["text/html"]
    assert html.count("border:1px") == 1 and "border:1px" in html.partition(">")[0]
    assert "Lend a book." in html and "<b>title</b>" in html
    assert "border:1px" not in tool_html(lend)
