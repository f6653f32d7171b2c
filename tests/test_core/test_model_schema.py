import json
import math
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Generic, Literal, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from test_core.schemas import judge
from toolbench import Action
from toolbench.core.foreign import full_schema

T = TypeVar("T")


class Color(Enum):
    """A colour of the set."""

    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    """A place."""

    x: int = Field(ge=0)
    y: int = 0


@dataclass
class Size:
    width: float
    depth: Annotated[float, Field(le=math.inf)] = 1.0


class Label(TypedDict):
    text: str


class Box(BaseModel, Generic[T]):
    inner: T


class Cat(BaseModel):
    pet: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    pet: Literal["dog"]
    chases: Cat | None = None


class Tree(BaseModel):
    """A tree."""

    value: int = 0
    branches: "list[Tree]" = []


class Chain(Action):
    link: int
    rest: "Chain | None" = None


class Everything(Action):
    """All that pydantic can say."""

    number: int = Field(ge=1, lt=10, multiple_of=3)
    word: str = Field("abc", min_length=2, max_length=9, pattern="^a")
    when: Annotated[str, Field(json_schema_extra={"format": "date-time"})] = "now"
    fixed: Literal["only"] = "only"
    one_of: Literal["a", "b"] = "a"
    color: Color = Field(Color.RED, description="The colour of it.")
    either: int | str = 0
    unset: Annotated[int, Field(ge=0)] | None = Field(None, description="May be left out.")
    wide: int | str | None = None
    nullable: int | None = Field(...)
    point: Point
    size: Size = Size(2.0)
    label: Label = Field({"text": "x"})
    counts: dict[str, Annotated[int, Field(ge=1)]] = Field({})
    pair: tuple[int, str] = (1, "a")
    unique: set[int] = Field(set())
    boxed: Box[int] = Box[int](inner=1)
    animal: Cat | Dog | None = Field(None, discriminator="pet")
    tree: Tree = Tree()


@pytest.fixture(scope="module")
def schema():
    return Everything.to_mcp_schema()


@pytest.fixture(scope="module")
def fields(schema):
    return schema["properties"]


