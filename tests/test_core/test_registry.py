import warnings
from abc import abstractmethod
from functools import partial

import pytest
from pydantic import ValidationError

from toolbench import (
    Action,
    ConversationState,
    Tool,
    ToolDefinition,
    ToolExecutor,
    ToolRegistry,
    list_registered_tools,
    register_tool,
    resolve_tool,
)
from toolbench.core.declarations import Unusable
from toolbench.core.registry import default_registry, list_usable_tools, resolve_one
from toolbench.core.tool import hooks
from toolbench.errors import RegistrationError, ToolbenchError, ToolNotFoundError


class HelloAction(Action):
    name: str


class HelloExecutor(ToolExecutor):
    def __call__(self, action):
        return f"Hello {action.name}"


class HelloTool(ToolDefinition):
    usable = True

    @classmethod
    def create(cls, conv_state=None, *, greeting="Hello"):
        where = conv_state.workspace.working_dir
        return [
            cls(
                description=f"{greeting} from {where}",
                action_type=HelloAction,
                executor=lambda action: f"{greeting} {action.name}",
            )
        ]

    @classmethod
    def is_usable(cls):
        return cls.usable


def hello(conv_state=None, **params):
    """A factory: called as `create` is."""
    return HelloTool.create(conv_state, **params)


INSTANCE = ToolDefinition(name="hi", action_type=HelloAction, executor=HelloExecutor())


@pytest.fixture
def registry():
    return ToolRegistry()


class TestRegistering:
    def test_an_instance_is_the_tool(self, registry):
        """A tool that was made is resolved as it is, the same each time."""
        registry.register("hi", INSTANCE)
        assert registry.resolve("hi") == registry.resolve(Tool(name="hi")) == [INSTANCE]

    @pytest.mark.parametrize("recipe", [HelloTool, hello, partial(hello), HelloTool.create])
    def test_a_class_or_function_makes_it(self, registry, recipe):
        """A recipe is followed at every resolve, with the parameters of the spec."""
        registry.register("hello", recipe)
        state = ConversationState("/here")
        [tool] = registry.resolve(Tool(name="hello", params={"greeting": "Hey"}), state)
        assert tool.description == "Hey from /here"
        assert tool({"name": "you"}).text == "Hey you"
        assert registry.resolve("hello", state) != [tool]

    @pytest.mark.parametrize("name", ["", "  ", "\n", None, 5])
    def test_needs_a_name(self, registry, name):
        """A blank is no name."""
        with pytest.raises(
            RegistrationError, match=r"name of a registered tool must be a string, not"
        ):
            registry.register(name, INSTANCE)

    def test_refuses_a_tool_that_cannot_run(self, registry):
        """An instance without an executor is refused when it is registered, not when it is run."""
        with pytest.raises(RegistrationError, match=r"'t' has no executor"):
            registry.register("t", ToolDefinition(name="t"))

    def test_refuses_a_class_that_cannot_be_made(self, registry):
        """A class has to say how: in a class method of its own."""

        class Silent(ToolDefinition):
            pass

        class Abstract(ToolDefinition):
            @classmethod
            @abstractmethod
            def create(cls, conv_state=None):
                """To be said."""

        class Forgetful(ToolDefinition):
            def create(self, conv_state=None):
                return [self]

        for cls, message in (
            (Silent, "Silent cannot be registered: it does not define create"),
            (Abstract, "Abstract cannot be registered: it does not define create"),
            (Forgetful, "Forgetful cannot be registered: create.. lacks @classmethod"),
            (
                HelloAction,
                "HelloAction cannot be registered: it is not a ToolDefinition",
            ),
        ):
            with pytest.raises(RegistrationError, match=message):
                registry.register("t", cls)

    @pytest.mark.parametrize(
        "recipe",
        [None, 5, "hello", pytest.param(HelloExecutor(), id="an executor")],
        ids=repr,
    )
    def test_refuses_anything_else(self, registry, recipe):
        """An executor is not a tool either."""
        with pytest.raises(
            RegistrationError, match=r"a tool, a ToolDefinition subclass or a function"
        ):
            registry.register("t", recipe)

    def test_a_mistake_leaves_what_was_there(self, registry):
        """A refused registration changes nothing."""
        registry.register("t", INSTANCE)
        with pytest.raises(RegistrationError):
            registry.register("t", 5)
        assert registry.resolve("t") == [INSTANCE]


def test_each_change_is_told():
    """To the views of what there is."""
    changes = []
    forget = hooks.definitions.listen(lambda: changes.append(1))
    registry = ToolRegistry()
    registry.register("hello", HelloTool)
    registry.unregister("hello")
    registry.clear()
    forget()
    registry.clear()
    assert len(changes) == 3


