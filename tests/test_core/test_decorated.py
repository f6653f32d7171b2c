import asyncio
import math
from functools import partial, wraps
from typing import Annotated, NotRequired, TypedDict, Unpack

import pytest
import typing_extensions
from pydantic import Field

from test_core import postponed
from toolbench import tool
from toolbench.errors import ArgumentsError, RegistrationError

Size = TypedDict(
    "Size",
    {
        "width": int,
        "from": NotRequired[Annotated[float, Field(ge=0)]],
        "copy": typing_extensions.NotRequired[bool],
    },
)


def fields(definition):
    return definition.to_mcp_tool()["inputSchema"]["properties"]


class TestKindsOfFunctions:
    def test_keyword_arguments_take_the_rest(self):
        """`**kwargs` takes any further argument, and says so in the schema."""

        @tool
        def call(json: str, **kwargs):
            return json, kwargs

        assert call({"json": "a", "json_": 1, "more": [2]}).result == (
            "a",
            {"json_": 1, "more": [2]},
        )
        assert call.to_mcp_tool()["inputSchema"]["additionalProperties"] is True

    @pytest.mark.parametrize(
        "unpack", [Unpack, typing_extensions.Unpack], ids=["typing", "extensions"]
    )
    @pytest.mark.parametrize("table", [Size, postponed.Size], ids=["eager", "postponed"])
    def test_typed_keyword_arguments_are_parameters(self, unpack, table):
        """`**kwargs: Unpack[TypedDict]`: each key is one, and unset ones are not passed on."""

        def draw(name: str, **size):
            """Draw.

            Args:
                name: What.
                width: In pixels.
                **size: The rest.
            """
            return name, size

        draw.__annotations__["size"] = unpack[table]
        definition = tool(draw)
        schema = definition.to_mcp_tool()["inputSchema"]
        assert schema["properties"] == {
            "name": {"description": "What.", "type": "string"},
            "width": {"description": "In pixels.", "type": "integer"},
            "from": {"type": "number", "minimum": 0},
            "copy": {"type": "boolean"},
        }
        assert (schema["required"], schema["additionalProperties"]) == (
            ["name", "width"],
            False,
        )
        arguments = {"name": "a", "width": 1}
        assert definition(arguments).result == ("a", {"width": 1})
        more = {"from": 2.0, "copy": True}
        assert definition({**arguments, **more}).result == ("a", {"width": 1, **more})
        for wrong in ({"from": None}, {"from": -1}, {"height": 1}):
            with pytest.raises(ArgumentsError):
                definition({**arguments, **wrong})

    def test_keyword_arguments_of_no_typed_dict_are_one_sentence(self):
        """What cannot be unpacked is named."""

        def draw(**size):
            """Draw."""

        draw.__annotations__["size"] = Unpack[tuple[int]]
        with pytest.raises(RegistrationError, match="draw: a model cannot send"):
            tool(draw)

    def test_positional_only_arguments_are_passed_by_position(self):
        """A model sends names; the function gets them its way."""

        @tool
        def take(a, b=2, /, c=3, *, d=4):
            return a, b, c, d

        assert take({"a": 1}).result == (1, 2, 3, 4)
        assert take({"a": 0, "c": 9, "d": 8, "b": 7}).result == (0, 7, 9, 8)

    def test_methods_of_objects(self):
        """A bound method is a function like any other."""

        class Counter:
            count = 0

            def add(self, by: int) -> int:
                """Count on."""
                self.count += by
                return self.count

            def __call__(self, by: int):
                """Called."""
                return self.add(by)

            @staticmethod
            def double(n: int):
                return 2 * n

        counter = Counter()
        assert tool(counter.add)({"by": 2}).result == 2
        assert tool(name="counter")(counter)({"by": 3}).result == 5
        assert tool(name="counter")(counter).description == "Called."
        assert tool(Counter.double)({"n": 2}).result == 4

    def test_partials_lambdas_and_builtins(self):
        """What has no name is given one; what has a signature works."""
        by_two = tool(name="by_two")(partial(lambda a, b: a * b, b=2))
        assert by_two({"a": 3}).result == 6
        assert by_two({"a": 3, "b": 3}).result == 9
        assert tool(name="twice")(lambda x: 2 * x)({"x": 2}).result == 4
        assert tool(math.sqrt)({"x": 16}).result == 4.0
        assert tool(math.sqrt).description == "Return the square root of x."

    def test_coroutine_functions(self):
        """An `async def` is a tool as well, for whoever awaits and whoever does not."""

        @tool
        async def wait(n: int):
            """Wait."""
            await asyncio.sleep(0)
            return n

        assert wait({"n": 1}).result == 1
        assert asyncio.run(wait.acall({"n": 2})).result == 2

    def test_wrapped_functions(self):
        """A decorator that wraps properly hides nothing."""

        def logged(function):
            @wraps(function)
            def call(*args, **kwargs):
                return function(*args, **kwargs)

            return call

        @tool
        @logged
        def add(a: int, b: int = 1):
            """Add."""
            return a + b

        assert add({"a": 1}).result == 2
        assert (add.description, list(fields(add))) == ("Add.", ["a", "b"])


