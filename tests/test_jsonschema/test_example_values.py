"""Examples in sentences for people: values of the type that is wanted, and never more than two."""

from datetime import date, datetime, time, timedelta
from enum import Enum
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, TypeAdapter

from toolbench.jsonschema.describe import example_values
from toolbench.jsonschema.node import read
from toolbench.jsonschema.validate import validator_of
from toolbench.jsonschema.words import FORMAT_EXAMPLES


class Size(Enum):
    """Three sizes."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


class Line(BaseModel):
    """A line of an order."""

    item: str
    pieces: int
    remark: str = ""


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (str, ["one", "two"]),
        (int, [1, 2]),
        (float, [1.5, 2]),
        (bool, [True, False]),
        (date, ["2024-01-31", "2024-02-29"]),
        (date | None, ["2024-01-31", "2024-02-29"]),
        (Size, ["small", "medium"]),
        (Annotated[int, Field(ge=10)], [10, 11]),
        (Annotated[int, Field(gt=5, lt=8)], [6, 7]),
        (Annotated[float, Field(le=-1)], [-1, -2]),
        (Annotated[int, Field(multiple_of=5)], [5, 10]),
        (Annotated[str, Field(examples=["Paris", "Rome", "Oslo"])], ["Paris", "Rome"]),
        (list[int], [[1, 2]]),
        (list, [["one", "two"]]),
        (tuple[date, int], [["2024-01-31", 1]]),
        (Line, [{"item": "one", "pieces": 1}]),
        (dict[str, int], [{}]),
    ],
)
def test_is_of_its_own_type(kind, values):
    """Dates, numbers within their limits, members of an enum; each fits the schema."""
    schema = TypeAdapter(kind).json_schema()
    assert example_values(read(schema)) == values
    assert all(validator_of(schema).is_valid(value) for value in values)


def test_a_list_of_itself_has_an_end():
    """A schema that refers to itself gives a short example."""
    assert example_values(read({"type": "array", "items": {"$ref": "#"}})) == [[[[]]]]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("date", date),
        ("date-time", datetime),
        ("time", time),
        ("duration", timedelta),
    ],
)
def test_each_text_of_a_format_is_taken(name, kind):
    """By pydantic, which reads what is sent to a function."""
    for text in FORMAT_EXAMPLES[name]:
        TypeAdapter(kind).validate_python(text)
