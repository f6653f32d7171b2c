"""`.data` and `.df` of a record: what the run gave, or one sentence that says what to do."""

import json
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import NamedTuple

import pandas
import pytest
from pydantic import BaseModel

from test_runs import tools
from toolbench import Observation, TextContent, history, run_tool, tool
from toolbench.display.tables import ROWS
from toolbench.errors import ToolbenchError
from toolbench.mcp import create_mcp_tools
from toolbench.runs.history import RunHistory
from toolbench.runs.record import LIMIT, kept_of, recorded_in
from toolbench.testing import FakeMCPServer

SECRET = "sk-very-secret-1"
NOT_THERE = r"does not have the data.*`\.rerun\(\)`"


class Loan(BaseModel):
    title: str
    day: date


@dataclass
class Point:
    x: int


class Size(NamedTuple):
    width: int
    height: int


def of_record(result):
    """The observation that a run gave, and the one in its record."""

    @tool
    def give() -> object:
        """Give the result."""
        return result

    return run_tool(give), history()[-1].observation


def of_file(path):
    """The observation of the last run, as a later session reads it."""
    again = RunHistory()
    again.persist(path)
    return again[-1].observation


@pytest.fixture
def journal(tmp_path):
    history().persist(tmp_path / "runs.jsonl")
    return tmp_path / "runs.jsonl"


@pytest.mark.parametrize(
    "result",
    [[{"a": 1, "b": ["x"]}], {"a": None}, [], {}, 7, 1.5, True, None, "", '{"a": 1}'],
)
def test_plain_data_is_what_the_run_gave(result, journal):
    """Also of a record that is read from its file."""
    observation, recorded = of_record(result)
    assert recorded.data == observation.data == result
    assert type(recorded.data) is type(result)
    assert of_file(journal).data == result