class TestWhatIsKept:
    def test_constraints(self, fields):
        """Limits, lengths, patterns and formats reach the model that is asked."""
        assert fields["number"] == {
            "type": "integer",
            "minimum": 1,
            "exclusiveMaximum": 10,
            "multipleOf": 3,
        }
        assert fields["word"] == {
            "type": "string",
            "default": "abc",
            "minLength": 2,
            "maxLength": 9,
            "pattern": "^a",
        }
        assert fields["when"]["format"] == "date-time"

    def test_what_is_fixed_and_what_is_listed(self, fields):
        """Consts, literals and enums stay what they are, with their defaults."""
        assert fields["fixed"] == {"type": "string", "const": "only", "default": "only"}
        assert fields["one_of"]["enum"] == ["a", "b"]
        assert fields["color"]["enum"] == ["red", "blue"]
        assert fields["color"]["default"] == "red"

    def test_every_branch_of_a_union(self, fields):
        """No branch is dropped: the reference keeps the first only."""
        assert fields["either"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
        assert fields["wide"] == {"anyOf": [{"type": "integer"}, {"type": "string"}]}

    def test_structure(self, fields):
        """Nested models, dataclasses, typed dicts, maps, tuples and sets are written out."""
        assert fields["point"]["properties"]["x"] == {"type": "integer", "minimum": 0}
        assert fields["size"]["required"] == ["width"]
        assert fields["label"]["properties"] == {"text": {"type": "string"}}
        assert fields["counts"]["additionalProperties"] == {
            "type": "integer",
            "minimum": 1,
        }
        assert fields["pair"]["prefixItems"] == [
            {"type": "integer"},
            {"type": "string"},
        ]
        assert fields["unique"]["uniqueItems"] is True
        assert fields["boxed"]["properties"]["inner"] == {"type": "integer"}

    def test_what_the_field_and_its_type_say(self, fields):
        """Two descriptions become one, the field's first."""
        assert fields["color"]["description"] == "The colour of it.\nA colour of the set."
        assert fields["point"]["description"] == "A place."

    def test_a_nullable_that_must_be_given(self, schema, fields):
        """Null is dropped only where leaving the field out means the same."""
        assert "nullable" in schema["required"]
        assert fields["nullable"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]

    def test_the_discriminator(self, fields):
        """Its property is named; the mapping into definitions that went away is not."""
        assert fields["animal"]["discriminator"] == {"propertyName": "pet"}
        assert [b["properties"]["pet"]["const"] for b in fields["animal"]["oneOf"]] == [
            "cat",
            "dog",
        ]

    def test_titles_people_chose(self):
        """A title somebody wrote is no noise."""

        class Titled(Action):
            a: int = Field(title="The A")

        assert Titled.to_mcp_schema()["properties"]["a"]["title"] == "The A"


class TestWhatIsTakenOut:
    def test_made_up_titles(self, schema):
        """No title pydantic invented is left, of fields, models, enums, dataclasses or generics."""
        assert '"title"' not in json.dumps(schema)

    def test_the_null_of_an_unset_optional(self, fields):
        """An optional reads as what it is when it is there."""
        assert fields["unset"] == {
            "type": "integer",
            "minimum": 0,
            "description": "May be left out.",
        }

    def test_the_null_of_an_unset_choice(self):
        """One among constants is a null branch too; one that is a choice stays."""

        class Choosing(Action):
            unset: Literal["a", 2, None] = None
            chosen: Literal["a", None] = "a"
            needed: Literal["a", None]

        schema = Choosing.to_mcp_schema()["properties"]
        assert schema["unset"] == {"enum": ["a", 2]}
        assert schema["chosen"] == {"enum": ["a", None], "default": "a"}
        assert schema["needed"] == {"enum": ["a", None]}

    def test_nothing_of_what_is_no_schema(self):
        """Keywords of others are copied word for word, whatever they look like."""
        looks = {"anyOf": [{"type": "null"}, {"type": "string"}], "default": None}
        extra = {
            "x-form": {
                "properties": {"q": looks},
            },
            "ui": {"properties": {"q": looks}},
            "examples": [{"properties": {"q": looks}}],
        }

        class Noted(Action):
            model_config = ConfigDict(json_schema_extra=extra)

            a: int = Field(1, json_schema_extra={"x-q": {"properties": {"q": looks}}})

        schema = Noted.to_mcp_schema()
        assert {key: schema[key] for key in extra} == extra
        assert schema["properties"]["a"]["x-q"] == {"properties": {"q": looks}}

    def test_made_up_titles_of_classes_of_one_name(self):
        """Definitions whose names pydantic had to lengthen lose their titles too."""

        def another():
            class Point(BaseModel):
                z: int

            return Point

        class Two(Action):
            a: Point
            b: another()

        assert '"title"' not in json.dumps(Two.to_mcp_schema())

    def test_what_json_cannot_say(self):
        """Infinite limits and defaults without a JSON form are left out, without a warning."""

        class Odd(Action):
            far: float = math.inf
            below: float = Field(0.0, lt=math.inf, ge=-math.inf)
            thing: Any = object()

        fields = Odd.to_mcp_schema()["properties"]
        json.dumps(fields, allow_nan=False)
        assert fields["below"] == {"type": "number", "default": 0.0}
        assert "default" not in {**fields["far"], **fields["thing"]}


class TestDefinitions:
    def test_stay_only_where_recursion_needs_them(self, schema):
        """What refers to itself stays a definition; all else stands in its place."""
        assert list(schema["$defs"]) == ["Tree"]
        assert schema["properties"]["tree"]["$ref"] == "#/$defs/Tree"

    def test_of_an_action_that_holds_itself(self):
        """The top of a recursive schema is an object as any other: MCP asks for that."""
        schema = Chain.to_mcp_schema()
        assert schema["type"] == "object"
        assert schema["properties"]["rest"] == {"$ref": "#/$defs/Chain"}
        assert judge(schema).is_valid({"link": 1, "rest": {"link": 2, "rest": {"link": 3}}})
        assert not judge(schema).is_valid({"link": 1, "rest": {"link": "x"}})

    def test_a_limit_beside_a_reference_still_holds(self):
        """A constraint next to a `$ref` is put beside the definition, not over it."""

        class Limited(Action):
            inner: Annotated[Point, Field(json_schema_extra={"minProperties": 2})]

        schema = Limited.to_mcp_schema()
        assert not judge(schema).is_valid({"inner": {"x": 1}})
        assert judge(schema).is_valid({"inner": {"x": 1, "y": 2}})

    def test_are_shared_when_inlining_would_explode(self):
        """Definitions that use each other twice, twenty deep, are not written out a million times."""
        deepest: Any = Point
        for depth in range(20):
            namespace = {"__annotations__": {"a": deepest, "b": deepest}}
            deepest = type(f"Level{depth}", (BaseModel,), namespace)
        wide = type("Wide", (Action,), {"__annotations__": {"top": deepest}})
        schema = wide.to_mcp_schema()
        assert len(json.dumps(schema)) < 10_000
        assert schema["type"] == "object"

    def test_property_names_that_look_like_keywords(self):
        """Arguments called default, enum, properties or $defs are arguments."""

        class Names(Action):
            default: Point
            enum: Point
            properties: Point
            discriminator: Point

        fields = Names.to_mcp_schema()["properties"]
        assert len({json.dumps(field) for field in fields.values()}) == 1
        assert fields["enum"]["properties"]["x"] == {"type": "integer", "minimum": 0}


class TestFullSchema:
    def test_says_that_null_is_accepted(self):
        """A form needs to know of null, which a model need not send."""
        assert {"type": "null"} in full_schema(Everything)["properties"]["unset"]["anyOf"]

    def test_is_worked_out_once(self):
        """Asking again is free."""
        assert full_schema(Everything) is full_schema(Everything)


NUMBERS = st.sampled_from([-1, 0, 1, 3, 6, 9, 10])
DRAWN = {
    "number": NUMBERS,
    "word": st.sampled_from(["a", "ab", "abc", "b", "abcdefghijk"]),
    "fixed": st.sampled_from(["only", "other"]),
    "one_of": st.sampled_from(["a", "b", "c"]),
    "color": st.sampled_from(["red", "blue", "RED"]),
    "either": st.sampled_from([1, "x", [], None]),
    "unset": st.sampled_from([-1, 0, 5, "x"]),
    "wide": st.sampled_from([1, "x", []]),
    "nullable": st.sampled_from([1, None, "x"]),
    "point": st.fixed_dictionaries({"x": NUMBERS}, optional={"y": NUMBERS}),
    "size": st.fixed_dictionaries({"width": NUMBERS}, optional={"depth": NUMBERS}),
    "label": st.sampled_from([{"text": "t"}, {}, {"text": 1}]),
    "counts": st.dictionaries(st.sampled_from("ab"), NUMBERS, max_size=2),
    "pair": st.sampled_from([[1, "a"], [1], ["a", 1], [1, "a", 2]]),
    "unique": st.sampled_from([[], [1, 2], ["x"]]),
    "boxed": st.sampled_from([{"inner": 1}, {"inner": "x"}, {}]),
    "animal": st.sampled_from(
        [{"pet": "cat"}, {"pet": "dog", "chases": {"pet": "cat"}}, {"pet": "cow"}]
    ),
    "tree": st.sampled_from([{}, {"branches": [{"value": 1}]}, {"branches": [1]}]),
}
REQUIRED = {name: DRAWN[name] for name in ("number", "nullable", "point")}


class TestTheTwoSides:
    @given(
        st.fixed_dictionaries(
            REQUIRED, optional={n: s for n, s in DRAWN.items() if n not in REQUIRED}
        )
    )
    def test_what_the_schema_accepts_the_action_accepts(self, arguments):
        """A model that follows the schema is never told that its arguments do not fit."""
        if judge(Everything.to_mcp_schema()).is_valid(arguments):
            action = Everything.model_validate(arguments)
            assert Everything.model_validate(action.to_arguments()) == action

    @given(st.sampled_from(sorted(DRAWN)), st.data())
    def test_what_the_action_refuses_the_schema_refuses(self, name, data):
        """Field by field, the schema lets nothing through that the action would not take."""
        value = data.draw(DRAWN[name])
        hint = Everything.model_fields[name]
        arguments = {"number": 3, "nullable": 1, "point": {"x": 1}, name: value}
        try:
            Everything.model_validate(arguments)
        except ValidationError:
            assert not judge(Everything.to_mcp_schema()).is_valid(arguments), hint

    def test_adapters_agree_on_the_default(self):
        """Every default that is told is one that would be accepted."""
        properties = Everything.to_mcp_schema()["properties"]
        defaults = {n: p["default"] for n, p in properties.items() if "default" in p}
        assert defaults
        for name, default in defaults.items():
            kind = TypeAdapter(Everything.model_fields[name].rebuild_annotation())
            assert kind.dump_python(kind.validate_python(default), mode="json") == default
