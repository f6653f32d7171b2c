from dataclasses import dataclass
from enum import Enum

import pandas as pd
import pytest
from pydantic import BaseModel, Field, RootModel, computed_field, model_serializer

from toolbench import tool
from toolbench.core.coercion import frame_of


class Model(BaseModel):
    a: int


@dataclass
class Data:
    a: int


class Kind(Enum):
    DVD = "dvd"


class Loan(BaseModel):
    kind: Kind


ROWS = [{"a": 1}, {"a": 2}]


class TestFrame:
    @pytest.mark.parametrize(
        "data",
        [
            ROWS,
            tuple(ROWS),
            [Model(a=1), Data(a=2)],
            {"items": ROWS, "total": 2},
            {"items": ROWS, "page": (1, 2)},
            RootModel[list[Model]](ROWS),
            pd.DataFrame(ROWS),
        ],
    )
    def test_is_made_of_objects(self, data):
        """Mappings, models and dataclasses are rows, also inside an object with one list."""
        assert frame_of(data).to_dict("records") == ROWS

    def test_has_the_value_of_a_member_of_an_enum(self):
        """As the model and the record of the run have it; `.data` keeps the member."""

        @tool
        def loans() -> list[Loan]:
            """List the loans."""
            return [Loan(kind=Kind.DVD)]

        observation = loans({})
        assert observation.df.to_dict("records") == [{"kind": "dvd"}]
        assert observation.data[0].kind is Kind.DVD

    def test_has_the_columns_that_models_have_in_json(self):
        """Also those that are computed; none that are left out there."""

        class Point(BaseModel):
            across: int = Field(alias="x")
            note: str = Field("", exclude=True)

            @computed_field
            def double(self) -> int:
                return self.across * 2

        assert frame_of([Point(x=1)]).to_dict("records") == [{"x": 1, "double": 2}]

    def test_has_models_that_are_no_objects_as_in_json(self):
        """A model of a list, or with a serializer of its own, is a cell like any other value."""

        class Size(BaseModel):
            inches: int

            @model_serializer
            def words(self) -> str:
                return f"{self.inches} inches"

        row = {"tags": RootModel[list[str]](["new"]), "size": Size(inches=3)}
        records = frame_of([row]).to_dict("records")
        assert records == [{"tags": ["new"], "size": "3 inches"}]

    def test_of_one_object_has_one_row(self):
        """An object that holds no list is a table of itself."""
        assert frame_of(Data(a=1)).to_dict("records") == [{"a": 1}]

    @pytest.mark.parametrize("data", [3, None, [], [1], [{"a": 1}, 2], Data])
    def test_is_made_of_nothing_else(self, data):
        """What is no list of objects is named, and where else to look."""
        with pytest.raises(TypeError, match=r"t a list of objects.*\.data"):
            frame_of(data)

    def test_is_not_made_of_a_text(self):
        """`.data` of a text is only that text, so `.text` is named."""
        with pytest.raises(TypeError, match=r'\(got "a, b"\): use \.text\.$'):
            frame_of("a, b")

    def test_of_a_native_tool_is_had_like_that_of_a_server(self):
        """A function's list of objects has `.df` and `.data`, as an MCP server's answer."""

        @tool
        def points() -> list[dict[str, int]]:
            """Say where the points are."""
            return ROWS

        observation = points({})
        assert observation.data == ROWS
        assert list(observation.df["a"]) == [1, 2]
