"""The states of the surface that `screenshots.py --states` takes pictures of: a cell for each."""

from collections.abc import Callable
from typing import NamedTuple

from browser.lab import NotebookPage
from playwright.sync_api import Locator, expect

SETUP = '''\
%load_ext toolbench
import base64, datetime, json, pathlib, struct, tempfile, zlib
from dataclasses import dataclass
from typing import Annotated, Literal, Union
import pandas as pd
from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.skills.extension import SkillsExtension
from mcp.types import Icon
from pydantic import BaseModel, Field
from toolbench import bench, current_run, tool
from toolbench.core.content import ImageContent
from toolbench.core.schema import Observation
from toolbench.llm.models import ScriptedModel
from toolbench.tools import register_default_tools

BOOKS = [("The Sea-Wolf", "London", 1904, "L"), ("Moby-Dick", "Melville", 1851, "M"),
         ("The Old Man and the Sea", "Hemingway", 1952, "H"), ("To the Lighthouse", "Woolf", 1927, "W"),
         ("Typee", "Melville", 1846, "M"), ("Persuasion", "Austen", 1817, "A")]

@tool(title="Find books", read_only=True)
def find_books(
    words: str,
    genre: Literal["novel", "poetry", "essay"] | None = None,
    since: datetime.date | None = None,
    in_print: bool = True,
    authors: list[str] = [],
    shelf: Literal["history", "geography", "natural science", "philosophy", "religion", "children's books"] | None = None,
) -> pd.DataFrame:
    """Search the library by words, genre and date of purchase.

    Args:
        words: Part of a title.
        shelf: Where it stands.
    """
    return pd.DataFrame([list(BOOKS[n % 6]) for n in range(200)], columns=["title", "author", "year", "shelf"])

@tool(title="Delete a volume", destructive=True)
def delete_volume(volume: Annotated[int, Field(ge=1)], reason: Annotated[str, Field(min_length=3)]) -> str:
    """Delete a volume and all its entries."""
    return "Deleted."

@tool(title="Read a diary", read_only=True)
def read_diary(days: int = 400) -> str:
    """Read the diary of the ship, a line a day."""
    return "\\n".join(f"Day {n}: the wind was from the {'north' if n % 3 else 'west'}, and we made {n * 7 % 190} miles before the evening." for n in range(1, days + 1))

@tool(title="Draw a chart", read_only=True)
def draw_chart(color: Literal["red", "green", "blue"] = "blue", size: Annotated[int, Field(ge=10, le=400)] = 160):
    """Draw a chart."""
    channel = ["red", "green", "blue"].index(color)
    rows = b"".join(b"\\0" + bytes(v for x in range(size * 2) for v in [(x * 255 // (2 * size)) if c == channel else (y * 255 // size) for c in range(3)]) for y in range(size))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size * 2, size, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return Observation(content=[ImageContent(image_urls=["data:image/png;base64," + base64.b64encode(png).decode()])])

class Card(BaseModel):
    """A card of the bank."""
    kind: Literal["card"] = "card"
    number: str
    holder: str = ""

class Transfer(BaseModel):
    """A transfer."""
    kind: Literal["transfer"] = "transfer"
    iban: str

class Line(BaseModel):
    item: str
    pieces: Annotated[int, Field(ge=1)] = 1

@tool(title="Place an order")
def place_order(
    lines: list[Line],
    pay: Annotated[Card | Transfer, Field(discriminator="kind")],
    notes: str = "",
    labels: dict[str, str] = {},
    gift: bool | None = None,
) -> dict:
    """Place an order of a few lines.

    Args:
        lines: What is ordered.
        notes: For the people who pack it.
    """
    return {"order": 17, "lines": [line.item for line in lines], "paid": True, "labels": labels}

@tool(title="Ask a question")
def ask_person(topic: str = "lunch") -> str:
    """Ask the person something."""
    current_run().ask(f"What do you think of {topic}?", {"type": "object", "required": ["grade"], "properties": {
        "grade": {"enum": ["good", "bad"]}, "why": {"type": "string", "description": "A few words."}}})
    return "Thanks."

@tool(title="Count slowly")
def count_slowly(to: int = 10) -> str:
    """Count slowly."""
    run = current_run()
    for n in range(to):
        print("counted", n)
        run.progress(n, to, "counting")
        if n == 6:
            while not run.cancelled:
                pass_time()
    return "done"

def pass_time():
    __import__("time").sleep(0.05)

@tool(title="Lend a book")
def lend_book(title: str, days: int = 14) -> str:
    """Lend a book.

    Args:
        title: Of the book.
        days: For how long.
    """
    return f"{title} is lent for {days} days."

BOOK = Icon(mime_type="image/svg+xml", src="data:image/svg+xml;base64," + base64.b64encode(
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#3a7" d="M2 2h5l1 1 1-1h5v11H9l-1 1-1-1H2z"/></svg>').decode())
library = FastMCP("library", version="1.4", instructions="Ask for *books*, then `lend` them.", icons=[BOOK])
skill = pathlib.Path(tempfile.mkdtemp(), "lending")
skill.mkdir()
(skill / "SKILL.md").write_text("---\\nname: lending\\ndescription: How books are lent.\\n---\\n# Lending\\n")
provider = SkillsDirectoryProvider(skill.parent, experimental_skills=True)
library.add_provider(provider)
library.add_extension(SkillsExtension(providers=[provider]))
HINTS = {"readOnlyHint": True, "openWorldHint": False}

@library.tool(title="Get structured content", annotations=HINTS | {"idempotentHint": True}, icons=[BOOK])
def get_structured_content(location: Literal["New York", "Chicago", "Los Angeles"]) -> dict:
    """Returns structured content along with an output schema."""
    return {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}

@library.tool(title="Echo", annotations=HINTS)
def echo(message: str) -> str:
    """Says the same."""
    return message

@library.tool(title="Print environment")
def get_env() -> str:
    """Prints the environment."""
    return "PATH"

@library.tool(title="Toggle simulated logging", annotations={"destructiveHint": True})
def toggle_simulated_logging(every_seconds: float = 5, level: Literal["debug", "info", "warning", "error"] = "info") -> str:
    """Turns the log on or off."""
    return "on"

@library.resource("demo://docs/architecture.md", title="Architecture", mime_type="text/markdown")
def architecture() -> str:
    """How it is built."""
    return "# Architecture\\n\\nIn layers."

@library.prompt(title="Recommend a book")
def recommend(genre: str = "novel") -> str:
    """Recommend a book."""
    return f"Recommend a {genre}."

def calls(*pairs):
    return {"role": "assistant", "content": None, "tool_calls": [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(pairs)]}

%model helper ScriptedModel([calls(("find_books", {"words": "", "authors": ["Melville"]})), calls(("lend_book", {"title": "Typee", "days": 14}), ("find_books", {"words": 7})), "Both are **in**."])
%mcp connect library library'''