class TestReplacing:
    def test_warns_and_names_both_places(self, registry):
        """The newest counts; who did not mean it is told where both come from."""
        registry.register("t", INSTANCE)
        other = type("OtherTool", (HelloTool,), {"__module__": "some.plugin"})
        with pytest.warns(
            UserWarning,
            match=r"'t': some.plugin.OtherTool replaces \S*test_registry",
        ):
            registry.register("t", other)
        assert isinstance(registry.resolve("t")[0], other)

    def test_shows_the_line_that_did_it(self, registry):
        """Either way of registering, the warning points at the caller's own line."""

        def other(conv_state):
            return []

        for register in (registry.register, register_tool):
            register("test_line", HelloTool)
            with pytest.warns(UserWarning, match="replaces") as caught:
                register("test_line", other)
            assert [w.filename for w in caught] == [__file__]
        default_registry.unregister("test_line")

    def test_names_who_does_the_work(self, registry):
        """Two plugins may share an action: the warning names the module of each executor."""
        for module in ("plugin.one", "plugin.two"):

            def work(action):
                return ""

            work.__module__, work.__qualname__ = module, "work"
            definition = ToolDefinition(name="t", action_type=HelloAction, executor=work)
            if module == "plugin.one":
                registry.register("t", definition)
        with pytest.warns(
            UserWarning,
            match=r"'t': plugin.two.work replaces plugin.one.work",
        ):
            registry.register("t", definition)

    def test_names_the_arguments_if_the_work_is_the_same(self, registry):
        """One function behind two actions: what differs is named."""
        registry.register("t", ToolDefinition(name="t", executor=print))
        other = ToolDefinition(name="t", action_type=HelloAction, executor=print)
        with pytest.warns(UserWarning, match=r"HelloAction replaces \S*Action"):
            registry.register("t", other)

    def test_by_the_same_cell_is_silent(self, registry):
        """A cell that runs again registers again: that is no clash."""
        cell = """
class CellAction(Action): pass
class CellTool(ToolDefinition):
    @classmethod
    def create(cls, conv_state=None): return [cls(action_type=CellAction)]
registry.register("class", CellTool)
registry.register("instance", ToolDefinition(name="i", action_type=CellAction, executor=print))
registry.register("factory", lambda conv_state: CellTool.create())
"""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                namespace = {**globals(), "registry": registry, "__name__": "notebook"}
                exec(cell, namespace)
        assert registry.recipe("class") is namespace["CellTool"]
        for name in ("class", "instance", "factory"):
            [definition] = registry.resolve(name)
            assert definition.action_type is namespace["CellAction"]

    def test_a_class_defined_again_counts_without_registering(self, registry):
        """Only the class ran again: the registry follows it, and tools made of its action."""
        define = """
class AgainAction(Action): pass
class AgainTool(ToolDefinition):
    number = {number}
    @classmethod
    def create(cls, conv_state=None): return [cls(action_type=AgainAction, executor=print)]
tool = ToolDefinition(name="again", action_type=AgainAction, executor=lambda a: {number})
"""
        cells = [{**globals(), "__name__": "notebook"} for _ in range(2)]
        exec(define.format(number=1), cells[0])
        registry.register("class", cells[0]["AgainTool"])
        registry.register("instance", cells[0]["tool"])
        exec(define.format(number=2), cells[1])
        assert registry.resolve("class")[0].number == 2
        assert registry.resolve("instance") == [cells[1]["tool"]]


class TestResolving:
    def test_unknown_names_have_neighbours(self, registry):
        """The error suggests what was meant, or lists what there is."""
        registry.register("terminal", INSTANCE)
        with pytest.raises(ToolNotFoundError, match=r"'terminl'. Did you mean 'terminal'"):
            registry.resolve("terminl")
        with pytest.raises(ToolNotFoundError, match=r"'zzz'. Registered: terminal."):
            registry.resolve("zzz")

    def test_a_tool_that_is_made_takes_no_parameters(self, registry):
        """Parameters for an instance would be ignored: an error says so."""
        registry.register("hi", INSTANCE)
        with pytest.raises(RegistrationError, match="takes no parameters: leave out x"):
            registry.resolve(Tool(name="hi", params={"x": 1}))

    @pytest.mark.parametrize("name", ["zz", "conv_state"])
    def test_parameters_that_create_does_not_take_are_named(self, registry, name):
        """Wrong use is told apart from a mistake inside `create`."""
        registry.register("hello", HelloTool)
        with pytest.raises(
            RegistrationError, match=rf"'hello' does not take \(conv_state, {name}\): "
        ):
            registry.resolve(Tool(name="hello", params={name: 1}))

        def create(conv_state):
            raise TypeError("a mistake of its own")

        registry.register("broken", create)
        with pytest.raises(TypeError, match="a mistake of its own"):
            registry.resolve("broken")

    @pytest.mark.parametrize(
        "tools", [None, INSTANCE, "tools", [INSTANCE, 5], {INSTANCE}, iter([])]
    )
    def test_a_recipe_makes_a_sequence_of_tools(self, registry, tools):
        """Anything else is the recipe's mistake, shown as it is."""
        registry.register("t", lambda conv_state: tools)
        with pytest.raises(RegistrationError, match=r"'t' must return a sequence of tools, not"):
            registry.resolve("t")

    def test_a_recipe_may_make_none_or_many(self, registry):
        """A tool set makes several; one with nothing to offer makes none."""
        registry.register("set", lambda conv_state, n: (INSTANCE,) * n)
        assert registry.resolve(Tool(name="set", params={"n": 2})) == [
            INSTANCE,
            INSTANCE,
        ]
        assert registry.resolve(Tool(name="set", params={"n": 0})) == []

    def test_a_recipe_always_has_a_state_to_read(self, registry, tmp_path, monkeypatch):
        """Resolved without a conversation, a tool works in the current directory."""
        monkeypatch.chdir(tmp_path)
        registry.register("hello", HelloTool)
        assert registry.resolve("hello")[0].description == f"Hello from {tmp_path}"


