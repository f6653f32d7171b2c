import re
from functools import cached_property
from typing import ClassVar

import pytest
from pydantic import create_model

from toolbench import Action, Observation, ToolAnnotations, ToolDefinition
from toolbench.errors import KindError, RegistrationError


class SayAction(Action):
    text: str = ""


class SayObservation(Observation):
    size: int = 0


class SayTool(ToolDefinition):
    """Says everything of its tools in the class, and nothing in `create`."""

    description: ClassVar[str] = "Says it."
    action_type: ClassVar = SayAction
    observation_type: ClassVar = SayObservation
    annotations: ClassVar = ToolAnnotations(readOnlyHint=True)
    meta: ClassVar = {"v": 1}

    @classmethod
    def create(cls, conv_state=None):
        return [cls(executor=lambda action: {"size": len(action.text)})]


class LouderTool(SayTool):
    description = "Shouts it."


class TestClassAttributes:
    def test_are_what_the_tools_of_the_class_say(self):
        """What is left out when a tool is made is as its class says."""
        [tool] = SayTool.create()
        assert (tool.name, tool.description) == ("say", "Says it.")
        assert (tool.action_type, tool.observation_type) == (SayAction, SayObservation)
        assert tool.hints.readOnlyHint and tool.meta == {"v": 1}
        assert tool({"text": "four"}) == SayObservation(size=4)
        assert list(tool.input_schema["properties"]) == ["text"]

    def test_are_inherited(self):
        """A subclass says otherwise what it says, and the rest as its base."""
        [tool] = LouderTool.create()
        assert (tool.description, tool.action_type) == ("Shouts it.", SayAction)

    def test_give_way_to_what_a_tool_is_given(self):
        """Who makes a tool has the last word, and copies keep it."""
        tool = SayTool(description="Other.", observation_type=Observation)
        assert (tool.description, tool.observation_type) == ("Other.", Observation)
        assert tool.model_copy(update={"meta": {}}).description == "Other."

    def test_give_way_to_the_default_of_the_base(self):
        """A tool may be given an empty description, and no annotations, although its class has some."""
        tool = SayTool(description="", annotations=None)
        assert (tool.description, tool.annotations, tool.meta) == ("", None, {"v": 1})
        assert SayTool().model_copy(update={"annotations": None}).annotations is None
        assert (ToolDefinition.description, ToolDefinition.meta) == ("", None)

    def test_of_the_wrong_kind_are_refused(self):
        """A mistake in the class is told when a tool is made."""
        wrong = type("WrongTool", (ToolDefinition,), {"action_type": dict})
        with pytest.raises(RegistrationError, match="action_type must be an Action class"):
            wrong()

    @pytest.mark.parametrize("late", [property, cached_property])
    @pytest.mark.parametrize("name", ["name", "description", "executor"])
    def test_are_no_properties(self, name, late):
        """A tool is frozen when it is made: what it says is not worked out later."""
        with pytest.raises(RegistrationError, match=rf"LateTool.{name} is a property: make it a"):
            type("LateTool", (ToolDefinition,), {name: late(str)})

    def test_of_one_class_say_nothing_of_another(self):
        """Tools made directly have none of it."""
        tool = ToolDefinition(name="t")
        assert (tool.description, tool.action_type, tool.meta) == ("", Action, None)


class TestTheViewsOfAClass:
    """`visualize` and `to_llm_content` are properties, as in the reference SDK."""

    @pytest.mark.parametrize(
        ("base", "name"),
        [
            (Observation, "visualize"),
            (Observation, "to_llm_content"),
            (Action, "visualize"),
        ],
    )
    def test_are_no_methods(self, base, name):
        """A forgotten `@property` is named where the class is defined, with what to write."""
        sentence = f"Weather.{name} must be a property: put @property above `def {name}`."
        with pytest.raises(RegistrationError, match=f"^{re.escape(sentence)}$"):
            type("Weather", (base,), {name: lambda self: ["sunny"]})

    def test_are_no_methods_of_another_base(self):
        """A class beside the base may define them too."""
        plain = type("Plain", (), {"visualize": lambda self: "sunny"})
        with pytest.raises(RegistrationError, match=r"^Weather\.visualize must be"):
            type("Weather", (plain, Observation), {})

    def test_that_were_refused_leave_no_class(self):
        """No saved object is read as the class that was refused."""
        with pytest.raises(RegistrationError):
            type("Refused", (Observation,), {"visualize": lambda self: "sunny"})
        with pytest.raises(KindError):
            Observation.resolve_kind("Refused")

    def test_may_be_arguments(self):
        """An argument may have the name of a view."""
        action = create_model("Draw", __base__=Action, to_llm_content=(bool, False))
        assert action().to_llm_content is False
