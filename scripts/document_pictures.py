"""The pictures of the documents that `screenshots.py` takes: for each the cells of a notebook, and what is done there.

An entry stands under the page that shows it. `python scripts/screenshots.py --only panel` takes one.
"""

from collections.abc import Callable
from typing import NamedTuple

from browser.lab import NotebookPage
from playwright.sync_api import Locator


def nothing(page: NotebookPage, place: Locator) -> None:
    """Leave the output as it is."""


class Picture(NamedTuple):
    """A picture of the output of a notebook's last cell, saved as docs/images/NAME-THEME.png.

    Attributes:
        name: The name of the file, without the theme.
        cells: They run in a new notebook, after `%load_ext toolbench`.
        act: What is done before the picture is taken, in the output of the last cell. If it
            returns a part of the page, that part is taken.
    """

    name: str
    cells: tuple[str, ...]
    act: Callable[[NotebookPage, Locator], Locator | None] = nothing


# README.md

SAVINGS = '''\
import pandas as pd
from toolbench import tool

@tool(read_only=True)
def savings(monthly: float, years: int = 5, interest: float = 0.03) -> pd.DataFrame:
    """Show how monthly savings grow, year by year."""
    saved = [monthly * 12 * ((1 + interest) ** n - 1) / interest for n in range(1, years + 1)]
    return pd.DataFrame({"year": range(1, years + 1), "saved": saved}).round(2)

savings'''


def _save(page: NotebookPage, place: Locator) -> None:
    page.type_into("monthly", "100", within=place)
    page.click("Run", within=place)
    page.wait_for_text("succeeded", within=place)


README = [Picture("savings", (SAVINGS,), _save)]

# site/pages/index.md

PANEL = '''\
from typing import Annotated, Literal
from pydantic import Field
from toolbench import tool

@tool(title="Split the bill", read_only=True, open_world=False)
def split_bill(
    total: Annotated[float, Field(gt=0)],
    people: Annotated[int, Field(ge=1, le=50)] = 2,
    tip: Literal["none", "10%", "15%", "20%"] = "10%",
) -> str:
    """Split a restaurant bill evenly, tip included.

    Args:
        total: The bill before the tip, in euros.
        people: How many share it.
        tip: What comes on top.
    """
    percent = 0 if tip == "none" else int(tip.rstrip("%"))
    return f"Everybody pays {total * (100 + percent) / 100 / people:.2f} euros."

split_bill'''


def _split(page: NotebookPage, place: Locator) -> None:
    page.type_into("total", "84", within=place)
    page.type_into("people", "4", within=place)
    page.click("Run", within=place)
    page.wait_for_text("23.10", within=place)


SITE = [Picture("panel", (PANEL,), _split)]

# docs/tutorial.md

CONVERT = '''\
from toolbench import tool

@tool
def convert(amount: float, rate: float = 1.1) -> float:
    """Convert euros to dollars.

    Args:
        amount: How many euros.
        rate: Dollars for one euro.
    """
    return round(amount * rate, 2)

convert'''


def _convert(page: NotebookPage, place: Locator) -> None:
    page.type_into("amount", "20", within=place)
    page.click("Run", within=place)
    page.wait_for_text("22.0", within=place)


TUTORIAL = [Picture("convert", (CONVERT,), _convert)]

# docs/how-to/connect-a-server.md

LIBRARY = "%mcp connect library -- python -m toolbench.mcp.example"


def _find(page: NotebookPage, place: Locator) -> None:
    page.type_into("title", "em", within=place)
    page.click("Run", within=place)
    page.wait_for_text("Middlemarch", within=place)


CONNECT = [Picture("explorer", (LIBRARY, "%mcp explore library"), _find)]

# docs/how-to/let-a-model-use-your-tools.md

BILLS = '''\
from toolbench import tool

@tool(read_only=True)
def split_bill(total: float, people: int = 2) -> str:
    """Split a restaurant bill, in euros."""
    return f"Everybody pays {total / people:.2f} euros."

def call(arguments):
    function = {"name": "split_bill", "arguments": arguments}
    return {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}

%model small ScriptedModel([call('{"total": 84, "people": 4}'), "Each of you pays 21 euros."])'''
CHAT = """\
%%chat bills --model small --tools split_bill
Split 84 euros between four people."""

LET_A_MODEL = [Picture("chat", (BILLS, CHAT))]

PICTURES = [
    *README,
    *SITE,
    *TUTORIAL,
    *CONNECT,
    *LET_A_MODEL,
]
