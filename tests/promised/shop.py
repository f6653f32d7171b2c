"""The shop that the files in `files` tell of: tools, a server, and what models answer.

The files depend on it: who changes a description, a schema or an answer here makes them untrue.
"""

import json
from collections.abc import Mapping
from datetime import date
from enum import Enum
from typing import Any

import pandas as pd
from pydantic import SecretStr

from toolbench import ToolAnnotations, current_run, tool
from toolbench.evals import Case, Cases
from toolbench.llm.models import Answer, ScriptedModel, Usage
from toolbench.testing import FakeMCPServer, InTurn, RpcError

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
SECRET = "sk-test-4b1f9c27d6e8"


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


@tool(read_only=True, meta={"version": "1.2"})
def split_bill(total: float, people: int = 2) -> str:
    """Split a restaurant bill evenly.

    Args:
        total: The bill, in euros.
        people: How many share it.
    """
    return f"Everybody pays {total / people:.2f} euros."


@tool(read_only=True)
def look_up(title: str, copies: int = 1, size: Size = Size.SMALL, by: date | None = None) -> dict:
    """Look a book up; says what it costs.

    Args:
        title: A part of its title.
        copies: How many.
        size: The format.
        by: When it has to be here.
    """
    book = {"title": title, "copies": copies, "size": size.value, "price": 4.5 * copies}
    return book | ({"by": by.isoformat()} if by else {})


@tool(read_only=True)
def log_in(name: str, password: SecretStr) -> str:
    """Log in.

    Args:
        name: Whose account.
        password: Its password.
    """
    return f"{name} is logged in with {password.get_secret_value()}."


@tool(destructive=True)
def forget(name: str) -> str:
    """Delete a note.

    Args:
        name: Which one.
    """
    return f"{name} is gone"


@tool(read_only=True)
def sales(months: int = 2) -> pd.DataFrame:
    """What was sold, by month.

    Args:
        months: How many.
    """
    return pd.DataFrame({"month": range(1, months + 1), "euros": [12.5] * months})


@tool(read_only=True)
def count_all() -> str:
    """Count all books; somebody stops it."""
    raise KeyboardInterrupt


@tool
def rename(name: str) -> str:
    """Rename the shop.

    Args:
        name: The new name.
    """
    return "renamed" if current_run().ask(f"Really call it {name}?") else "left as it was"


PRICE_OF = {
    "type": "object",
    "properties": {"of": {"type": "string", "description": "Which good."}},
    "required": ["of"],
}
PRICE = {
    "type": "object",
    "properties": {"eur": {"type": "number"}},
    "required": ["eur"],
}


def shop_server(era: str = "modern", price: Mapping[str, Any] = PRICE_OF) -> FakeMCPServer:
    """A server with a tool for each kind of answer, a resource and a prompt."""
    server = FakeMCPServer("shop", era=era, instructions="Ask for the price first.")
    server.answer(
        "price",
        InTurn({"eur": 3}, {"eur": 4}),
        description="The price of a good.",
        schema=price,
        output_schema=PRICE,
        annotations=ToolAnnotations(readOnlyHint=True),
    )
    server.answer("stock", RpcError("database is locked"), description="What is left.")

    @server.tool
    def pay(amount: int, token: SecretStr) -> str:
        """Pay, if the customer agrees.

        Args:
            amount: In euros.
            token: Who pays.
        """
        current_run().progress(1, 2, "asking")
        current_run().log("a payment begins")
        return "paid" if current_run().ask(f"Pay {amount}?") else "not paid"

    server.resource("shop://hours", "Open from 9 to 5.", name="hours")
    server.prompt("offer", "Write an offer for {customer}.", arguments=["customer"])
    return server


def calls(*names: tuple[str, Mapping[str, Any]], text: str = "") -> dict[str, Any]:
    """A message of a model, as OpenAI's are, with calls of tools by name and arguments."""
    written = [
        {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(names, 1)
    ]
    return {"role": "assistant", "content": text or None, "tool_calls": written}


def said(message: dict[str, Any], cost: float = 0.25) -> Answer:
    """The answer with *message*, with what it cost."""
    return Answer(message, finish_reason="stop", usage=Usage(120, 30, cost))


BILLS = {"total": [84, 30.5], "people": [0, 2, 4]}
GOODS = {"of": ["tea", "coffee", 3]}


def shop_cases() -> Cases:
    """Cases with all that a case can say."""
    split, book = "split_bill", "look_up"
    return Cases(
        [
            Case("Split 84 by 4", {"name": split, "arguments": {"total": 84, "people": 4}}),
            Case("Good morning!", forbid=[book], name="greeting", tags=["easy"]),
            Case(
                "About thirty for two, and find Persuasion, large",
                [
                    {"name": split, "arguments": {"total": 30}},
                    {"name": book, "arguments": {"title": "pers", "size": "l"}},
                ],
                match={"total": {"approx": 0.05}, "title": {"regex": "(?i)^pers"}},
                tags=["easy", "two calls"],
            ),
        ]
    )


def clerk() -> ScriptedModel:
    """Answers the cases of the shop: right, wrong, and right by its rules."""
    script = [
        said(calls(("split_bill", {"total": 84, "people": 4}))),
        said(calls(("look_up", {"title": "Emma"}))),
        said(calls(("split_bill", {"total": 31}), ("look_up", {"title": "Pers", "size": "l"}))),
    ]
    return ScriptedModel(script, name="clerk")


def price_cases() -> Cases:
    """Cases of the server's tools."""
    return Cases(
        [
            Case("What is tea?", {"name": "price", "arguments": {"of": "tea"}}),
            Case("What is left?", {"name": "stock", "arguments": {}}),
        ]
    )


def buyer() -> ScriptedModel:
    """Asks the server for a price, and for what it cannot say."""
    script = [said(calls(("price", {"of": "tea"}))), said(calls(("stock", {})))]
    return ScriptedModel(script, name="buyer")
