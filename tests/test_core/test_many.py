"""Tools and classes that a function makes, one with each call, and cells that run again."""

import gc
from types import ModuleType

import pytest

from toolbench import Action, ToolDefinition, tool


def tool_of(number):
    """A tool, its action and its class, all of this call's own."""

    class LocalAction(Action):
        a: int = number

    class LocalTool(ToolDefinition):
        pass

    return LocalTool(name="local", action_type=LocalAction, executor=lambda action: str(action.a))


def decorated(number):
    @tool
    def definition(a: int) -> str:
        """Tells a number."""
        return f"{a} {number}"

    return definition


class TestOfAFunction:
    @pytest.mark.parametrize("make", [tool_of, decorated])
    def test_tools_do_not_replace_each_other(self, make):
        """Two calls make two tools: neither is stale, each is its own latest."""
        one, other = make(1), make(2)
        for definition in (one, other):
            assert not definition.is_stale
            assert definition.latest() is definition
            assert definition.action_type.newest() is definition.action_type

    def test_classes_go_by_their_kind_newest_first(self):
        """A bare name means the one made last; when that is gone, the one before."""
        one, other = tool_of(1), tool_of(2)
        assert Action.resolve_kind("LocalAction") is other.action_type
        assert ToolDefinition.resolve_kind("LocalTool") is type(other)
        del other
        gc.collect()
        assert Action.resolve_kind("LocalAction") is one.action_type

    def test_objects_load_through_their_own_class(self):
        """What a class wrote down it reads again, whatever else has its name."""
        one, other = tool_of(1), tool_of(2)
        for action in (one.action_type(a=5), other.action_type(a=6)):
            assert type(action).from_dict(action.to_dict()) == action
        assert type(Action.from_dict(one.action_type(a=5).to_dict())) is (other.action_type)

    def test_foreign_classes_live_side_by_side(self):
        """A function that makes classes of schemas makes one with each call."""

        def model(kind):
            return Action.from_mcp_schema("Made", {"properties": {"x": {"type": kind}}})

        one, other = model("integer"), model("string")
        assert one.newest() is one and other.newest() is other
        assert one(x=1).x == 1


CELL = """
from toolbench import Action, ToolDefinition
class CellAction(Action):
    number: int = {number}
def make():
    class InnerAction(Action):
        number: int = {number}
    return ToolDefinition(name="inner", action_type=InnerAction, executor=lambda a: "")
def outer(name):
    return ToolDefinition(name="outer", action_type=CellAction, executor=lambda a: name)
foreign = Action.from_mcp_schema("CellForeign", {{"title": "{number}"}})
"""


def run_cell(number):
    namespace = ModuleType("many_cells").__dict__
    exec(CELL.format(number=number), namespace)
    return namespace


class TestOfACellRunAgain:
    def test_functions_leave_their_old_classes_alone(self):
        """The cell redefines the function: what the old one made is still itself."""
        old = run_cell(1)["make"]()
        new = run_cell(2)["make"]()
        assert not old.is_stale and not new.is_stale
        assert old.latest() is old and new.latest() is new
        assert Action.resolve_kind("InnerAction") is new.action_type

    def test_a_tool_of_a_function_never_becomes_its_sibling(self):
        """Its action was defined again, and it is stale; but no other is meant by it."""
        make = run_cell(1)["outer"]
        one, other = make("one"), make("other")
        again = run_cell(2)
        assert one.is_stale and other.is_stale
        assert one.latest() is one and other.latest() is other
        assert again["CellAction"] is one.action_type.newest()

    def test_foreign_classes_are_replaced_as_others_are(self):
        """A class made of a schema at the top of a cell is defined again with the cell."""
        old, new = run_cell(1)["foreign"], run_cell(2)["foreign"]
        assert old.newest() is new
