"""A misspelt name is refused at any depth of the arguments: nothing that was sent is dropped."""

import dataclasses
import gc
import weakref
from enum import Enum
from typing import Annotated, Any, Literal

import pydantic.dataclasses
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    OnErrorOmit,
    RootModel,
    model_validator,
)
from typing_extensions import TypedDict

from toolbench import tool
from toolbench.core.validators import action_with_known_names
from toolbench.errors import ArgumentsError


class Room(BaseModel):
    name: str
    floor: int = 0


class Hall(BaseModel):
    name: str
    seats: int = 0


class House(BaseModel):
    rooms: list[Room] = []
    garden: "House | None" = None


@dataclasses.dataclass
class PlainRoom:
    name: str
    floor: int = 0


@pydantic.dataclasses.dataclass
class CheckedRoom:
    name: str
    floor: int = 0


class RoomTable(TypedDict, total=False):
    name: str
    floor: int


class Around(BaseModel):
    """Its own config is not the action's: what is inside inherits none."""

    plain: PlainRoom | None = None
    table: RoomTable | None = None
    room: Room | None = None


class Floor(Enum):
    FIRST = "1"


class Cup(BaseModel):
    kind: Literal["cup"]
    size: int = 1


class Jug(BaseModel):
    kind: Literal["jug"]
    litres: int = 1


class Rooms(RootModel[list[Room]]):
    pass


class Frozen(BaseModel, frozen=True):
    name: str
    floor: int = 0


def tool_of(hint):
    def plan(room):
        """Plan it."""
        return room

    plan.__annotations__ = {"room": hint}
    return tool(plan)


KINO = {"name": "Kino 1", "flor": 2}
FLOOR = "is an unknown argument. Did you mean 'floor'?"

MISSPELT = [
    (Room, KINO, f"room.flor: {FLOOR}"),
    (Room | None, KINO, f"room.flor: {FLOOR}"),
    (list[Room], [{"name": "a"}, KINO], f"room[1].flor: {FLOOR}"),
    (tuple[int, Room], [1, KINO], f"room[1].flor: {FLOOR}"),
    (set[Frozen], [KINO], f"room[0].flor: {FLOOR}"),
    (dict[str, Room], {"a": KINO}, f"room.a.flor: {FLOOR}"),
    (dict[int, Room], {"1": KINO}, f"room.1.flor: {FLOOR}"),
    (dict[Floor, Room], {"1": KINO}, f"room.1.flor: {FLOOR}"),
    (Room | Hall, KINO, f"room.flor: {FLOOR}"),
    (int | Room | str, KINO, f"room.flor: {FLOOR}"),
    (Rooms, [KINO], f"room[0].flor: {FLOOR}"),
    (House, {"garden": {"rooms": [KINO]}}, f"room.garden.rooms[0].flor: {FLOOR}"),
    (PlainRoom, KINO, "room.flor: is an unknown argument"),
    (CheckedRoom, KINO, f"room.flor: {FLOOR}"),
    (RoomTable, KINO, "room.flor: is an unknown argument"),
    (Around, {"plain": KINO}, f"room.plain.flor: {FLOOR}"),
    (Around, {"table": KINO}, f"room.table.flor: {FLOOR}"),
    (Around, {"room": KINO}, f"room.room.flor: {FLOOR}"),
    (
        Annotated[Cup | Jug, Field(discriminator="kind")],
        {"kind": "jug", "size": 2},
        "room.size: is an unknown argument; expected: kind, litres",
    ),
    (
        Cup | Jug,
        {"kind": "jug", "size": 2},
        "room.size: is an unknown argument; expected: kind, litres",
    ),
]


# Each case is a rule of its own
@pytest.mark.every_case
@pytest.mark.parametrize(("hint", "value", "expected"), MISSPELT, ids=repr)
def test_a_misspelt_name_is_refused(hint, value, expected):
    """With its path, and with the name that may be meant."""
    plan = tool_of(hint)
    assert list(map(str, plan.problems({"room": value}))) == [expected]
    with pytest.raises(ArgumentsError):
        plan(room=value)


class Ignoring(Room):
    model_config = ConfigDict(extra="ignore")
    plain: PlainRoom | None = None


class Allowing(Room):
    model_config = ConfigDict(extra="allow")


class IgnoringTable(RoomTable):
    __pydantic_config__ = ConfigDict(extra="ignore")


class Renamed(BaseModel):
    name: str = Field(alias="called")
    floor: int = Field(0, validation_alias=AliasChoices("level", "storey"))
    first: str = Field("", validation_alias=AliasPath("names", 0))


class ByName(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    name: str = Field(alias="called")


class Old(Room):
    @model_validator(mode="before")
    @classmethod
    def _rename(cls, value: Any) -> Any:
        return {"floor" if name == "flor" else name: v for name, v in value.items()}


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Room, {"name": "a", "floor": 1}),
        (Ignoring, KINO),
        (Ignoring, {"name": "a", "plain": KINO}),
        (list[Allowing], [KINO]),
        (IgnoringTable, KINO),
        (Ignoring | Hall, KINO),
        (Renamed, {"called": "a", "level": 1, "names": ["b"]}),
        (Renamed, {"called": "a", "storey": 1}),
        (ByName, {"called": "a"}),
        (ByName, {"name": "a"}),
        (Old, KINO),
        (Room | dict[str, Any], KINO),
        (dict[str, Any], KINO),
        (Any, KINO),
        (Room | Hall, {"name": "a", "seats": 3}),
    ],
    ids=repr,
)
def test_a_name_that_the_model_takes_passes(hint, value):
    """Its aliases, what its own validator renames, and any name where its `extra` says so."""
    assert tool_of(hint).problems({"room": value}) == []


