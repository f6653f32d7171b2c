"""A tool is called with an action, a dict or keywords, and is a function where one is wanted."""

import asyncio
import inspect
from typing import get_type_hints

import pytest

from toolbench import Action, Observation, ToolDefinition, ToolExecutor, tool
from toolbench.errors import ArgumentsError


@tool
def split_bill(total: float, people: int = 2) -> float:
    """Split a bill."""
    return total / people


@tool
def play(action: str, conversation_id: int = 0) -> str:
    """Play a move."""
    return action


class Count(Action):
    upto: int


class Counter(ToolExecutor[Count, Observation]):
    def __call__(self, action, conversation=None):
        return Observation.from_text(str(action.upto))


counter = ToolDefinition(name="counter", action_type=Count, executor=Counter())


class TestKeywords:
    def test_are_the_same_call_as_a_dict_and_an_action(self):
        """Three forms, one observation."""
        arguments = {"total": 84, "people": 4}
        observation = split_bill(**arguments)
        assert isinstance(observation, Observation)
        assert observation == split_bill(arguments)
        assert observation == split_bill(split_bill.action_from_arguments(arguments))
        assert asyncio.run(split_bill.acall(**arguments)) == observation

    def test_are_checked(self):
        """What does not fit is refused like a dict that does not."""
        with pytest.raises(ArgumentsError, match="people"):
            split_bill(total=84, people="many")

    def test_may_be_called_action(self):
        """The action of a call is positional only: an argument of that name is free."""
        assert play(action="e4").text == "e4"

    @pytest.mark.parametrize("call", [play, lambda: asyncio.run(play.acall())])
    def test_may_be_none_at_all(self, call):
        """A call without arguments is one with an empty dict of them."""
        with pytest.raises(ArgumentsError, match=r"^play: action: is required$"):
            call()

        @tool
        def find_jobs(limit: int = 20) -> int:
            """Find jobs."""
            return limit

        assert find_jobs() == find_jobs({})
        assert asyncio.run(find_jobs.acall()).text == "20"
        assert find_jobs(conversation=None).text == "20"

    def test_work_with_an_executor(self):
        """Not only tools made of functions take keywords."""
        assert counter(upto=3).text == "3"


class TestFunction:
    def test_is_the_one_the_tool_was_made_of(self):
        """The decorator takes nothing away."""
        assert split_bill.function(84, 4) == 21

    def test_is_missing_where_an_executor_works(self):
        """The error names the executor and what to do."""
        assert not hasattr(counter, "function")
        with pytest.raises(
            AttributeError,
            match=r"from a Counter, not from a function: use to_callable\(\)",
        ):
            counter.function  # noqa: B018 - asking is the test


class TestToCallable:
    def test_has_the_tool_s_signature(self):
        """Libraries that take functions as tools read names, types, defaults, description."""
        function = split_bill.to_callable()
        assert (function.__name__, inspect.getdoc(function)) == (
            "split_bill",
            "Split a bill.",
        )
        parameters = inspect.signature(function).parameters
        assert list(parameters) == ["total", "people"]
        assert parameters["people"].default == 2
        assert parameters["total"].default is inspect.Parameter.empty
        assert get_type_hints(function)["total"] is float

    @pytest.mark.parametrize("made_of", [split_bill, split_bill.set_executor(None)])
    def test_calls_the_tool(self, made_of):
        """It gives the tool's observation, or its error."""
        function = made_of.to_callable()
        if made_of.executor is None:
            with pytest.raises(NotImplementedError):
                function(total=1)
        else:
            assert function(total=84, people=4) == split_bill(total=84, people=4)

    def test_takes_arguments_by_position(self):
        """In the order of the signature, which says which are by keyword only."""

        @tool
        def order(dish: str, /, count: int = 1, *, note: str, arguments: str = "") -> list:
            """Order."""
            return [dish, count, note]

        function = order.to_callable()
        assert function("soup", 2, note="hot") == order(dish="soup", count=2, note="hot")
        assert split_bill.to_callable()(84, 4) == split_bill(total=84, people=4)
        with pytest.raises(TypeError, match="multiple"):
            function("soup", 2, note="x", count=3)

    def test_takes_what_no_parameter_names(self):
        """Under another name, if an argument has that of the rest."""

        @tool
        def count(arguments: str, **counts: int) -> list:
            """Count."""
            return [arguments, counts]

        function = count.to_callable()
        assert list(inspect.signature(function).parameters) == ["arguments", "arguments_"]
        assert function("a", b=1).result == ["a", {"b": 1}]

    def test_of_a_schema_takes_by_keyword_what_follows_a_default(self):
        """Python has no parameter without a default behind one that has."""
        schema = {
            "type": "object",
            "properties": {n: {"type": "integer"} for n in "abc"},
            "required": ["a", "c"],
        }
        action = Action.from_mcp_schema("Abc", schema)
        abc = ToolDefinition(
            name="abc",
            description="",
            action_type=action,
            executor=lambda action: str(action.model_dump(exclude_unset=True)),
        )
        function = abc.to_callable()
        assert function(1, 2, c=3).text == abc(a=1, b=2, c=3).text
        with pytest.raises(TypeError):
            function(1, 2, 3)

    def test_sends_no_default(self):
        """An optional argument that was not given is unset, as in any call."""
        fields_set = counter.set_executor(lambda action: str(sorted(action.model_fields_set)))
        assert fields_set.to_callable()(upto=1).text == "['upto']"
