"""The pictures of the documents that `screenshots.py` takes: for each the cells of a notebook, and what is done there.

An entry stands under the page that shows it. `python scripts/screenshots.py --only panel` takes one.
"""

from collections.abc import Callable
from typing import NamedTuple

from browser.lab import NotebookPage
from playwright.sync_api import Locator


def nothing(page: NotebookPage, place: Locator) -> None:
    """Leave the output as it is."""


def filled_in(values: dict[str, str], shown: str) -> Callable[[NotebookPage, Locator], None]:
    """Return what fills fields with *values*, presses Run, and waits until *shown* is in sight."""

    def act(page: NotebookPage, place: Locator) -> None:
        for label, text in values.items():
            page.type_into(label, text, within=place)
        page.click("Run", within=place)
        page.wait_for_text(shown, within=place)

    return act


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


README = [Picture("savings", (SAVINGS,), filled_in({"monthly": "100"}, "succeeded"))]

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


SITE = [Picture("panel", (PANEL,), filled_in({"total": "84", "people": "4"}, "23.10"))]

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


TUTORIAL = [Picture("convert", (CONVERT,), filled_in({"amount": "20"}, "22.0"))]

# docs/how-to/connect-a-server.md

LIBRARY = "%mcp connect library -- python -m toolbench.mcp.example"


CONNECT = [
    Picture(
        "explorer", (LIBRARY, "%mcp explore library"), filled_in({"title": "em"}, "Middlemarch")
    )
]

# docs/how-to/find-a-server.md

REGISTRY = """\
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

variables = [
    {"name": "WEATHER_KEY", "description": "Your key at weather.example", "isRequired": True, "isSecret": True},
    {"name": "UNITS", "description": "Of temperatures", "choices": ["celsius", "fahrenheit"], "default": "celsius"},
]
package = {"registryType": "pypi", "identifier": "weather-mcp", "version": "1.2.0",
           "transport": {"type": "stdio"}, "environmentVariables": variables}
server = {"name": "io.github.example/weather", "title": "Weather", "description": "The weather in a city.", "version": "1.2.0",
          "packages": [package]}

class Registry(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"server": server, "_meta": {}}).encode())

    def log_message(self, *args):
        pass

registry = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
Thread(target=registry.serve_forever, daemon=True).start()
get_ipython().run_line_magic("config", f"Toolbench.registry = 'http://127.0.0.1:{registry.server_port}'")"""
WEATHER = "%mcp connect weather --registry io.github.example/weather"


def _show_what_will_run(page: NotebookPage, place: Locator) -> None:
    page.type_into("WEATHER_KEY", "not a real one", within=place)
    page.click("Show what will run", within=place)
    page.wait_for_text("uvx", within=place)


FIND = [Picture("registry", (REGISTRY, WEATHER), _show_what_will_run)]

# docs/how-to/use-a-large-server.md

TRACKER = """\
from fastmcp import FastMCP

tracker = FastMCP("tracker")
for part in ("issues", "pulls", "labels"):
    for verb in ("list", "search", "count", "create", "close", "edit", "move", "merge", "rename"):
        notes = {"readOnlyHint": verb in ("list", "search", "count")}
        tracker.tool(lambda name: "done", name=f"{part}_{verb}", description=f"{verb} {part}", annotations=notes)

%mcp connect tracker tracker"""

LARGE = [Picture("groups", (TRACKER, "%mcp explore tracker"))]

# docs/how-to/servers-over-time.md

RECORD = """\
from fastmcp import FastMCP

shop = FastMCP("shop")

@shop.tool(annotations={"readOnlyHint": True})
def price(of: str) -> str:
    return f"{of} costs 3 euros"

@shop.tool(annotations={"readOnlyHint": True})
def stock(of: str) -> int:
    return len(of)

%mcp connect shop shop --record shop.jsonl
%tool price of=tea -o tea
%tool stock of=tea -o stock_of_tea
%tool price of=coffee -o coffee
shop = FastMCP("shop")

@shop.tool(annotations={"readOnlyHint": True})
def price(of: str, currency: str = "euros") -> str:
    return f"{of} costs {4 if of == 'tea' else 3} {currency}"

@shop.tool(annotations={"readOnlyHint": True})
def stock(of: str) -> int:
    return len(of)

%mcp connect shop shop"""
OVER_TIME = [Picture("rerun", (RECORD, "%mcp rerun shop shop.jsonl"))]

# docs/how-to/review-a-server.md

