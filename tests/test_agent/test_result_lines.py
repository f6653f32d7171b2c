"""What the closed row of a call says of its result: a line, and no raw JSON."""

import html
import re

import pandas as pd
import pytest

from test_agent.scripts import add, call, calls, fail, talk
from toolbench import ImageContent, tool

PIXEL = "data:image/png;base64,iVBORw0KGgo="


@tool(read_only=True)
def forecast(city: str) -> dict:
    """Look the weather up."""
    hours = [{"hour": n, "rain": False} for n in range(24)]
    return {"city": city, "rain": None, "wind": {"from": "W"}, "hours": hours}


@tool(read_only=True)
def shelves(count: int) -> list:
    """List the shelves."""
    return [{"id": n, "name": "a"} for n in range(count)]


@tool(read_only=True)
def books(count: int) -> pd.DataFrame:
    """List books."""
    return pd.DataFrame({"title": ["Typee"] * count, "year": 1846})


@tool(read_only=True)
def picture() -> ImageContent:
    """Draw."""
    return ImageContent(image_urls=[PIXEL])


@tool(read_only=True)
def notes() -> str:
    """Read notes."""
    return "Today:\n\n- sow <b>\n- \x1b[31mwater\x1b[0m\n"


def line_of(c) -> str:
    """The second line of the only closed row in the transcript of *c*, as a person reads it."""
    (summary,) = re.findall("<summary.*?</summary>", c.to_html(), re.DOTALL)[:1]
    line = summary.rpartition("border-top")[2].partition(">")[2]
    return html.unescape(re.sub("<[^>]*>", "", line))


@pytest.mark.parametrize(
    ("called", "arguments", "line"),
    [
        (
            forecast,
            {"city": "Rome"},
            'city="Rome", rain=null, wind={"from": "W"}, hours=24 items',
        ),
        (shelves, {"count": 1}, '1 item: {"id": 0, "name": "a"}'),
        (shelves, {"count": 0}, "0 items"),
        (books, {"count": 2}, "2 rows · 2 columns · title,year · Typee,1846"),
        (picture, {}, "1 image"),
        (notes, {}, "Today: · sow <b> · water"),
        (add, {"a": 1}, "2"),
        (fail, {}, "ValueError: the disk is full"),
    ],
    ids=["object", "item", "nothing", "table", "image", "text", "number", "error"],
)
def test_a_closed_row_says_in_short_what_came_out(called, arguments, line):
    """In the words of the call above it, with sizes in place of what has no room."""
    c = talk([calls(call(called.name, arguments)), "Done."], [called])
    c.run()
    assert line_of(c).startswith(line)
    assert "\n" not in line_of(c)