class TestUsability:
    def test_tells_what_works_here(self, registry):
        """Classes say whether they work on this machine; what says nothing does."""
        broken = type("BrokenTool", (HelloTool,), {"usable": Unusable("no tmux")})
        for name, recipe in {"a": INSTANCE, "b": broken, "c": hello}.items():
            registry.register(name, recipe)
        assert registry.usable() == ["a", "c"]
        assert not registry.is_usable("b")
        assert str(registry.is_usable("b")) == "no tmux"

    def test_a_tool_that_cannot_tell_is_unusable(self, registry):
        """A check that fails hides no other tool."""

        class FragileTool(HelloTool):
            @classmethod
            def is_usable(cls):
                raise OSError("no disk")

        registry.register("fragile", FragileTool)
        assert registry.usable() == []
        assert str(registry.is_usable("fragile")) == "OSError: no disk"

    def test_is_asked_of_the_newest(self, registry):
        """A class defined again answers for itself, without being registered again."""
        cell = """
class MovedTool(HelloTool):
    @classmethod
    def is_usable(cls): return {usable}
"""
        for usable in (False, True):
            namespace = {**globals(), "__name__": "notebook"}
            exec(cell.format(usable=usable), namespace)
            if not usable:
                registry.register("moved", namespace["MovedTool"])
                assert not registry.is_usable("moved")
        assert registry.is_usable("moved") and registry.usable() == ["moved"]

    def test_of_an_unknown_tool_is_no(self, registry):
        """A question with yes or no is answered for every name; the answer says why not."""
        registry.register("hello", INSTANCE)
        answer = registry.is_usable("helo")
        assert not answer
        assert str(answer) == "No tool is registered as 'helo'. Did you mean 'hello'?"


class TestLooking:
    def test_is_like_a_sorted_set_of_names(self, registry):
        """Names can be listed, counted, looked for and forgotten."""
        for name in ("b", "a"):
            registry.register(name, INSTANCE)
        assert (list(registry), len(registry), "a" in registry) == (["a", "b"], 2, True)
        assert repr(registry) == "ToolRegistry(a, b)"
        registry.unregister("a")
        registry.unregister("a")
        assert list(registry) == ["b"]
        assert registry.recipe("b") is INSTANCE


class TestTheDefaultRegistry:
    @pytest.fixture(autouse=True)
    def tidy(self):
        yield
        for name in ("test_default", "test_set"):
            default_registry.unregister(name)

    def test_is_behind_the_functions(self):
        """The functions of the reference work on one registry for all."""
        register_tool("test_default", INSTANCE)
        assert "test_default" in list_registered_tools()
        assert "test_default" in list_usable_tools()
        assert resolve_tool(Tool(name="test_default")) == [INSTANCE]
        assert resolve_one("test_default") is INSTANCE

    def test_one_is_not_several(self):
        """A set of tools is not the one tool of that name."""
        register_tool("test_set", lambda conv_state: [INSTANCE, INSTANCE])
        with pytest.raises(ToolbenchError, match=r"makes 2 tools \(hi, hi\): pass the one"):
            resolve_one("test_set")


class TestSpec:
    def test_params_may_be_left_out(self):
        """None is no parameters."""
        assert Tool(name="x").params == Tool(name="x", params=None).params == {}

    @pytest.mark.parametrize("name", ["", " "])
    def test_a_blank_is_no_name(self, name):
        """A spec names a tool."""
        with pytest.raises(ValidationError, match=r"needs a name"):
            Tool(name=name)

    def test_is_json(self):
        """A spec is written down and read again."""
        spec = Tool(name="x", params={"a": [1]})
        assert Tool.model_validate_json(spec.model_dump_json()) == spec
