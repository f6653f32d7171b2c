from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal
from uuid import UUID

import pytest
from pydantic import (
    AfterValidator,
    AnyUrl,
    BaseModel,
    Discriminator,
    Field,
    Json,
    Tag,
    ValidationError,
    create_model,
)

from toolbench import Action, ToolDefinition
from toolbench.errors import ArgumentsError, Problem, SchemaError
from toolbench.jsonschema.problems import pydantic_problems
from toolbench.jsonschema.validate import SchemaValidator, validator_of
from toolbench.values import clip


class Status(Enum):
    OPEN = "open"
    DONE = "done"


OldStatus = Enum("OldStatus", {"DONE": "done"})


def problems(schema, value):
    return [(p.where, p.message) for p in SchemaValidator(schema).problems(value)]


def properties(**fields):
    return {"type": "object", "properties": fields}


class TestForeignProblems:
    @pytest.mark.parametrize(
        ("schema", "value", "message"),
        [
            ({"type": "integer"}, "x", 'should be an integer, not "x"'),
            ({"type": ["string", "null"]}, 1, "should be null or a string, not 1"),
            ({"enum": ["a", 2]}, "b", 'should be one of ["a", 2], not "b"'),
            (
                {"enum": ["done", 2]},
                "Done",
                'should be one of ["done", 2], not "Done". Did you mean \'done\'?',
            ),
            ({"const": {"a": 1}}, 2, 'should be {"a": 1}, not 2'),
            ({"minimum": 1}, 0, "should be at least 1"),
            ({"exclusiveMaximum": 1}, 1, "should be less than 1"),
            ({"multipleOf": 3}, 4, "should be a multiple of 3"),
            ({"minLength": 2}, "a", "should have at least 2 characters"),
            ({"pattern": "^a"}, "b", "should match the pattern ^a"),
            ({"maxItems": 1}, [1, 2], "should have at most 1 item"),
            ({"uniqueItems": True}, [1, 1], "should not hold the same item twice"),
            ({"maxProperties": 0}, {"a": 1}, "should have at most 0 keys"),
            (
                {"anyOf": [{"type": "string"}, {"type": "null"}]},
                1,
                "should be a string, not 1",
            ),
            ({"oneOf": [{}, {}]}, 1, "1 fits more than one of the accepted forms"),
            (False, 1, "is not allowed here"),
        ],
        ids=repr,
    )
    def test_are_sentences(self, schema, value, message):
        """Each keyword that fails is said in words, with the value that failed."""
        assert problems({"properties": {"x": schema}}, {"x": value}) == [("x", message)]

    def test_have_paths_as_people_write_them(self):
        """A problem is where the value is, however deep."""
        schema = properties(rows={"items": properties(**{"a b": {"type": "integer"}})})
        assert problems(schema, {"rows": [{}, {"a b": "x"}]}) == [
            ("rows[1].a b", 'should be an integer, not "x"')
        ]

    def test_of_missing_and_unknown_arguments_are_at_their_names(self):
        """What is missing or too much is reported where it is, or should be."""
        schema = {
            **properties(a={}),
            "required": ["a", "b"],
            "additionalProperties": False,
        }
        assert sorted(problems(schema, {"c": 1})) == [
            ("a", "is required"),
            ("b", "is required"),
            ("c", "is an unknown argument; expected: a"),
        ]

    def test_include_what_json_cannot_carry(self):
        """A Python object is a problem of the value, not a crash."""
        validator = SchemaValidator(properties(a={"type": "string", "pattern": "x"}))
        for value in ({"a": object()}, {"a": "\ud800"}):
            assert not validator.is_valid(value)
            assert "cannot be sent as JSON" in validator.problems(value)[0].message

    def test_are_short(self):
        """A megabyte that does not fit is not repeated."""
        [(_, message)] = problems(properties(a={"type": "integer"}), {"a": "x" * 1_000_000})
        assert len(message) < 120


