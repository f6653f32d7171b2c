"""Copies of a tool with another title or schema, to compare how models use them."""

import pytest

from toolbench import tool
from toolbench.errors import RegistrationError

SCHEMA = {
    "type": "object",
    "properties": {
        "total": {"type": "number", "description": "The sum, in euros."},
        "people": {"type": "integer", "minimum": 1},
    },
    "required": ["total"],
}


@tool(read_only=True)
def share(total: float, people: int = 2) -> float:
    """Share a bill."""
    return total / people


def test_a_copy_has_another_title():
    """The other hints stay, and so does the tool."""
    copy = share.model_copy(update={"title": "Split the bill"})
    assert (copy.title, share.title) == ("Split the bill", "share")
    assert copy.hints.readOnlyHint
    assert copy.to_mcp_tool()["annotations"]["title"] == "Split the bill"
    assert copy(total=84, people=4).text == share(total=84, people=4).text


def test_a_copy_has_another_schema():
    """A model is offered it, it is checked, and the function gets its own defaults."""
    copy = share.model_copy(update={"schema": SCHEMA, "description": "Other."})
    offer = copy.to_openai_tool()["function"]
    assert offer["parameters"]["properties"] == SCHEMA["properties"]
    assert offer["description"] == "Other."
    assert copy(total=84).text == "42.0"
    assert copy.problems({"total": 84, "people": 0})
    assert not share.problems({"total": 84, "people": 0})
    assert (share.is_stale, share.latest()) == (False, share)


@pytest.mark.parametrize(
    ("update", "words"),
    [
        ({"titel": "x"}, "no field 'titel' .* Did you mean 'title'"),
        ({"title": 3}, "the title is a string, not 3"),
        ({"schema": [1]}, "the schema is a JSON Schema, an object"),
    ],
)
def test_what_cannot_be_replaced_is_one_sentence(update, words):
    """It names the tool and the value."""
    with pytest.raises(RegistrationError, match=f"share.*{words}"):
        share.model_copy(update=update)
