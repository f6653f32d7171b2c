"""A record has the arguments of a call as JSON, also those that were sent as Python objects."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, SecretStr, field_serializer

from toolbench import history, run_tool, tool
from toolbench.core.registry import default_registry
from toolbench.errors import ToolbenchError
from toolbench.mcp import create_mcp_tools
from toolbench.redaction import MARK
from toolbench.runs.history import RunHistory
from toolbench.runs.plain_calls import forget_calls, record_calls
from toolbench.testing import FakeMCPServer

DAY = date(2026, 12, 25)
pytestmark = pytest.mark.usefixtures("no_records")


class Kind(Enum):
    BOOK = "book"


class Color(StrEnum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Place(BaseModel):
    shelf: str = Field(alias="the shelf")
    since: date
    price: float
    note: str = ""

    @field_serializer("price")
    def _rounded(self, price: float) -> int:
        return round(price)


@dataclass
class Loan:
    kind: Kind
    due: date


class Pair(NamedTuple):
    first: date
    second: int


PLACE = Place(**{"the shelf": "A3", "since": DAY, "price": 2.0})
PLACE_JSON = {"the shelf": "A3", "since": "2026-12-25", "price": 2, "note": ""}
KINDS: dict[str, tuple[Any, Any, Any]] = {
    "enum": (Kind, Kind.BOOK, "book"),
    "text enum": (Color, Color.RED, "red"),
    "integer enum": (Level, Level.LOW, 1),
    "date": (date, DAY, "2026-12-25"),
    "midnight as a date": (date, datetime(2026, 12, 25, tzinfo=UTC), "2026-12-25T00:00:00Z"),
    "datetime": (
        datetime,
        datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
        "2026-01-02T03:04:00Z",
    ),
    "time": (time, time(3, 4), "03:04:00"),
    "timedelta": (timedelta, timedelta(minutes=1), "PT1M"),
    "uuid": (UUID, UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "path": (Path, Path("a/b"), "a/b"),
    "decimal": (Decimal, Decimal("1.50"), "1.50"),
    "decimal as a float": (float, Decimal("1.50"), "1.50"),
    "set": (set[date], {DAY}, ["2026-12-25"]),
    "frozen set": (frozenset[Kind], frozenset({Kind.BOOK}), ["book"]),
    "tuple": (tuple[Kind, int], (Kind.BOOK, 2), ["book", 2]),
    "named tuple": (Pair, Pair(DAY, 2), ["2026-12-25", 2]),
    "bytes": (bytes, b"ab", "YWI="),
    "list of bytes": (list[bytes], [b"\xff"], ["/w=="]),
    "model": (Place, PLACE, PLACE_JSON),
    "dataclass": (Loan, Loan(Kind.BOOK, DAY), {"kind": "book", "due": "2026-12-25"}),
    "list": (list[date], [DAY, DAY], ["2026-12-25", "2026-12-25"]),
    "list of models": (list[Place], [PLACE], [PLACE_JSON]),
    "dict": (dict[str, date], {"a": DAY}, {"a": "2026-12-25"}),
    "dict by enum": (
        dict[Kind, set[date]],
        {Kind.BOOK: {DAY}},
        {"book": ["2026-12-25"]},
    ),
    "dict by number": (dict[int, str], {1: "a"}, {"1": "a"}),
    "anything": (Any, [DAY, Kind.BOOK], ["2026-12-25", "book"]),
}
EVERY_KIND = pytest.mark.parametrize(("kind", "value", "form"), KINDS.values(), ids=KINDS)


def tool_of(kind):
    """Return a tool with an argument of this type, and the list of what its function gets."""
    values = []

    @tool
    def take(value: kind, number: int = 0) -> str:
        """Take a value."""
        values.append(value)
        return "taken"

    return take, values


class TestOfEveryKind:
    @EVERY_KIND
    @pytest.mark.parametrize("is_plain", [True, False], ids=["plain", "run_tool"])
    def test_is_json(self, kind, value, form, is_plain):
        """Made by the types of the values; of an action, by the action."""
        take, _ = tool_of(kind)
        if is_plain:
            record_calls()
        try:
            if is_plain:
                take(value=value)
            else:
                run_tool(take, value=value)
            if is_plain:
                take(take.action_of({"value": value}))
        finally:
            forget_calls()
        record = history()[0]
        assert record.state == "ok"
        assert record.known_arguments == record.arguments == {"value": form}
        assert json.loads(json.dumps(record.arguments)) == {"value": form}
        json.dumps(history()[-1].arguments)

    @EVERY_KIND
    def test_a_new_run_gets_what_was_sent(self, kind, value, form):
        """The object itself, and not a value that is made of its text."""
        take, values = tool_of(kind)
        run_tool(take, value=value)
        assert history()[0].rerun().text == "taken"
        assert values[0] == values[1]
        assert history()[1].arguments == {"value": form}

    @EVERY_KIND
    def test_is_in_the_file_and_in_all_views(self, kind, value, form, tmp_path):
        """What a file has runs again, and each view shows the same."""
        take, values = tool_of(kind)
        history().persist(tmp_path / "h.ndjson")
        run_tool(take, value=value)
        [line] = (tmp_path / "h.ndjson").read_text().splitlines()
        assert json.loads(line)["arguments"] == {"value": form}
        record = history()[0]
        head = json.dumps({"value": form}, indent=2)
        assert record.to_text().startswith(f"arguments: {head}\n")
        assert history().to_dataframe()["arguments"][0] == {"value": form}
        assert run_tool(take, record.known_arguments).text == "taken"
        assert values[0] == values[1] or kind is Any

    @EVERY_KIND
    def test_is_there_after_a_refusal(self, kind, value, form):
        """Without an action, the object's own type says what its JSON is."""
        take, _ = tool_of(kind)
        assert run_tool(take, value=value, number="many").is_error
        arguments = history()[0].known_arguments
        json.dumps(arguments)
        assert arguments["number"] == "many"
        again = run_tool(take, {**arguments, "number": 1})
        assert again.text == "taken"


