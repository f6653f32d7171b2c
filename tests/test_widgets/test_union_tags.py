"""The tab of a union says which alternative is meant, and its constant says it to the tool."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from test_widgets.front import named, pick, type_into
from toolbench import tool
from toolbench.widgets.form import SchemaForm


def _form(**properties: Any) -> SchemaForm:
    return SchemaForm({"type": "object", "properties": properties})


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    name: str


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str


@tool
def walk_the_pet(pet: Cat | Dog) -> str:
    """Return the class of *pet*."""
    return type(pet).__name__


@pytest.mark.parametrize("declared", ["kind", None, {"propertyName": 3}])
def test_a_constant_tells_kinds_apart_also_without_a_discriminator(declared):
    """The word `discriminator` may be missing, or say anything; nor must the constant be required."""
    kinds = [
        {"type": "object", "properties": {"kind": {"const": kind}}} for kind in ("card", "transfer")
    ]
    form = _form(pay={"oneOf": kinds, "discriminator": declared})
    pick(named(form.widget, "pay"), "card")
    assert form.value == {"pay": {"kind": "card"}}


def test_the_tool_gets_the_kind_of_the_tab():
    """Also of classes that differ in nothing but a constant with a default."""
    form = SchemaForm(walk_the_pet.to_mcp_tool()["inputSchema"])
    pick(named(form.widget, "pet"), "dog")
    type_into(named(form.widget, "name"), "Rex")
    assert walk_the_pet(form.value).text == "Dog"


@pytest.mark.parametrize(
    "constant",
    [
        {"enum": ["card", "cheque"]},
        {"anyOf": [{"const": "card"}, {"type": "null"}]},
        {"const": "transfer"},
    ],
)
def test_a_property_that_leaves_a_choice_is_no_tag(constant):
    """It has a field of its own."""
    card, transfer = (
        {"title": title, "type": "object", "properties": {"kind": kind}}
        for title, kind in (("Card", constant), ("Transfer", {"const": "transfer"}))
    )
    form = _form(pay={"oneOf": [card, transfer]})
    pick(named(form.widget, "pay"), "Card")
    assert form.value == {"pay": {}}
    assert named(form.widget, "kind")


@pytest.mark.parametrize(
    "names", [{"required": ["kind"]}, {"discriminator": {"propertyName": "kind"}}]
)
def test_the_tag_that_the_schema_needs_comes_first(names):
    """Of several constants, the tab sends the one without which the value is not valid."""
    kinds = [
        {
            "title": kind,
            "type": "object",
            "properties": {"version": {"const": number}, "kind": {"const": kind}},
            "required": names.get("required", []),
        }
        for number, kind in enumerate(("card", "transfer"))
    ]
    form = _form(pay={"oneOf": kinds, **names})
    pick(named(form.widget, "pay"), "card")
    assert form.value == {"pay": {"kind": "card"}}
