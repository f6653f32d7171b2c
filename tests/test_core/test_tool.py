import gc
import pickle
from collections.abc import Sequence
from typing import Annotated, ClassVar

import pytest
from pydantic import AfterValidator

from toolbench import (
    Action,
    ExecutableTool,
    Observation,
    ToolAnnotations,
    ToolBase,
    ToolDefinition,
    ToolExecutor,
)
from toolbench.core.builtins import FinishTool
from toolbench.core.declarations import DeclaredResources
from toolbench.core.tool import hooks
from toolbench.errors import ArgumentsError, KindError, Problem, RegistrationError


class AddAction(Action):
    a: int
    b: int = 1


class SumObservation(Observation):
    total: int


class AddExecutor(ToolExecutor[AddAction, SumObservation]):
    def __call__(self, action, conversation=None):
        return SumObservation(total=action.a + action.b)


class AddTool(ToolDefinition[AddAction, SumObservation]):
    """Pattern 2: says how it is made."""

    @classmethod
    def create(cls, conv_state=None, *, by: int = 0) -> Sequence["AddTool"]:
        return [
            cls(
                description=f"Adds {by}.",
                action_type=AddAction,
                observation_type=SumObservation,
                executor=AddExecutor(),
            )
        ]


def make(**fields):
    """Pattern 1: a tool made directly."""
    return ToolDefinition(
        **{
            "name": "add",
            "description": "Adds.",
            "action_type": AddAction,
            "observation_type": SumObservation,
            "executor": AddExecutor(),
            **fields,
        }
    )


class TestPatterns:
    def test_a_tool_is_made_directly(self):
        """Pattern 1: a name, types and an executor are a tool."""
        tool = make()
        assert tool(AddAction(a=2)) == SumObservation(total=3)
        assert isinstance(tool, ToolBase)

    def test_a_tool_is_made_by_its_class(self):
        """Pattern 2: `create` returns a sequence of tools, by state and parameters."""
        [tool] = AddTool.create(by=3)
        assert (tool.name, tool.description) == ("add", "Adds 3.")
        assert tool({"a": 2}).total == 3

    def test_a_direct_tool_may_name_its_types(self):
        """`ToolDefinition[A, O](...)` is `ToolDefinition(...)`."""
        tool = ToolDefinition[AddAction, SumObservation](name="x", action_type=AddAction)
        assert (tool.name, tool.kind) == ("x", "ToolDefinition")

    def test_the_base_is_abstract(self):
        """ToolBase says what every tool is, and is none."""
        with pytest.raises(TypeError, match=r"abstract"):
            ToolBase()

    def test_create_is_the_subclass_s_business(self):
        """A class that does not say how it is made says so when asked."""

        class SilentTool(ToolDefinition):
            pass

        with pytest.raises(NotImplementedError, match=r"SilentTool does not say"):
            SilentTool.create()

    def test_tools_are_frozen(self):
        """A tool does not change; copies do."""
        with pytest.raises(AttributeError):
            make().name = "other"


class TestNames:
    @pytest.mark.parametrize(
        ("cls", "name"),
        [
            ("GrepTool", "grep"),
            ("FileEditorTool", "file_editor"),
            ("XMLHttpTool", "xml_http"),
            ("Terminal", "terminal"),
            ("BrowserToolSet", "browser_tool_set"),
            ("Tool2Tool", "tool2"),
        ],
    )
    def test_come_from_the_class(self, cls, name):
        """Without a name of its own, a class goes by its snake-case one."""
        subclass = type(cls, (ToolDefinition,), {})
        assert subclass.name == subclass().name == name

    def test_may_be_said_by_the_class(self):
        """`name: ClassVar[str]` is the name of the class and of its tools."""

        class NamedTool(ToolDefinition):
            name: ClassVar[str] = "my_name"

        assert NamedTool.name == NamedTool().name == "my_name"

    def test_of_a_tool_go_before_those_of_its_class(self):
        """Who makes a tool may call it otherwise."""
        assert AddTool(name="sum").name == "sum"

    def test_for_people_are_titles(self):
        """The title is the annotations' one, or the name."""
        assert make().title == "add"
        assert make(annotations=ToolAnnotations(title="Add up")).title == "Add up"

    def test_are_names(self):
        """A tool without one cannot be made."""
        for blank in ("", "  ", 5):
            with pytest.raises(RegistrationError, match=r"needs a name"):
                make(name=blank)