class TestValidators:
    def test_are_shared_by_equal_schemas(self):
        """Compiling costs; the same schema is compiled once."""
        assert validator_of({"minimum": 1}) is validator_of({"minimum": 1})

    def test_are_not_shared_by_schemas_that_only_look_equal(self):
        """`1 == True` in Python, not in JSON."""
        one, true = validator_of({"const": 1}), validator_of({"const": True})
        assert one.is_valid(1) and not one.is_valid(True)
        assert true.is_valid(True) and not true.is_valid(1)

    def test_take_no_schema_that_is_not_json(self):
        """A set is no schema."""
        with pytest.raises(SchemaError, match="The schema is not JSON"):
            validator_of({"enum": {1, 2}})

    def test_are_not_led_astray_by_patterns(self):
        """A pattern made to explode takes no time: the engine is linear where it can be."""
        validator = SchemaValidator({"type": "string", "pattern": "^(a+)+$"})
        assert not validator.is_valid("a" * 50_000 + "b")


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


def odd(value):
    if value % 2 == 0:
        msg = "should be odd"
        raise ValueError(msg)
    return value


class FeedAction(Action):
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = Field([])
    amount: int | float | None = None
    either: Cat | Dog | None = None
    other: Annotated[Annotated[Cat, Tag("c")] | Annotated[Dog, Tag("d")], Discriminator(type)] = (
        Field(None)
    )
    number: Annotated[int, AfterValidator(odd)] = 1
    by_name: dict[str, int] = Field({})


FEED = ToolDefinition(name="feed", action_type=FeedAction)


