"""The example server of `%mcp connect example`, which plays the part of a public library.

Its tools ask questions, report progress and fail on demand. It also shows how to write a server
with the official SDK, in which each typed function with a docstring is a tool. `python -m
toolbench.mcp.example` runs the server over stdin and stdout.
"""

import asyncio
import os
import sys
import warnings
from datetime import date
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer, Resolve
from mcp.server.mcpserver.resolve import Elicit
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field, WithJsonSchema

library = MCPServer(
    "example",
    title="A lending library",
    version="1.0",
    instructions="Find a book before you lend it.",
    # At the level INFO, the SDK writes a line to stderr for each request
    log_level="WARNING",
)
READS = ToolAnnotations(read_only_hint=True)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False)


class Book(BaseModel):
    """A book of the library."""

    title: str
    author: str
    year: int


BOOKS = [
    Book(title="Emma", author="Jane Austen", year=1815),
    Book(title="Persuasion", author="Jane Austen", year=1817),
    Book(title="Middlemarch", author="George Eliot", year=1871),
    Book(title="Moby-Dick", author="Herman Melville", year=1851),
]


# --- tools that work ----------------------------------------------------------------------


@library.tool(annotations=READS)
def find(title: Annotated[str, Field(description="a part of the title")] = "") -> list[Book]:
    """Find books by a part of the title; without one, all."""
    return [book for book in BOOKS if title.lower() in book.title.lower()]


class Loan(BaseModel):
    """What the library asks before it lends a book."""

    until: date = Field(description="the day on which you bring it back")
    note: str = Field("", description="what the library should know")


def asked_for_loan(title: str) -> Elicit[Loan]:
    """Ask the user about the loan of *title*."""
    return Elicit(f"Until when do you want to read {title}?", Loan)


@library.tool(annotations=ADDS)
def lend(title: str, loan: Annotated[Loan, Resolve(asked_for_loan)]) -> str:
    """Lend a book. The library asks you until when."""
    return f"{title} is yours until {loan.until}."


@library.tool(annotations=READS)
async def count_shelves(ctx: Context, shelves: Annotated[int, Field(ge=1, le=100)] = 5) -> str:
    """Count the books, shelf by shelf, with progress and a log."""
    for shelf in range(1, shelves + 1):
        await ctx.report_progress(shelf, shelves, f"shelf {shelf}")
        await ctx.info(f"shelf {shelf}: {12 + shelf} books")
        await asyncio.sleep(0.2)
    return f"{sum(range(13, shelves + 13))} books on {shelves} shelves."


# --- tools that break ---------------------------------------------------------------------


@library.tool(annotations=READS)
def raise_error() -> str:
    """Fail: the tool raises an exception."""
    # stderr is for the author
    print("looking for shelf 13", file=sys.stderr, flush=True)  # noqa: T201
    msg = "there is no shelf 13"
    raise ValueError(msg)


@library.tool(annotations=READS)
def exit_in_call() -> str:
    """Die: the process ends in the middle of the call."""
    print("the library burns down", file=sys.stderr, flush=True)  # noqa: T201
    os._exit(3)


# The stdout for messages. This SDK sends output of `print` to stderr, unlike other SDKs
STDOUT = os.dup(1)


@library.tool(annotations=READS)
def print_to_stdout() -> str:
    """Write a line to stdout that is not a message, as a forgotten `print` does with other SDKs."""
    os.write(STDOUT, b"DEBUG: counting again\n")
    return "Four books."


class Count(BaseModel):
    """The promise of `break_schema`: a whole number, says the schema."""

    books: Annotated[Any, WithJsonSchema({"type": "integer"})]


@library.tool(annotations=READS)
def break_schema() -> Count:
    """Return a structured result that does not fit the tool's output schema."""
    return Count(books="forty-two")


# --- resources and prompts ----------------------------------------------------------------


@library.resource("library://rules", mime_type="text/markdown")
def rules() -> str:
    """The rules of the house."""
    return "# Rules\n\n- Be quiet.\n- Bring books back."


@library.prompt()
def recommend(
    mood: Annotated[str, Field(description="how you feel")],
    author: Annotated[str, Field(description="whom you like to read")] = "",
) -> str:
    """Ask for a book that fits a mood."""
    wish = f"Recommend a book of this library to somebody who feels {mood}."
    if author:
        wish += f" They like {author}."
    return wish


if __name__ == "__main__":
    # From 2026-07-28 on a server may write its log elsewhere; clients of both protocols show it
    warnings.filterwarnings("ignore", message="The logging capability is deprecated")
    library.run()