class TestMistakes:
    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            (
                {"action_type": dict},
                "action_type must be an Action class, not <class 'dict'>",
            ),
            ({"action_type": AddAction(a=1)}, "action_type must be an Action class"),
            (
                {"observation_type": str},
                "observation_type must be an Observation class",
            ),
            (
                {"observation_type": AddAction},
                "observation_type must be an Observation class",
            ),
            (
                {"executor": AddExecutor},
                r"the executor must be an object: AddExecutor\(...\)",
            ),
            ({"executor": 5}, "the executor must be callable, not 5"),
        ],
        ids=repr,
    )
    def test_are_named_when_the_tool_is_made(self, fields, message):
        """What cannot work is refused at once, with what to do."""
        with pytest.raises(RegistrationError, match=message):
            make(**fields)


class TestAnnotations:
    def test_have_mcp_s_defaults(self):
        """Nothing said means: may change, may destroy, may reach out."""
        hints = ToolAnnotations()
        assert (hints.readOnlyHint, hints.destructiveHint) == (False, True)
        assert (hints.idempotentHint, hints.openWorldHint) == (False, True)
        assert make().hints == hints

    def test_are_frozen(self):
        """Nobody makes a tool harmless afterwards."""
        with pytest.raises(ValueError, match=r"frozen"):
            ToolAnnotations().readOnlyHint = True


class TestExecutable:
    def test_is_what_has_an_executor(self):
        """`as_executable` gives the tool back, for the type checker."""
        tool: ExecutableTool = make().as_executable()
        assert tool(AddAction(a=1)).total == 2

    def test_is_not_what_has_none(self):
        """Without an executor a tool can be shown, not run."""
        tool = make(executor=None)
        for use in (tool.as_executable, lambda: tool(AddAction(a=1))):
            with pytest.raises(NotImplementedError, match=r"'add' has no executor"):
                use()

    def test_set_executor_makes_a_copy(self):
        """The tool that was there stays as it was."""
        bare = make(executor=None)
        done = bare.set_executor(AddExecutor())
        assert bare.executor is None
        assert done(AddAction(a=1)).total == 2
        assert (type(done), done.name) == (type(bare), bare.name)

    def test_copies_keep_their_class(self):
        """A copy of a subclass is one of that subclass."""
        [tool] = AddTool.create()
        copy = tool.model_copy(update={"description": "Other."})
        assert (type(copy), copy.description, tool.description) == (
            AddTool,
            "Other.",
            "Adds 0.",
        )


class TestCalls:
    def test_take_an_action_or_its_arguments(self):
        """A dict becomes the action; a subclass of the action is one."""

        class MoreAction(AddAction):
            pass

        assert [
            make()(arguments).total for arguments in ({"a": 1}, AddAction(a=1), MoreAction(a=1))
        ] == [
            2,
            2,
            2,
        ]

    def test_refuse_another_s_action(self):
        """An action of another tool is a mistake of the caller, not of the tool."""

        class OtherAction(Action):
            a: int

        with pytest.raises(TypeError, match=r"takes an AddAction or a dict .* not an OtherAction"):
            make()(OtherAction(a=1))

    def test_tell_an_action_of_a_class_defined_again(self):
        """After a cell ran again, old actions are refused with the reason."""
        again = type("AddAction", (Action,), {"__annotations__": {"a": int}})
        with pytest.raises(TypeError, match=r"defined again since"):
            make()(again(a=1))

    def test_list_every_argument_that_does_not_fit(self):
        """One error, a line for each."""
        with pytest.raises(ArgumentsError) as caught:
            make()({"a": "x", "c": 1})
        assert [p.where for p in caught.value.problems] == ["a", "c"]
        assert str(caught.value).startswith("add: 2 arguments do not fit:")
        both = ArgumentsError(
            "add", [Problem(("a",), "is no list"), Problem(("a",), "is no number")]
        )
        assert str(both).startswith("add: 1 argument does not fit:")
        many = ArgumentsError("add", [Problem((f"n{n}",), "is unknown") for n in range(1_030)])
        assert str(many).endswith("\n- n19: is unknown\n- and 1,010 more")

    def test_let_what_the_executor_raises_through(self):
        """A failing executor is the caller's to handle; runs make observations of it."""

        def fail(action):
            raise OSError("disk full")

        with pytest.raises(OSError, match=r"disk full"):
            make(executor=fail)({"a": 1})

    def test_make_the_observation_that_was_promised(self):
        """A dict becomes the observation type; one that does not fit is an error."""
        assert make(executor=lambda a: {"total": 9})({"a": 1}) == SumObservation(total=9)
        with pytest.raises(TypeError, match=r"returned a dict that does not fit SumObservation"):
            make(executor=lambda a: {"sum": 9})({"a": 1})

    def test_can_be_watched(self):
        """The layer of runs stands around every call, and can be taken away."""
        names = []

        def around(tool, action, conversation):
            names.append(tool.name)
            return tool.execute(action, conversation)

        hooks.around = around
        try:
            make()({"a": 1})
        finally:
            hooks.around = None
        make()({"a": 1})
        assert names == ["add"]