class TestNativeProblems:
    @pytest.mark.parametrize(
        ("arguments", "where", "words"),
        [
            ({"amount": "x"}, "amount", "should be an integer"),
            ({"pets": [{"kind": "cat"}]}, "pets[0].lives", "is required"),
            (
                {"pets": [{"kind": "cow"}]},
                "pets[0].kind",
                "should be 'cat' or 'dog', not \"cow\"",
            ),
            ({"pets": [{"kind": 1}]}, "pets[0].kind", "'dog', not 1"),
            ({"pets": [{}]}, "pets[0].kind", "is required"),
            ({"pets": [5]}, "pets[0]", "should be an object, not 5"),
            ({"other": {}}, "other", "fits none of the accepted forms"),
            (
                {"either": {"kind": "cat", "lives": "x"}},
                "either.lives",
                "should be an integer",
            ),
            ({"number": 2}, "number", "should be odd"),
            ({"by_name": {"a": "x"}}, "by_name.a", "should be an integer"),
            ({"amuont": 1}, "amuont", "Did you mean 'amount'?"),
            (
                {"zzz": 1},
                "zzz",
                "expected: pets, amount, either, other, number, by_name",
            ),
        ],
        ids=repr,
    )
    def test_are_where_the_value_is(self, arguments, where, words):
        """Paths lead into what was sent; branches of unions and tags are no part of them."""
        problems = [(p.where, p.message) for p in FEED.problems(arguments)]
        assert any(at == where and words in message for at, message in problems), problems
        assert all(at == where or at.startswith(where.partition(".")[0]) for at, _ in problems)

    @pytest.mark.parametrize(
        ("hint", "value", "message"),
        [
            (int, "x", 'should be an integer, not "x"'),
            (int, 1.5, "should be an integer, not 1.5"),
            (int, [], "should be an integer, not []"),
            (float, "abc", 'should be a number, not "abc"'),
            (Decimal, "abc", 'should be a number, not "abc"'),
            (bool, "perhaps", 'should be true or false, not "perhaps"'),
            (str, 5, "should be a string, not 5"),
            (None, 5, "should be null, not 5"),
            (list[int], 5, "should be a list, not 5"),
            (set[int], "x", 'should be a list, not "x"'),
            (dict[str, int], 5, "should be an object, not 5"),
            (Dog, 5, "should be an object, not 5"),
            (date, "x", 'should be a date such as 2024-01-31, not "x"'),
            (
                datetime,
                "x",
                'should be a date and time such as 2024-01-31T09:30:00, not "x"',
            ),
            (time, "x", 'should be a time such as 09:30:00, not "x"'),
            (timedelta, "x", 'should be a duration such as PT1H30M, not "x"'),
            (UUID, "x", 'should be a UUID, not "x"'),
            (AnyUrl, "x", 'should be a URL, not "x"'),
            (Literal["r", "w"], "x", "should be 'r' or 'w', not \"x\""),
            (
                Literal["r", "w"],
                "W",
                "should be 'r' or 'w', not \"W\". Did you mean 'w'?",
            ),
            (
                Status,
                "Status.DONE",
                "should be 'open' or 'done', not \"Status.DONE\". Did you mean 'done'?",
            ),
            (
                Status,
                OldStatus.DONE,
                "should be 'open' or 'done', not \"done\". Did you mean 'done'?",
            ),
            (Status, 5, "should be 'open' or 'done', not 5"),
            (
                date,
                datetime(2026, 9, 1, 10, 30, tzinfo=UTC),
                'should be a date such as 2024-01-31, not "2026-09-01T10:30:00Z"; take its .date()',
            ),
            (
                date,
                "2026-09-01T10:30:00",
                'should be a date such as 2024-01-31, not "2026-09-01T10:30:00"',
            ),
            (Annotated[int, Field(ge=1)], 0, "should be at least 1, not 0"),
            (Annotated[int, Field(lt=1)], 1, "should be less than 1, not 1"),
            (Annotated[float, Field(le=90)], 95, "should be at most 90, not 95"),
            (Annotated[float, Field(ge=0.5)], 0, "should be at least 0.5, not 0"),
            (
                Annotated[int, Field(multiple_of=3)],
                4,
                "should be a multiple of 3, not 4",
            ),
            (
                Annotated[str, Field(min_length=2)],
                "a",
                'should have at least 2 characters, not "a"',
            ),
            (
                Annotated[str, Field(pattern="^a")],
                "b",
                'should match the pattern ^a, not "b"',
            ),
            (
                Json,
                "{bad",
                "is not JSON: key must be a string at line 1 column 2",
            ),
            (
                Annotated[list[int], Field(max_length=1)],
                [1, 2],
                "should have at most 1 item, not [1, 2]",
            ),
        ],
        ids=str,
    )
    def test_are_one_short_sentence(self, hint, value, message):
        """A model reads what should be there and what was: nothing of how it was parsed."""
        action = create_model("OneAction", __base__=Action, x=(hint, ...))
        tool = ToolDefinition(name="one", action_type=action)
        assert tool.problems({"x": value}) == [Problem(("x",), message)]

    def test_are_the_same_however_they_are_asked_for(self):
        """Listing and raising agree."""
        arguments = {"amount": "x", "zzz": 1}
        with pytest.raises(ArgumentsError) as caught:
            FEED.action_from_arguments(arguments)
        assert list(caught.value.problems) == FEED.problems(arguments)

    def test_without_the_value_keep_pydantic_s_path(self):
        """Who cannot say what did not fit gets what pydantic says."""
        with pytest.raises(ValidationError) as caught:
            FeedAction.model_validate({"amount": "x"})
        assert [p.path for p in pydantic_problems(caught.value)] == [
            ("amount", "int"),
            ("amount", "float"),
        ]

    def test_repeat_nothing(self):
        """The same sentence at the same place is said once."""
        problems = FEED.problems({"either": 5})
        assert len(problems) == len(set(problems)) > 0


def test_a_number_that_json_lacks_is_named():
    """The validator takes it for null: the sentence says what it is, and where."""
    numbers = {"items": {"type": "number"}}
    [problem] = validator_of(numbers).problems([1, float("inf")])
    assert problem == Problem((1,), "is inf, and JSON has no such number")


class TestProblem:
    def test_is_a_line(self):
        """A problem of a field names it; one of the whole value does not."""
        assert str(Problem(("a", 0, "b"), "is odd")) == "a[0].b: is odd"
        assert str(Problem((), "is odd")) == "is odd"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": "é"}, '{"a": "é"}'),
        (float("nan"), "NaN"),
        (b"x", "\"b'x'\""),
        ({b"x": 1}, "{b'x': 1}"),
        ("x" * 99, '"' + "x" * 8 + "…"),
    ],
    ids=repr,
)
def test_clip_shows_any_value_in_little_room(value, text):
    """JSON where it can be, cut where it is long."""
    assert clip(value, 10) == text