CHAT = """\
%%chat --step --model helper --tools find_books,lend_book
Which of Melville's books do we have, and is the oldest one on loan?"""
MANY = """\
register_default_tools()
bench(find_books, delete_volume, read_diary, draw_chart, place_order, lend_book, *register_default_tools())"""
HISTORY = """\
from toolbench import run_tool
for words in ("sea", "wolf", "lighthouse"):
    run_tool(find_books, {"words": words, "authors": ["Austen", "Melville"]})
run_tool(find_books, {"words": 3})
find_books"""

SWEEP = """\
from toolbench.evals import sweep
sweep(find_books, {"words": ["sea", "wolf", 3], "authors": [["Austen"], ["Melville"]]})"""
EVALUATION = """\
from toolbench.evals import Case, evaluate
evaluate(ScriptedModel([calls(("find_books", {"words": "sea", "authors": ["Austen"]})), "Hello!"]), [find_books, lend_book], [
    Case("Books of Melville on the sea", {"name": "find_books", "arguments": {"words": "sea", "authors": ["Melville"]}}),
    Case("Good morning!")])"""


class State(NamedTuple):
    """One state: its name, the cell that shows it, and what a person does there."""

    name: str
    cell: str
    act: Callable[[NotebookPage, Locator], None]


def _nothing(page: NotebookPage, place: Locator) -> None:
    """Leave it as it is."""


def _fill_and_run(page: NotebookPage, place: Locator) -> None:
    page.type_into("words", "sea", within=place)
    page.type_into("authors", "Austen\nMelville", within=place)
    _run(page, place, "succeeded")


def _run(page: NotebookPage, place: Locator, state: str) -> None:
    page.click("Run", within=place)
    page.wait_for_text(state, within=place)


def _tab(title: str) -> Callable[[NotebookPage, Locator], None]:
    def act(page: NotebookPage, place: Locator) -> None:
        place.get_by_role("tab", name=title).first.click()

    return act


def _wrong(page: NotebookPage, place: Locator) -> None:
    page.type_into("volume", "0", within=place)
    page.click("Run", within=place)
    page.wait_for_text("Fix 2 fields", within=place)