class TestRest:
    def test_texts_and_numbers_stay_as_they_were_sent(self):
        """A text for a number or a date, and a default that was left out: nothing is made of them."""

        @tool
        def take(day: date, number: int = 1, other: int = 2) -> str:
            """Take a day."""
            return f"{day} {number}"

        run_tool(take, day="2026-12-25", number="3")
        assert history()[0].arguments == {"day": "2026-12-25", "number": "3"}
        run_tool(take, day=DAY, number="3")
        assert history()[1].arguments == {"day": "2026-12-25", "number": "3"}

    def test_an_object_without_json_is_its_text(self, tmp_path):
        """In this kernel a new run gets the object; a file does not have it, and says so."""
        history().persist(tmp_path / "h.ndjson")

        @tool
        def take(day: date, thing: object) -> str:
            """Take a thing."""
            return "taken"

        thing = object()
        run_tool(take, day=DAY, thing=thing)
        record = history()[0]
        assert (record.lost, record.known_arguments) == (("thing",), {"day": "2026-12-25"})
        assert "<object object" in record.to_text()
        assert record.rerun().text == "taken"
        again = RunHistory()
        again.persist(tmp_path / "h.ndjson")
        default_registry.register("take", take)
        try:
            with pytest.raises(ToolbenchError, match="did not keep thing"):
                again[0].rerun()
        finally:
            default_registry.unregister("take")

    @pytest.mark.parametrize("numbers", [{1, 2}, (1, 2), iter([1, 2])])
    def test_an_iterator_is_left_to_the_function(self, numbers):
        """To write it down would use it up."""

        @tool
        def add(numbers: Iterable[int], day: date) -> int:
            """Add numbers."""
            return sum(numbers)

        assert run_tool(add, numbers=numbers, day=DAY).text == "3"
        assert history()[0].arguments["day"] == "2026-12-25"

    def test_is_what_was_sent_although_the_function_changes_it(self):
        """The record has what the call sent, made before the function runs."""

        @tool
        def drain(days: set[date], place: Place) -> str:
            """Forget them."""
            days.clear()
            place.shelf = "Z9"
            return "drained"

        run_tool(drain, days={DAY}, place=PLACE.model_copy())
        known = history()[0].known_arguments
        assert known["days"] == ["2026-12-25"]
        assert known["place"]["the shelf"] == "A3"

    def test_of_a_server(self):
        """A server's tool has no types but those of its schema: the object's own type counts."""
        server = FakeMCPServer("fake")
        schema = {"type": "object", "properties": {"data": {}, "kind": {}}}
        server.answer("echo", "ok", schema=schema)
        with create_mcp_tools(server) as client:
            run_tool(client["echo"], data=DAY, kind=Kind.BOOK)
        assert history()[0].known_arguments == {"data": "2026-12-25", "kind": "book"}


class Account(BaseModel):
    since: date
    password: SecretStr


class TestSecrets:
    @pytest.mark.parametrize("kind", [Account, dict, Any, object])
    @pytest.mark.parametrize("is_refused", [True, False])
    def test_beside_objects_are_marks(self, kind, is_refused):
        """The stars that pydantic writes would be a password: what has them is not known."""

        @tool
        def enter(account: kind, day: date, number: int = 0) -> str:
            """Enter."""
            return "entered"

        account = Account(since=DAY, password=SecretStr("hunter2hunter2"))
        value = account.model_dump() if kind is dict else account
        number = "many" if is_refused else 1
        run_tool(enter, account=value, day=DAY, number=number)
        record = history()[0]
        assert record.known_arguments == {"day": "2026-12-25", "number": number}
        hidden = {"since": "2026-12-25", "password": MARK}
        assert record.arguments["account"] == hidden
        texts = [record.to_text(), repr(history()), history().to_json()]
        assert not any("hunter2" in text or "***" in text for text in texts)
        with pytest.raises(Exception, match="did not keep account"):
            record.rerun()

    def test_that_are_known_are_marks_in_sets(self):
        """A secret of an earlier call is hidden in whatever holds it, and is not sent again as a mark."""

        @tool
        def enter(words: set[str], password: SecretStr | None = None) -> str:
            """Enter."""
            return "entered"

        run_tool(enter, words={"a"}, password="hunter2hunter2")
        run_tool(enter, words={"hunter2hunter2"})
        record = history()[1]
        assert record.known_arguments == {}
        assert record.arguments == {"words": [MARK]}
        with pytest.raises(Exception, match="did not keep words"):
            record.rerun()