SHOP = """\
%%writefile shop.py
from typing import Annotated, Any
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, WithJsonSchema

class Price(BaseModel):
    cents: Annotated[Any, WithJsonSchema({"type": "integer"})]

shop = MCPServer("shop", log_level="WARNING")

@shop.tool(annotations=ToolAnnotations(read_only_hint=True))
def price_of_tea() -> Price:
    '''Return the price of a pound of tea.'''
    return Price(cents="three euros")

if __name__ == "__main__":
    shop.run()"""
PROBE = (SHOP, "%mcp connect shop -- python shop.py", "%mcp review shop --probe")


def _cut(_: NotebookPage, place: Locator) -> None:
    # The first findings say enough
    place.evaluate("output => Object.assign(output.style, {height: '345px', overflow: 'hidden'})")


REVIEW = [Picture("probe", PROBE, _cut)]

# docs/how-to/answer-elicitations.md


ELICITATION = [
    Picture("elicitation", (LIBRARY, "%tool lend"), filled_in({"title": "Emma"}, "Until when"))
]

# docs/how-to/let-a-model-use-your-tools.md

BILLS = '''\
from toolbench import tool
from toolbench.llm import as_openai_call

@tool(read_only=True)
def split_bill(total: float, people: int = 2) -> str:
    """Split a restaurant bill, in euros."""
    return f"Everybody pays {total / people:.2f} euros."

def call(**arguments):
    return {"role": "assistant", "tool_calls": [as_openai_call(split_bill, arguments)]}

%model small ScriptedModel([call(total=84, people=4), "Each of you pays 21 euros."])'''
CHAT = """\
%%chat bills --model small --tools split_bill
Split 84 euros between four people."""

# docs/how-to/serve-your-tools.md

BOOKS = '''\
import asyncio
from threading import Thread
from fastmcp import Client
from mcp.types import Implementation
from toolbench import tool

@tool(read_only=True)
def find_books(words: str) -> list[str]:
    """Find books by words of their titles."""
    return [title for title in ("The Sea-Wolf", "Moby-Dick", "Typee") if words.lower() in title.lower()]

@tool(destructive=True)
def delete_book(title: str) -> str:
    """Delete a book from the catalogue."""
    return f"{title} is deleted."

served = %mcp serve

async def work():
    name = Implementation(name="my-agent", version="1")
    async with Client(served.client_config("mcp"), client_info=name) as agent:
        await agent.call_tool("find_books", {"words": "sea"})
        await agent.call_tool("delete_book", {"title": "Typee"})

Thread(target=asyncio.run, args=(work(),)).start()'''


def _wait_for_consent(page: NotebookPage, place: Locator) -> None:
    page.wait_for_text("Run delete_book", within=place)


# docs/how-to/evaluate-a-tool.md

EVALUATION = '''\
from toolbench import tool
from toolbench.evals import Case, evaluate
from toolbench.llm import ScriptedModel, as_openai_call

@tool(read_only=True)
def split_bill(total: float, people: int, tip: float = 0.0) -> float:
    """Split a restaurant bill between people; returns what each pays."""
    return (total + tip) / people

cases = [
    Case("Split 84 euros between 4 people", {"name": "split_bill", "arguments": {"total": 84, "people": 4}}),
    Case("Three friends share 60 euros", {"name": "split_bill", "arguments": {"total": 60, "people": 3}}),
    Case("Good morning!"),
]

def call(**arguments):
    return {"role": "assistant", "tool_calls": [as_openai_call(split_bill, arguments)]}

answers = [call(total=84, people=4), call(total=60, people=4), "Good morning!"]
evaluate(ScriptedModel(answers, name="small"), [split_bill], cases)'''


def _rates_and_answers(page: NotebookPage, place: Locator) -> Locator:
    return place.locator("[data-toolbench-report]").filter(visible=True).first


MODELS = [
    Picture("chat", (BILLS, CHAT)),
    Picture("served", (BOOKS, "served"), _wait_for_consent),
    Picture("report", (EVALUATION,), _rates_and_answers),
]

# docs/how-to/write-a-tool.md

FIND_BOOKS = '''\
from typing import Annotated, Literal
from pydantic import Field
from toolbench import tool

@tool(read_only=True)
def find_books(genre: Literal["novel", "poems"], limit: Annotated[int, Field(ge=1, le=20)] = 3) -> list[dict]:
    """List the books of a genre; returns their titles and years.

    Args:
        genre: The shelf to search.
        limit: The most books to return.
    """
    novels = [{"title": "Emma", "year": 1815}, {"title": "Middlemarch", "year": 1871}]
    return {"novel": novels}[genre][:limit]

find_books'''


def _find_books(page: NotebookPage, place: Locator) -> None:
    place.get_by_text("novel").filter(visible=True).first.click()
    page.click("Run", within=place)
    page.wait_for_text("Middlemarch", within=place)