def _consent(page: NotebookPage, place: Locator) -> None:
    page.type_into("volume", "3", within=place)
    page.type_into("reason", "It is worn out.", within=place)
    page.click("Run", within=place)
    place.locator(".toolbench-question button").first.wait_for()


def _order(page: NotebookPage, place: Locator) -> None:
    page.click("Run", within=place)
    page.wait_for_text("Fix ", within=place)


def _question(page: NotebookPage, place: Locator) -> None:
    page.click("Run", within=place)
    place.locator(".toolbench-question button").first.wait_for()


def _started(page: NotebookPage, place: Locator) -> None:
    page.click("Run", within=place)
    page.wait_for_text("counted 6", within=place)


def _about(tab: str) -> Callable[[NotebookPage, Locator], None]:
    """Open *tab*, one of those about the server, in the explorer."""

    def act(page: NotebookPage, place: Locator) -> None:
        page.click("Server and traffic", within=place)
        place.get_by_role("tab", name=tab).click()

    return act


def _explore(page: NotebookPage, place: Locator) -> None:
    options = place.get_by_role("option")
    options.filter(has_text="Get structured content").first.click()
    place.get_by_text("Returns structured").locator("visible=true").first.wait_for()
    switch = place.get_by_text("New York", exact=True).locator("visible=true")
    if switch.count():
        switch.first.click()
    else:
        place.get_by_label("location", exact=True).select_option("New York")
    _run(page, place, "succeeded")
    _about("Traffic")(page, place)
    place.get_by_text("tools/call").locator("visible=true").first.wait_for()


def _review(page: NotebookPage, place: Locator) -> None:
    _about("Server")(page, place)
    page.click("Should I use it?", within=place)
    page.wait_for_text("undeclared", within=place)


def _item(tab: str, title: str) -> Callable[[NotebookPage, Locator], None]:
    """Open the item *title* in the list *tab* of the explorer."""

    def act(page: NotebookPage, place: Locator) -> None:
        place.get_by_role("tab", name=tab).first.click()
        place.get_by_role("option").filter(has_text=title).first.click()
        place.get_by_text(title).locator("visible=true").nth(1).wait_for()

    return act


def _chat(page: NotebookPage, place: Locator) -> None:
    place = place.locator(".toolbench-transcript").first
    step = place.get_by_role("button", name="Step", exact=True)
    step.click()
    buttons = place.get_by_role("button", name="Refuse", exact=True)
    expect(buttons).to_have_count(2)


def _open_row(page: NotebookPage, place: Locator) -> None:
    place.locator(".widget-html [data-toolbench-opens] tbody tr").nth(1).click()
    place.get_by_role("button", name="Run", exact=True).wait_for()


STATES = [
    State("panel-run", "find_books", _fill_and_run),
    State("panel-schema", "find_books", _tab("Schema")),
    State("panel-code", "find_books", _tab("Code")),
    State("panel-json", "find_books", _tab("JSON")),
    State("panel-history", HISTORY, _tab("History")),
    State("errors", "delete_volume", _wrong),
    State("consent", "delete_volume", _consent),
    State("form-nested", "place_order", _order),
    State("question", "ask_person", _question),
    State("running", "count_slowly", _started),
    State("result-text", "read_diary", lambda page, place: _run(page, place, "succeeded")),
    State("result-image", "draw_chart", lambda page, place: _run(page, place, "succeeded")),
    State("bench", MANY, _nothing),
    State("explorer", "%mcp explore library", _explore),
    State("explorer-server", "%mcp explore library", _about("Server")),
    State("explorer-review", "%mcp explore library", _review),
    State(
        "explorer-resource",
        "%mcp explore library",
        _item("Resources", "Architecture"),
    ),
    State(
        "explorer-prompt",
        "%mcp explore library",
        _item("Prompts", "Recommend a book"),
    ),
    State("explorer-skill", "%mcp explore library", _item("Skills", "lending")),
    State("explorer-log", "%mcp explore library", _about("Log")),
    State("explorer-recording", "%mcp explore library", _about("Recording")),
    State("explorer-changes", "%mcp explore library", _about("Changes")),
    State("review", "%mcp review library", _nothing),
    State("transcript", CHAT, _chat),
    State("sweep", SWEEP, _open_row),
    State("evaluation", EVALUATION, _nothing),
    State("tools-table", "%tools", _nothing),
    State("servers-table", "%mcp list", _nothing),
]
