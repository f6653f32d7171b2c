"""Functions whose annotations are only text."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from pydantic import BaseModel, Field

from toolbench import tool


class Person(BaseModel):
    name: str


def greet(who: Person, times: int = 1) -> str:
    """Greet somebody."""
    return " ".join([who.name] * times)


greet_tool = tool(greet)


class Greeter:
    def __call__(self, who: Person) -> str:
        return who.name


From = TypedDict("From", {"from": NotRequired[Annotated[float, Field(ge=0)]]})


class Size(From):
    width: int
    copy: NotRequired[bool]
