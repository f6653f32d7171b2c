"""A pydantic model with a tool in it dumps and loads, through Python and through JSON."""

import json

import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from toolbench import Action, Observation, ToolDefinition, tool
from toolbench.core.builtins import FinishTool, ThinkTool


class PostcardAction(Action):
    text: str
    token: SecretStr = SecretStr("s3cret-default-token")


class PostcardObservation(Observation):
    number: int = 0


class PostcardTool(ToolDefinition[PostcardAction, PostcardObservation]):
    @classmethod
    def create(cls, conv_state=None, *, key="s3cret-key"):
        def send(action):
            return PostcardObservation(number=len(key))

        return [
            cls(
                description="Sends.",
                action_type=PostcardAction,
                observation_type=PostcardObservation,
                meta={"version": 2},
                executor=send,
            )
        ]


@tool
def double(n: int) -> int:
    """Double a number."""
    return 2 * n


class Kit(BaseModel):
    first: ToolDefinition
    typed: ToolDefinition[PostcardAction, PostcardObservation] | None = None
    subclass: PostcardTool | None = None
    more: list[ToolDefinition] = []


[FINISH], [THINK], [SEND] = (
    FinishTool.create(),
    ThinkTool.create(),
    PostcardTool.create(),
)
KIT = Kit(first=FINISH, typed=SEND, subclass=SEND, more=[THINK, double])


def described(kit):
    """What the tools of *kit* are, their classes included."""
    tools = [kit.first, kit.typed, kit.subclass, *kit.more]
    return [(type(one), one.to_dict(), one.to_mcp_tool()) for one in tools]


@pytest.mark.parametrize("mode", ["python", "json"])
def test_dumps_and_loads(mode):
    """Every tool comes back as its own class, whatever the field declares, without an executor."""
    again = Kit.model_validate(KIT.model_dump(mode=mode))
    assert described(again) == described(KIT)
    assert [one.executor for one in (again.first, again.typed, *again.more)] == [None] * 4
    through = Kit.model_validate_json(KIT.model_dump_json())
    assert described(through) == described(KIT)


def test_what_is_dumped_is_to_dict():
    """One way to write a tool down: nothing of its executor and no secret."""
    written = KIT.model_dump()
    assert written["typed"] == SEND.to_dict() == json.loads(KIT.model_dump_json())["typed"]
    assert "s3cret" not in KIT.model_dump_json()


def test_a_tool_stays_the_same_object():
    """What is a tool already is taken as it is: it still runs."""
    assert Kit(first=double).first is double


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (3, "should be a ToolDefinition or a dict from its to_dict.., not an int"),
        ({"kind": "NoSuchTool"}, "No tool of kind 'NoSuchTool'"),
        ({}, "has no 'name' and no 'action_type'"),
        ({**SEND.to_dict(), "action_type": "Nowhere"}, "No schema of kind 'Nowhere'"),
        ({**SEND.to_dict(), "action_type": "PostcardObservation"}, "not an Action"),
        ({**SEND.to_dict(), "odd": 1}, "not a saved tool.* 'odd'"),
    ],
)
def test_what_is_no_tool_is_a_validation_error(written, words):
    """Pydantic reports it at its place, as it reports everything else."""
    with pytest.raises(ValidationError, match=words) as caught:
        Kit.model_validate({"first": FINISH, "more": [written]})
    assert caught.value.errors()[0]["loc"] == ("more", 0)


def test_a_field_refuses_tools_of_another_class():
    """A field that declares a class takes that class and its subclasses."""
    with pytest.raises(ValidationError, match="is not a PostcardTool"):
        Kit(first=FINISH, subclass=FINISH.to_dict())
    with pytest.raises(ValidationError, match="should be a PostcardTool"):
        Kit(first=FINISH, subclass=FINISH)


def test_has_a_schema():
    """The schema of such a model says that a tool is written as an object."""
    for mode in ("validation", "serialization"):
        schema = Kit.model_json_schema(mode=mode)
        assert schema["properties"]["first"]["type"] == "object"
