"""A tool as text: what has to be typed can be read from it."""

from enum import Enum

import pytest
from pydantic import BaseModel

from toolbench import tool
from toolbench.display.objects import tool_bundle


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


@pytest.mark.parametrize(
    "line",
    [
        "stops: array of object of city, nights. Where to sleep.",
        "mode: one of train, bus. How to travel.",
        "budget (optional): number. Euros at most.",
        "notes (optional): array of string. Anything else.",
    ],
)
def test_each_parameter_says_what_may_be_typed(line):
    """Choices, the kinds of a union, the items of a list and the keys of an object."""
    assert line in tool_bundle(plan)["text/plain"]