# docs/how-to/confirm-policies.md

FORGET = '''\
from toolbench import tool

@tool(destructive=True)
def forget(name: str) -> str:
    """Delete a note."""
    return f"{name} is gone"

forget'''


# docs/how-to/sweep-a-tool.md

SWEEP = '''\
from toolbench import tool
from toolbench.evals import sweep

@tool(read_only=True)
def divide(a: int, b: int) -> dict:
    """Divide a by b; returns quotient and remainder."""
    return {"quotient": a // b, "rest": a % b}

sweep(divide, {"a": range(6, 9), "b": [0, 4]})'''

# docs/how-to/test-a-tool.md

CHECKS = '''\
from toolbench import tool
from toolbench.checks import Check, Checks

@tool
def divide(a: float, b: float) -> float:
    """Divide a by b; returns the quotient."""
    return a / b

Checks([
    Check("it divides", "divide", arguments={"a": 6, "b": 3}, expect={"result": 2.5}),
    Check("nothing divides by zero", "divide", arguments={"a": 1, "b": 0}, expect={"error": "ZeroDivision"}),
]).run()'''

# docs/how-to/custom-field-editor.md

SAY = '''\
from typing import Annotated
import ipywidgets
from pydantic import Field
from toolbench import tool
from toolbench.widgets.fields import registry

LARGE = Field(json_schema_extra={"toolbench": {"widget": "textarea", "placeholder": "Say something kind"}})
PERCENT = Field(json_schema_extra={"format": "percent"})

@tool
def say(words: Annotated[str, LARGE], volume: Annotated[int, PERCENT]) -> str:
    """Say words aloud; returns them."""
    return words

def is_percent(view, schema, path):
    return schema.get("format") == "percent"

def percent_slider(slot):
    return ipywidgets.IntSlider(value=50, min=0, max=100, description=slot.label)

registry.add(95, is_percent, percent_slider)
say'''

# docs/how-to/see-what-happened.md

SHELF = '''\
from time import sleep
from toolbench import answering, run_tool, tool

%mcp connect example

@tool
def count_books(shelf: int) -> int:
    """Count the books of a shelf."""
    if shelf > 3:
        raise LookupError(f"there is no shelf {shelf}")
    sleep(0.6 * shelf)
    return 12 + shelf

for shelf in (1, 2, 3, 13):
    run_tool(count_books, shelf=shelf)
with answering({"until": "2026-12-31"}):
    %tool lend title=Emma'''

# docs/how-to/from-a-cell-to-a-package.md

BILL = '''\
from toolbench import tool

SERVICE = 1.1

@tool(read_only=True)
def split_bill(total: float, people: int = 2) -> float:
    """Split a bill, service included; returns what each pays."""
    return round(total * SERVICE / people, 2)'''

TOOLS = [
    Picture("find-books", (FIND_BOOKS,), _find_books),
    Picture("consent", (FORGET,), filled_in({"name": "shopping"}, "Don't run")),
    Picture("sweep", (SWEEP,)),
    Picture("checks", (CHECKS,)),
    Picture("field-editor", (SAY,)),
    Picture("timeline", (SHELF, "%mcp timeline")),
    Picture(
        "export",
        (BILL, "%tool split_bill total=84 people=4", "%tools export split_bill --to split_bill"),
    ),
]

# docs/cookbook.md

ADD_UP = '''\
import csv
import io
from toolbench import tool

@tool(read_only=True)
def add_up(file: bytes) -> float:
    """Add up the prices in a CSV file.

    Args:
        file: A CSV file with a column "price".
    """
    rows = csv.DictReader(io.StringIO(file.decode()))
    return sum(float(row["price"]) for row in rows)

add_up'''


def _choose_a_file(page: NotebookPage, place: Locator) -> None:
    with page.tab.page.expect_file_chooser() as chooser:
        place.locator(".widget-upload").click()
    content = b"item,price\ntea,3.5\ncake,4.0\n"
    chooser.value.set_files({"name": "sales.csv", "mimeType": "text/csv", "buffer": content})
    page.wait_for_text("sales.csv", within=place)
    page.click("Run", within=place)
    page.wait_for_text("7.5", within=place)


COOKBOOK = [Picture("upload", (ADD_UP,), _choose_a_file)]

PICTURES = [
    *README,
    *SITE,
    *TUTORIAL,
    *CONNECT,
    *FIND,
    *LARGE,
    *OVER_TIME,
    *REVIEW,
    *ELICITATION,
    *MODELS,
    *TOOLS,
    *COOKBOOK,
]
