from dataclasses import dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Optional

import pytest
from pydantic import BaseModel, Field

from test_core import postponed
from toolbench import Observation, tool
from toolbench.errors import ArgumentsError, RegistrationError


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    y: int = 0


@dataclass
class Size:
    width: float
    depth: float = 1.0


class Pair(NamedTuple):
    left: int
    right: str


class Counted(Observation):
    count: int


def fields(definition):
    return definition.to_mcp_tool()["inputSchema"]["properties"]


class TestWhatAFunctionSays:
    def test_makes_the_tool(self):
        """Name, description, arguments and defaults are those of the function."""

        @tool
        def add(a: int, b: int = 2) -> int:
            """Add two numbers.

            Args:
                a: The first.
                b: The other.

            Returns:
                The sum.
            """
            return a + b

        chat = add.to_openai_tool()["function"]
        assert (chat["name"], chat["description"]) == (
            "add",
            "Add two numbers.\n\nReturns: The sum.",
        )
        assert chat["parameters"] == {
            "type": "object",
            "additionalProperties": False,
            "required": ["a"],
            "properties": {
                "a": {"type": "integer", "description": "The first."},
                "b": {"type": "integer", "default": 2, "description": "The other."},
            },
        }
        assert add({"a": 1}).result == 3
        assert add(add.action_type(a=5)).text == "7"

    def test_can_be_said_otherwise(self):
        """Names, texts and hints may be given; a hint that is not given is not declared."""

        @tool(
            name="erase",
            title="Erase it",
            description="Gone for good.",
            destructive=True,
            open_world=False,
            idempotent=True,
        )
        def _erase(path: str):
            """Not this."""

        assert _erase.name == "erase"
        assert (_erase.title, _erase.description) == ("Erase it", "Gone for good.")
        hints = _erase.annotations
        assert (hints.destructiveHint, hints.openWorldHint, hints.idempotentHint) == (
            True,
            False,
            True,
        )
        plain = tool(read_only=True)(postponed.greet).annotations
        assert plain.readOnlyHint
        assert plain.model_fields_set == {"readOnlyHint"}

    def test_cannot_both_spare_and_destroy(self):
        """What contradicts itself is refused when it is said."""
        with pytest.raises(RegistrationError, match="set read_only or destructive"):
            tool(read_only=True, destructive=True)
        assert tool(read_only=True, destructive=False)(postponed.greet).hints.readOnlyHint

    def test_names_the_classes(self):
        """The action class is named after the tool, however that is spelled."""
        assert tool(name="get-HTTP_data")(lambda: 0).action_type.__name__ == "GetHTTPDataAction"


class TestTypes:
    def test_of_every_kind_become_schema_and_value(self):
        """Models, dataclasses, enums, literals, tuples, dates and paths arrive as such."""

        @tool
        def take(
            point: Point,
            sizes: list[Size],
            color: Color,
            mode: Literal["a", "b"],
            pair: Pair,
            day: date,
            where: Path = Path(),
            table: dict[str, Annotated[int, Field(ge=1)]] = {},  # noqa: B006
            maybe: Optional[Point] = None,  # noqa: UP045
        ):
            return [point, sizes, color, mode, pair, day, where, table, maybe]

        observation = take(
            {
                "point": {"x": 1},
                "sizes": [{"width": 2}],
                "color": "blue",
                "mode": "b",
                "pair": [1, "r"],
                "day": "2026-11-21",
                "table": {"k": 1},
            }
        )
        assert observation.result == [
            Point(x=1), [Size(2.0)], Color.BLUE, "b", Pair(1, "r"), date(2026, 11, 21), Path(), {"k": 1}, None,
        ]  # fmt: skip
        assert fields(take)["color"]["enum"] == ["red", "blue"]
        assert fields(take)["table"]["additionalProperties"]["minimum"] == 1
        assert fields(take)["maybe"]["type"] == "object"

    def test_without_annotations_take_anything(self):
        """An untyped parameter is any JSON."""
        assert tool(name="t")(lambda x: x)({"x": [1, "a"]}).result == [1, "a"]

    def test_that_default_to_none_take_none(self):
        """`x: int = None` means what it meant before there was Optional."""

        def limit(n: int = None, m: Annotated[int, Field(ge=1)] = None, o: Any = None):  # noqa: RUF013
            return n, m, o

        definition = tool(limit)
        assert definition({"n": None, "m": None}).result == (None, None, None)
        assert fields(definition)["n"] == {"type": "integer"}
        assert fields(definition)["m"] == {"type": "integer", "minimum": 1}
        with pytest.raises(ArgumentsError):
            definition({"m": 0})

    def test_say_more_with_field(self):
        """`Annotated[..., Field]` and `= Field(...)` are kept; the docstring fills the gaps."""

        def take(
            a: Annotated[int, Field(ge=1, description="Own.")],
            b: Annotated[int, Field(le=9)] = 3,
            c: int = Field(4, gt=0),
            d: int = Field(5, description="Of the field."),
        ):
            """Take.

            Args:
                a: Not this.
                b: Of b.
                c: Of c.
                d: Not this.
            """
            return a + b + c + d

        definition = tool(take)
        assert [field["description"] for field in fields(definition).values()] == [
            "Own.",
            "Of b.",
            "Of c.",
            "Of the field.",
        ]
        assert fields(definition)["c"] == {
            "type": "integer",
            "default": 4,
            "exclusiveMinimum": 0,
            "description": "Of c.",
        }
        assert definition({"a": 1}).result == 13

    def test_may_be_postponed(self):
        """`from __future__ import annotations` changes nothing."""
        assert postponed.greet_tool({"who": {"name": "you"}, "times": 2}).text == "you you"

    def test_of_the_result_may_be_an_observation(self):
        """A function that says it returns an observation returns that one."""

        @tool
        def count(text: str) -> Counted:
            return {"count": len(text)}

        assert count({"text": "abc"}) == Counted(count=3)
        assert count.to_mcp_tool()["outputSchema"]["properties"]["count"] == {"type": "integer"}


class TestNames:
    def test_may_be_any(self):
        """Parameters may be called what pydantic or we call something else."""

        @tool
        def take(
            schema,
            copy,
            json,
            kind,
            model_config,
            self,
            cls,
            _x,
            dict,
            to_dict,
            x,
            visualize,
        ):
            return (
                schema,
                copy,
                json,
                kind,
                model_config,
                self,
                cls,
                _x,
                dict,
                to_dict,
                x,
                visualize,
            )

        names = [
            "schema",
            "copy",
            "json",
            "kind",
            "model_config",
            "self",
            "cls",
            "_x",
            "dict",
        ]
        names += ["to_dict", "x", "visualize"]
        arguments = {name: n for n, name in enumerate(names)}
        assert list(fields(take)) == names
        assert take(arguments).result == tuple(range(12))
        assert take.action_type.model_validate(arguments).to_arguments() == arguments

    def test_of_fields_with_defaults_of_their_own(self):
        """An odd name and a `Field(...)` default go together."""

        @tool
        def take(json: int = Field(3, ge=2, description="J.")):
            return json

        assert fields(take) == {
            "json": {"type": "integer", "default": 3, "minimum": 2, "description": "J."}
        }
        assert take({"json": 5}).result == 5

    def test_called_conversation_is_not_the_model_s(self):
        """The conversation is handed in, not asked for."""

        @tool
        def say(text: str, conversation=None):
            return f"{text} {conversation}"

        assert list(fields(say)) == ["text"]
        assert say({"text": "a"}, "talk").text == "a talk"