def test_an_alias_hides_the_name_of_the_field():
    """The name would be dropped, so it is refused."""
    value = {"called": "a", "floor": 1}
    [problem] = tool_of(Renamed).problems({"room": value})
    assert problem.where == "room.floor"
    assert problem.message.startswith("is an unknown argument")


def test_an_open_model_does_not_open_the_models_inside():
    """Each model says for itself which names it takes."""

    class Box(Allowing):
        room: Room

    value = {"name": "a", "more": 1, "room": KINO}
    [problem] = tool_of(Box).problems({"room": value})
    assert str(problem) == f"room.room.flor: {FLOOR}"


def test_a_tool_with_any_arguments_checks_the_models_inside():
    """`**others` are arguments of any name; a room has no such names."""

    @tool
    def plan(room: Room, **others: Any) -> str:
        """Plan it."""
        return "done"

    assert plan.problems({"room": {"name": "a"}, "colour": "red"}) == []
    problems = plan.problems({"room": KINO, "colour": "red"})
    assert list(map(str, problems)) == [f"room.flor: {FLOOR}"]


def test_validators_of_a_right_call_run_once():
    """A check of names costs a tool's own validators nothing."""
    calls = []

    class Counted(Room):
        @model_validator(mode="after")
        def _count(self) -> "Counted":
            calls.append(self.name)
            return self

    assert tool_of(Counted).problems({"room": {"name": "a"}}) == []
    assert calls == ["a"]


def test_a_class_that_is_used_nowhere_else_is_forgotten():
    """A cell that is run again and again leaves no classes behind."""
    action_type = pydantic.create_model("Outer", room=(Room, ...))
    action_with_known_names(action_type, {"room": {"name": "a"}})
    kept = weakref.ref(action_type)
    del action_type
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize(
    "name", ["type", "metadata", "default", "expected", "serialization", "fields"]
)
def test_a_name_may_be_a_word_of_pydantics_own_schemas(name):
    """As the name of an argument, and of a field inside."""
    inner = pydantic.create_model("Inner", **{name: (Room, ...)})
    action_type = pydantic.create_model("Outer", **{name: (inner, ...)})
    arguments = {name: {name: {"name": "a"}}}
    action = action_with_known_names(action_type, arguments)
    assert action.model_dump(exclude_unset=True) == arguments
    with pytest.raises(pydantic.ValidationError, match="flor"):
        action_with_known_names(action_type, {name: {name: KINO}})


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str = ""


class Level(Room):
    @model_validator(mode="before")
    @classmethod
    def _read_level(cls, data: Any) -> Any:
        return {**data, "floor": data["level"]} if "level" in data else data


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Open, {"name": "a"}),
        (Open, {"colour": "red"}),
        (Open | Room, {"name": "a"}),
        (list[OnErrorOmit[Room]], [{"name": "a", "flor": 1}, {"name": "b"}]),
        (Level, {"name": "a", "level": 3}),
    ],
)
def test_an_object_is_the_one_that_pydantic_makes(kind, value):
    """Where the types themselves deal with unknown names, the check changes nothing."""
    outer = pydantic.create_model("Outer", room=(kind, ...))
    plain = outer.model_validate({"room": value}).room
    room = action_with_known_names(outer, {"room": value}).room
    assert room == plain
    assert getattr(room, "model_extra", 0) == getattr(plain, "model_extra", 0)


PARTS = st.deferred(
    lambda: st.fixed_dictionaries(
        {"name": st.text(max_size=3)},
        optional={
            "floor": st.integers(0, 9),
            "flor": st.integers(0, 9),
            "inner": PARTS,
            "rows": st.lists(PARTS, max_size=2),
            "by_name": st.dictionaries(st.text(max_size=2), PARTS, max_size=2),
        },
    )
)


class Part(BaseModel):
    name: str
    floor: int | None = None
    inner: "Part | Hall | None" = None
    rows: "list[Part]" = []
    by_name: "dict[str, Part]" = {}


def misspelt(value, path="room"):
    paths = [f"{path}.flor"] if "flor" in value else []
    if "inner" in value:
        paths += misspelt(value["inner"], f"{path}.inner")
    for n, item in enumerate(value.get("rows", [])):
        paths += misspelt(item, f"{path}.rows[{n}]")
    for name, item in value.get("by_name", {}).items():
        paths += misspelt(item, f"{path}.by_name.{name}")
    return paths


@pytest.mark.slow
@settings(max_examples=60)
@given(PARTS)
def test_each_misspelt_name_is_told_wherever_it_is(value):
    """All of them at once, and nothing else."""
    problems = tool_of(Part).problems({"room": value})
    assert sorted(p.where for p in problems) == sorted(misspelt(value))
    if not problems:
        action = tool_of(Part).action_from_arguments({"room": value})
        assert action.to_arguments() == {"room": value}
