"""Which questions of a run an agent's program can put to its person: forms of simple fields."""

import pytest
from mcp_types import ElicitResult

from toolbench.runs.questions import Question
from toolbench.serving.client_questions import answer_of, is_flat, request_for


def form(**fields):
    return {"type": "object", "properties": fields}


SIMPLE = {
    "a text": form(name={"type": "string", "format": "email"}),
    "a choice": form(size={"type": "string", "enum": ["S", "M"]}),
    "a number and a yes": form(n={"type": "integer"}, sure={"type": "boolean"}),
    "several of a list": form(
        sizes={"type": "array", "items": {"type": "string", "enum": ["S", "M"]}}
    ),
    "several with titles": form(
        sizes={"type": "array", "items": {"anyOf": [{"const": "S", "title": "Small"}]}}
    ),
    "nothing": form(),
}
OTHERS = {
    "an object inside": form(place={"type": "object", "properties": {}}),
    "a free list": form(names={"type": "array", "items": {"type": "string"}}),
    "a list of yes and no": form(yes={"type": "array", "items": {"type": "boolean"}}),
    "a reference": form(name={"$ref": "#/$defs/name"}) | {"$defs": {"name": {"type": "string"}}},
    "no type": form(name={}),
    "a null": form(name={"type": ["string", "null"]}),
    "two types": form(name={"anyOf": [{"type": "string"}, {"type": "integer"}]}),
    "no object": {"type": "string"},
}


@pytest.mark.parametrize("schema", SIMPLE.values(), ids=SIMPLE.keys())
def test_can_be_asked(schema):
    """The fields that MCP's elicitation has."""
    assert is_flat(schema)


@pytest.mark.parametrize("schema", OTHERS.values(), ids=OTHERS.keys())
def test_cannot_be_asked(schema):
    """A client would refuse them; the person at the notebook is asked instead."""
    assert not is_flat(schema)


@pytest.mark.parametrize(("text", "action"), [("ada", "cancel"), ("ada@a.example", "accept")])
def test_an_answer_has_the_format_that_was_asked_for(text, action):
    """The client of an agent may not check it."""
    reply = ElicitResult(action="accept", content={"name": text})
    assert answer_of(reply, Question("Who?", SIMPLE["a text"])).action == action


def test_a_page_to_visit_is_asked_for_by_its_address():
    """Everything else is a form."""
    page = request_for(Question("Sign in", form(), url="https://example.org/in")).params
    assert (page.mode, page.url) == ("url", "https://example.org/in")
    fields = request_for(Question("How many?", SIMPLE["a choice"])).params
    assert (fields.mode, fields.requested_schema) == ("form", SIMPLE["a choice"])