class TestArguments:
    def test_become_the_action(self):
        """What a model sends is validated into the action type."""
        assert make().action_from_arguments({"a": "2"}) == AddAction(a=2)

    @pytest.mark.parametrize("arguments", [None, [], "x", 5, {"a": None}, {1: 2}])
    def test_that_are_none_are_an_arguments_error(self, arguments):
        """Whatever comes in place of arguments, the error is the same."""
        with pytest.raises(ArgumentsError):
            make().action_from_arguments(arguments)

    def test_problems_are_listed_without_raising(self):
        """A form asks what is wrong, and gets a list."""
        assert make().problems({"a": 1}) == []
        [problem] = make().problems({"a": 1, "bb": 2})
        assert (problem.path, "Did you mean 'b'" in problem.message) == (("bb",), True)

    def test_a_check_that_breaks_is_a_problem(self):
        """What a validator of the tool's own raises by mistake is told like a misfit."""

        class InverseAction(Action):
            x: Annotated[int, AfterValidator(lambda x: 1 // x)]

        [problem] = make(action_type=InverseAction).problems({"x": 0})
        assert problem.path == ()
        assert "ZeroDivisionError: " in problem.message


class TestDumping:
    def test_writes_down_what_a_tool_is(self):
        """Everything but the executor goes through JSON and back."""
        hints = ToolAnnotations(title="Add", readOnlyHint=True)
        tool = make(annotations=hints, meta={"v": 1})
        again = ToolBase.resolve_kind("ToolDefinition").from_dict(tool.to_dict())
        assert again.to_dict() == tool.to_dict()
        assert (again.action_type, again.observation_type) == (
            AddAction,
            SumObservation,
        )
        assert (again.annotations, again.meta) == (hints, {"v": 1})
        assert again.annotations.model_fields_set == {"title", "readOnlyHint"}
        assert again.executor is None

    def test_keeps_the_class(self):
        """A tool of a subclass is loaded as one, whoever is asked."""
        [tool] = AddTool.create()
        assert type(ToolDefinition.from_dict(tool.to_dict())) is AddTool

    def test_of_an_unknown_kind_is_an_error(self):
        """There is no other class to fall back to."""
        with pytest.raises(KindError):
            ToolDefinition.from_dict({**make().to_dict(), "kind": "NoSuchTool"})

    def test_pickles_for_other_processes(self):
        """A tool of importable parts travels, and works there."""
        assert pickle.loads(pickle.dumps(make()))({"a": 1}).total == 2
        [finish] = FinishTool.create()
        assert pickle.loads(pickle.dumps(finish))({"message": "x"}).text == "x"


CELL = """
from toolbench import Action, ToolDefinition
class CellAction(Action):
    a: int
tool = ToolDefinition(name="cell", action_type=CellAction, executor=lambda action: {number})
"""


class TestInANotebook:
    def run(self, number):
        namespace = {"__name__": "the_notebook"}
        exec(CELL.format(number=number), namespace)
        return namespace["tool"]

    def test_a_tool_is_stale_when_its_classes_were_defined_again(self):
        """After the cell ran again, the old tool knows, and knows the new one."""
        old = self.run(1)
        assert not old.is_stale
        new = self.run(2)
        assert old.is_stale and not new.is_stale
        assert old.latest() is new.latest() is new

    def test_a_tool_without_an_executor_replaces_none(self):
        """The newest tool is one that can be called."""
        old = self.run(1)
        new = self.run(2)
        bare = new.set_executor(None)
        assert bare.executor is None and old.latest() is new

    def test_a_tool_nobody_made_again_stays(self):
        """Stale or not, it is the latest there is."""
        old = self.run(1)
        new = self.run(2)
        del new
        gc.collect()
        assert old.latest() is old


class TestResources:
    def test_nothing_is_declared_by_default(self):
        """Who has not thought about it says so, as the reference does."""
        assert make().declared_resources(AddAction(a=1)) == DeclaredResources((), declared=False)