@pytest.mark.parametrize(
    ("result", "data"),
    [
        ([Loan(title="Emma", day="2026-02-03")], [{"title": "Emma", "day": "2026-02-03"}]),
        (Point(2), {"x": 2}),
        ((1, 2), [1, 2]),
        ({date(2026, 2, 3): 1}, {"2026-02-03": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (defaultdict(list, a=[1]), {"a": [1]}),
        (deque([1, 2]), [1, 2]),
        (Size(1, 2), [1, 2]),
    ],
)  # fmt: skip
def test_other_data_is_json(result, data, journal):
    """A model or a dataclass is an object, a tuple (also with names) a list, a date a text."""
    _, recorded = of_record(result)
    assert recorded.data == of_file(journal).data == data


def test_a_list_of_objects_is_a_table(journal):
    """As it was for the one who made the call."""
    observation, recorded = of_record([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
    pandas.testing.assert_frame_equal(recorded.df, observation.df)
    pandas.testing.assert_frame_equal(of_file(journal).df, observation.df)


@pytest.mark.parametrize("index", [None, ["p", "q"], pandas.Index(["p", "q"], name="station")])
def test_a_short_table_is_one_again(index):
    """Its columns, its rows, their labels and the name of these."""
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None]}, index=index)
    _, recorded = of_record(frame)
    pandas.testing.assert_frame_equal(recorded.df, frame)
    pandas.testing.assert_frame_equal(recorded.data, frame)


@pytest.mark.parametrize("text", ["x\u200by", "\x1b[31mred", "\ud83d", "<b>", "a" * 200])
def test_the_texts_of_a_table_are_as_they_were(text):
    """Characters that no one sees are spelled out where the table is drawn, and only there."""
    frame = pandas.DataFrame({text: [text], 3: [1.5]}, index=[text])
    _, recorded = of_record(frame)
    pandas.testing.assert_frame_equal(recorded.df, frame)


@pytest.mark.parametrize("text", ["\u202e\x1b", "<b>"])
def test_the_texts_of_a_table_are_escaped_where_it_is_drawn(text):
    """In its cells, its labels and its names."""
    of_record(pandas.DataFrame({text: [text]}, index=[text]))
    assert text not in history()[-1].to_html()


@pytest.mark.parametrize(
    "result",
    [
        pandas.DataFrame({"a": range(ROWS + 1)}),
        pandas.DataFrame({"a": ["long " * 100]}),
        pandas.DataFrame({"long " * 100: [1]}),
        pandas.DataFrame({"a": ["e\u0301" * 101]}),
        object(),
        b"bytes",
        "a" * (LIMIT + 1),
        [b"\x89PNG\r\n\x1a\n"],
    ],
    ids=[
        "long table",
        "long cell",
        "long name",
        "long accents",
        "object",
        "bytes",
        "huge text",
        "image",
    ],
)
@pytest.mark.parametrize("name", ["data", "df"])
def test_what_the_record_does_not_have_is_a_sentence(result, name):
    """No part is taken for the whole, and nothing is None that was not."""
    _, recorded = of_record(result)
    with pytest.raises(ToolbenchError, match=NOT_THERE):
        getattr(recorded, name)


@pytest.mark.every_case
@pytest.mark.parametrize(
    "result",
    [
        TextContent(text="hello"),
        TextContent(text="5"),
        [TextContent(text="hello")],
        [TextContent(text="5")],
        {"a": b"\xff"},
        MappingProxyType({"a": 1}),
        Point,
    ],
)
def test_no_secret_is_blamed_without_one(result, journal):
    """A text that is not the JSON of the result is not read as JSON."""
    _, recorded = of_record(result)
    for observation in (recorded, of_file(journal)):
        with pytest.raises(ToolbenchError, match=NOT_THERE):
            _ = observation.data


def test_a_secret_that_took_the_json_apart_is_a_sentence():
    """A number with a mark in it is no JSON; a text with one is."""

    @tool
    def log_in(token: str) -> object:
        """Log in."""
        return {"pin": int(token)}

    run_tool(log_in, token="48213377")
    with pytest.raises(ToolbenchError, match=NOT_THERE):
        _ = history()[-1].observation.data


def test_the_table_of_a_file_is_a_sentence(journal):
    """The file has the text that the model read, and no types."""
    of_record(pandas.DataFrame({"a": [1]}))
    observation = of_file(journal)
    assert observation.text == "a\n1"
    with pytest.raises(ToolbenchError, match=NOT_THERE):
        _ = observation.df


def test_an_older_file_is_a_sentence(journal):
    """Its lines do not say what a text was."""
    of_record([1])
    line = json.loads(journal.read_text())
    del line["observation"]["form"]
    journal.write_text(json.dumps(line))
    with pytest.raises(ToolbenchError, match=NOT_THERE):
        _ = of_file(journal).data


def test_secrets_are_hidden_in_the_data(journal):
    """In a text of the data they are a mark; where no JSON is left, there is none."""

    @tool
    def log_in(token: str) -> object:
        """Log in."""
        return {"token": token, "user": "ada"}

    run_tool(log_in, token=SECRET)
    data = history()[-1].observation.data
    assert data["user"] == "ada"
    assert SECRET not in str(data)
    assert SECRET not in str(of_file(journal).data)


def test_later_changes_of_the_result_are_not_in_the_record():
    """The record has what the run gave then."""
    result = [{"a": 1}]
    _, recorded = of_record(result)
    result[0]["a"] = 2
    assert recorded.data == [{"a": 1}]


@pytest.mark.parametrize("answer", [[{"a": 1}], '[{"a": 1}]'], ids=["data", "text"])
def test_of_a_server_is_in_the_file(journal, answer):
    """The structured content, or the JSON of the text."""
    server = FakeMCPServer("shop")
    server.answer("find", answer)
    with create_mcp_tools(server) as client:
        observation = run_tool(client["find"], {})
    assert observation.data == [{"a": 1}]
    assert history()[-1].observation.data == [{"a": 1}]
    assert of_file(journal).data == [{"a": 1}]
    assert list(of_file(journal).df["a"]) == [1]


@pytest.mark.parametrize("answer", [[{"a": 1}], "words"], ids=["data", "text"])
def test_of_a_server_written_twice_is_a_sentence(journal, answer):
    """The second writing has no structured content: the data is not None for that."""
    server = FakeMCPServer("shop")
    server.answer("find", answer)
    with create_mcp_tools(server) as client:
        run_tool(client["find"], {})
    first = of_file(journal)
    line = json.loads(journal.read_text())
    line["observation"] = first.to_dict()
    journal.write_text(json.dumps(line))
    for again in (
        of_file(journal),
        Observation.from_dict(first.to_dict()),
        kept_of(first),
    ):
        with pytest.raises(ToolbenchError, match=NOT_THERE):
            _ = again.data


def test_of_a_server_that_answers_nothing_is_none():
    """Also after a second writing."""
    answer = {"content": [], "structured": {"result": None}}
    first = recorded_in(answer, is_stopped=False)
    assert first.data is None
    assert recorded_in(first.to_dict(), is_stopped=False).data is None


def test_runs_again_as_before():
    """The data is not needed for that."""
    run_tool(tools.add, a=1)
    assert history()[-1].observation.data == 2
    assert history()[-1].rerun().data == 2
