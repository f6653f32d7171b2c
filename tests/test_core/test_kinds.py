import gc
from types import ModuleType

import pytest

from toolbench import Action, Observation, Schema, ToolDefinition
from toolbench.core.kinds import Kinds
from toolbench.errors import KindError


def make(name, module="a.module", place=None):
    return type(name, (), {"__module__": module, "__qualname__": place or name})


@pytest.fixture
def kinds():
    return Kinds("thing")


class TestResolve:
    def test_finds_by_the_bare_name(self, kinds):
        """A class goes by its name alone."""
        kinds.add(cup := make("Cup"))
        assert kinds.resolve("Cup") is cup

    def test_finds_by_the_whole_name(self, kinds):
        """A class goes by its module and qualified name too."""
        kinds.add(cup := make("Cup", "a.b", "outer.<locals>.Cup"))
        assert kinds.resolve("a.b.outer.<locals>.Cup") is cup

    def test_a_class_defined_again_takes_the_place_of_the_old(self, kinds):
        """Of two classes of one module and name, the newest is meant."""
        kinds.add(old := make("Cup"))
        kinds.add(new := make("Cup"))
        assert kinds.resolve("Cup") is new
        assert kinds.newest(old) is kinds.newest(new) is new

    def test_functions_of_one_module_may_define_classes_of_one_name(self, kinds):
        """The newest is meant, and when it is gone the other is; both are known by place."""
        kinds.add(first := make("Cup", place="f.<locals>.Cup"))
        kinds.add(second := make("Cup", place="g.<locals>.Cup"))
        assert kinds.resolve("Cup") is second
        assert kinds.resolve("a.module.f.<locals>.Cup") is first
        assert kinds.newest(first) is first
        del second
        gc.collect()
        assert kinds.resolve("Cup") is first

    def test_two_modules_quarrel_only_when_asked(self, kinds):
        """One name in two modules is an error for that bare name, and says what to ask for."""
        kinds.add(one := make("Cup", "a"))
        kinds.add(make("Plate", "a"))
        kinds.add(other := make("Cup", "b"))
        with pytest.raises(KindError, match=r"used by a.Cup and b.Cup"):
            kinds.resolve("Cup")
        assert kinds.resolve("a.Cup") is one
        assert kinds.resolve("b.Cup") is other
        assert kinds.resolve("Plate").__module__ == "a"

    def test_unknown_ones_have_neighbours(self, kinds):
        """An unknown kind is an error that names the nearest known ones."""
        kinds.add(cup := make("Cup"))
        with pytest.raises(KindError, match=r"No thing of kind 'Cop'. Did you mean 'Cup'"):
            kinds.resolve("Cop")
        assert cup

    def test_forgets_what_nobody_uses(self, kinds):
        """A class that is gone is not found, and not suggested."""
        kinds.add(make("Cup"))
        gc.collect()
        with pytest.raises(KindError) as caught:
            kinds.resolve("Cup")
        assert "mean" not in str(caught.value)


CELL = """
from toolbench import Action, ToolDefinition
class {name}Action(Action):
    {field}: int
class {name}Tool(ToolDefinition):
    pass
"""


def run_cell(name, field, module="cell"):
    """Run a cell in a module of its own, as a notebook would in `__main__`."""
    namespace = ModuleType(module).__dict__
    exec(CELL.format(name=name, field=field), namespace)
    return namespace[f"{name}Action"], namespace[f"{name}Tool"]


class TestInANotebook:
    def test_a_cell_run_again_replaces_its_classes(self):
        """After the cell ran again, its kinds mean the new classes; nothing else changed."""
        old_action, old_tool = run_cell("Rerun", "a")
        new_action, new_tool = run_cell("Rerun", "b")
        assert Action.resolve_kind("RerunAction") is new_action
        assert ToolDefinition.resolve_kind("RerunTool") is new_tool
        assert old_action.newest() is new_action
        assert old_tool.newest() is new_tool
        assert Action.from_dict({"kind": "RerunAction", "b": 1}).b == 1

    def test_other_kinds_are_none_the_worse(self):
        """A name used twice poisons no other name: the reference refuses every one of them."""
        both = run_cell("Twice", "a", "one"), run_cell("Twice", "a", "two")
        fine, _ = run_cell("Fine", "a")
        with pytest.raises(KindError, match=r"one.TwiceAction and two.TwiceAction"):
            Action.resolve_kind("TwiceAction")
        assert Action.resolve_kind("FineAction") is fine
        assert Action.resolve_kind("two.TwiceAction") is both[1][0]

    def test_an_object_of_a_shared_name_loads_through_its_own_class(self):
        """Who knows the class needs no bare name."""
        (one, _), _two = run_cell("Shared", "a", "one"), run_cell("Shared", "a", "two")
        assert one.from_dict(one(a=1).to_dict()) == one(a=1)

    def test_a_thousand_classes_are_found_as_fast_as_one(self):
        """No class is walked over to find another: a thousand more cost no more look-ups."""
        many = [run_cell(f"Many{n}", "a") for n in range(50)]
        assert all(Action.resolve_kind(a.__name__) is a for a, _ in many)


class TestFamilies:
    def test_keep_to_themselves(self):
        """An Action is no Observation, even by kind."""

        class FamilyAction(Action):
            pass

        assert Schema.resolve_kind("FamilyAction") is FamilyAction
        with pytest.raises(KindError, match=r"is an Action, not an Observation"):
            Observation.resolve_kind("FamilyAction")

    def test_of_tools_ignore_type_parameters(self):
        """`ToolDefinition[A, B]` is how the reference writes a tool's kind."""
        assert ToolDefinition.resolve_kind("ToolDefinition[A, B]") is ToolDefinition

    def test_of_tools_know_what_they_are(self):
        """A kind of tool that is no kind of this class is refused."""

        class OneTool(ToolDefinition):
            pass

        class OtherTool(ToolDefinition):
            pass

        with pytest.raises(KindError, match=r"is not a OneTool"):
            OneTool.resolve_kind("OtherTool")
        assert ToolDefinition.resolve_kind("OtherTool") is OtherTool