class TestOpenEnded:
    def test_arguments_have_their_type(self):
        """`**scores: int` takes any name, and an integer under each."""

        @tool
        def total(start: int, **scores: int) -> str:
            """Adds up."""
            return f"{start} {sorted(scores.items())}"

        schema = total.parameters()
        assert schema["additionalProperties"] == {"type": "integer"}
        assert total({"start": 1, "a": "2"}).text == "1 [('a', 2)]"
        [problem] = total.problems({"start": 1, "b": "x"})
        assert str(problem) == 'b: should be an integer, not "x"'

    def test_of_any_type_are_taken_as_they_come(self):
        """`**more` takes anything."""

        @tool
        def note(**more):
            """Notes."""
            return more

        assert note({"a": [1], "b": "x"}).result == {"a": [1], "b": "x"}


class TestGenerators:
    @pytest.mark.parametrize("mode", ["plain", "async"])
    def test_give_all_they_yield(self, mode):
        """A function that yields is a tool whose result is the list of it."""

        def letters(text: str):
            """Letter by letter."""
            yield from text

        async def letters_later(text: str):
            """Letter by letter."""
            for letter in text:
                yield letter

        definition = tool(letters if mode == "plain" else letters_later)
        assert definition({"text": "abc"}).result == ["a", "b", "c"]


class Unknown:
    pass


class Holder:
    def method(self, a: int):
        pass

    @classmethod
    def make(cls, a: int):
        return a


def starred(*args):
    pass


def unresolved(x: "Nowhere"):  # noqa: F821
    pass


def unknown(x: Unknown):
    pass


def nested(x: list[dict[str, Unknown]]):
    pass


class TestWhatCannotBeATool:
    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (
                starred,
                r"starred: a model sends arguments by name, so \*args gets none",
            ),
            (
                unresolved,
                "unresolved: an annotation cannot be read: .*'Nowhere' is not defined",
            ),
            (unknown, "unknown: a model cannot send these arguments.*Unknown"),
            (nested, "nested: a model cannot send these arguments.*Unknown"),
            (
                Holder.method,
                r"method: Holder.method is not bound .*: tool\(the_object.method\)",
            ),
            (Holder, "made from a function, not <class .*Holder"),
            (5, "made from a function, not 5"),
            (max, "max: a model cannot know which arguments to send"),
            (print, r"print: .*\*args"),
        ],
        ids=lambda value: getattr(value, "__name__", ""),
    )
    def test_says_why(self, function, message):
        """One error, when the tool is made, that says what to do instead."""
        with pytest.raises(RegistrationError, match=message):
            tool(function)

    def test_names_the_method_as_it_is_called(self):
        """The name of the tool is no attribute of the object."""
        with pytest.raises(RegistrationError, match=r"tool\(the_object.method\)"):
            tool(name="other")(Holder.method)

    def test_has_no_name(self):
        """A lambda, a partial or an object is given one."""
        for nameless in (lambda x: x, partial(starred), postponed.Greeter()):
            with pytest.raises(RegistrationError, match=r"no name: give it one with tool\(name="):
                tool(nameless)

    def test_is_not_a_class_method(self):
        """A bound class method is fine."""
        assert tool(Holder.make)({"a": 1}).result == 1


CELL = '''
from __future__ import annotations
from pydantic import BaseModel
from toolbench import tool

class Thing(BaseModel):
    n: int = {n}

@tool
def use(thing: Thing = Thing()) -> int:
    """Use it."""
    return thing.n
'''


def test_in_a_cell_that_runs_again():
    """Classes of the cell are found by their postponed names, the new ones each time."""
    results, tools = [], []
    namespace = {"__name__": "a_notebook"}
    for n in (1, 2):
        exec(CELL.format(n=n), namespace)
        results.append(namespace["use"]({}).result)
        tools.append(namespace["use"])
    assert results == [1, 2]
    assert tools[0].is_stale
    assert tools[0].latest() is tools[1]
