import pytest
from pydantic import Field

from toolbench import (
    Action,
    SecurityRisk,
    TextContent,
    ToolDefinition,
    ToolExecutor,
    compat,
)
from toolbench.compat import (
    BUILT_IN_TOOLS,
    ActionBase,
    ObservationBase,
    Tool,
    ToolSpec,
)
from toolbench.errors import ArgumentsError


class MyAction(ActionBase):
    input_text: str = Field(description="Text to process")


class MyObservation(ObservationBase):
    result: str = Field(description="Processed result")

    @property
    def agent_observation(self):
        return [TextContent(text=self.result)]


class MyExecutor(ToolExecutor):
    def __call__(self, action: MyAction) -> MyObservation:
        return MyObservation(result=f"Processed: {action.input_text}")


TOOL = Tool(
    name="my_tool",
    description="Processes text input",
    action_type=MyAction,
    observation_type=MyObservation,
    executor=MyExecutor(),
)


class TestToolsOfThatTime:
    def test_run_as_they_are(self):
        """A tool made directly, with an executor of one argument, works."""
        for call in (TOOL, TOOL.call):
            observation = call(MyAction(input_text="x"))
            assert observation.result == "Processed: x"
            assert observation.to_llm_content == [TextContent(text="Processed: x")]
            assert observation.text == "Processed: x"
        assert isinstance(TOOL, ToolDefinition)

    def test_take_type_parameters(self):
        """`Tool[A, O](...)` is how they were written."""
        tool = Tool[MyAction, MyObservation](
            name="t", description="", action_type=MyAction, executor=MyExecutor()
        )
        assert tool({"input_text": "y"}).result == "Processed: y"

    def test_take_json_schemas(self):
        """Types may be schemas; arguments and results are checked all the same."""
        tool = Tool(
            name="add",
            description="Adds.",
            action_type={"type": "object", "properties": {"n": {"type": "integer"}}},
            observation_type={"type": "object", "required": ["m"]},
            executor=lambda action: {"m": action.n + 1},
        )
        assert tool({"n": 1}).to_arguments() == {"m": 2}
        with pytest.raises(ArgumentsError):
            tool({"n": "x"})
        with pytest.raises(TypeError, match="does not fit"):
            tool.set_executor(lambda action: {})({"n": 1})


class TestActionBase:
    def test_carries_a_rating(self):
        """Every action may be rated; unrated is unknown."""
        assert MyAction(input_text="x").security_risk is SecurityRisk.UNKNOWN
        assert MyAction(input_text="x", security_risk="HIGH").security_risk is SecurityRisk.HIGH

    def test_is_asked_for_it_last(self):
        """The rating comes after the arguments, once, whatever is asked for."""
        for schema in (
            MyAction.to_mcp_schema(),
            TOOL.to_openai_tool(True)["function"]["parameters"],
        ):
            assert list(schema["properties"]) == ["input_text", "security_risk"]
            assert schema["required"] == ["input_text"]

    def test_may_be_made_of_a_schema(self):
        """A schema from elsewhere is asked for the rating too, whatever it says of others."""
        for properties in ({}, {"properties": {"a": {"type": "string"}}}):
            schema = {"type": "object", "additionalProperties": False, **properties}
            model = ActionBase.from_mcp_schema("Elsewhere", schema)
            properties_of_schema = model.to_mcp_schema()["properties"]
            assert list(properties_of_schema) == [
                *properties.get("properties", ()),
                "security_risk",
            ]
            assert properties_of_schema["security_risk"]["default"] == "UNKNOWN"
            assert model(security_risk="LOW").security_risk is SecurityRisk.LOW


class TestObservationBase:
    def test_takes_any_field(self):
        """Observations of that time were open."""
        observation = MyObservation(result="r", more=1)
        assert observation.more == 1
        assert MyObservation.from_dict(observation.to_dict()) == observation

    @pytest.mark.parametrize(
        ("fields", "failed"),
        [
            ({}, False),
            ({"error": ""}, False),
            ({"error": True}, True),
            ({"error": "no"}, True),
        ],
    )
    def test_failed_if_it_names_an_error(self, fields, failed):
        """`error`, a flag or a text, is today's `is_error`; what is said wins."""
        observation = MyObservation(result="r", **fields)
        assert observation.is_error is failed
        assert len(observation.to_llm_content) == 1 + failed
        assert not MyObservation(result="r", is_error=False, **fields).is_error

    def test_without_words_of_its_own_reads_its_content(self):
        """One that defines no `agent_observation` is an observation as any other."""
        assert ObservationBase.from_text("plain").agent_observation[0].text == "plain"


def test_the_other_names_are_there():
    """The spec and the built-in tools had other names; executors have kept theirs."""
    assert compat.ToolExecutor is ToolExecutor
    assert ToolSpec(name="x").params == {}
    assert [tool.name for tool in BUILT_IN_TOOLS] == ["finish", "think"]
    assert issubclass(ActionBase, Action)
