"""What a stopped tool still returned, in the record: counted, cut and saved as any other result."""

import json
from functools import partial

import pytest

from toolbench import Observation, TextContent, ToolDefinition, history
from toolbench.core.schema import Action
from toolbench.runs.control import INTERRUPTED
from toolbench.runs.history import RunHistory
from toolbench.runs.perform import perform
from toolbench.runs.record import LIMIT
from toolbench.runs.run import Run

pytestmark = pytest.mark.usefixtures("no_records")


class Harvest(Observation):
    """A result whose class writes the text for a model itself."""

    kilograms: int
    notes: str = ""

    @property
    def to_llm_content(self):
        return [TextContent(text=f"{self.kilograms} kg.")]


class Gathers:
    """A tool that returns what it has when it is stopped."""

    def __init__(self, observation, *, is_stopped=True):
        self.observation, self.is_stopped = observation, is_stopped

    def __call__(self, action):
        if self.is_stopped:
            self.run.control.request(INTERRUPTED)
        return self.observation


def record_of(observation, **options):
    """The record of a run that ended with *observation*."""
    executor = Gathers(observation, **options)
    tool = ToolDefinition(name="gather", action_type=Action, executor=executor)
    run = executor.run = Run(tool, {}, source="magic")
    perform(run)
    return history()[-1]


finished = partial(record_of, is_stopped=False)


def test_counts_as_much_as_the_same_result_of_a_run_that_was_not_stopped():
    """So the history's limit of size holds for both."""
    harvest = Harvest(kilograms=3, notes="x" * 10_000)
    assert record_of(harvest).size >= finished(harvest).size > 10_000


def test_makes_room_in_a_full_history():
    """The oldest records go, as they do for other large results."""
    harvest = Harvest(kilograms=3, notes="x" * 10_000)
    records = RunHistory(room=25_000)
    for _ in range(4):
        records.add(record_of(harvest))
    assert len(records) == 2


def test_is_cut_as_the_same_result_of_a_run_that_was_not_stopped():
    """Its start is kept, with a sentence that says so; what the model read of it is whole."""
    harvest = Harvest.from_text("corn " * LIMIT, kilograms=3, notes="x")
    record, other = record_of(harvest), finished(harvest)
    assert record.size < LIMIT
    assert record.observation.partial.text == other.observation.text
    assert "history keeps only the start" in record.to_text()
    assert "3 kg.\n[The user interrupted" in record.observation.text


def test_is_shown_whole_if_it_is_small():
    """As long as it is here, its fields can be read too."""
    record = record_of(Harvest(kilograms=3))
    assert record.observation.kilograms == 3


def test_has_its_fields_in_the_file(tmp_path):
    """As any result; what a model read, and that the run was stopped, stay what they are."""
    history().persist(tmp_path / "runs.jsonl")
    harvest = Harvest(kilograms=3, notes="dry", content=[TextContent(text="3")])
    record_of(harvest)
    finished(harvest)
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    stopped, whole = (json.loads(line)["observation"] for line in lines)
    for name in ("kilograms", "notes"):
        assert stopped[name] == whole[name] == getattr(harvest, name)
    assert stopped["kind"] == "UnfinishedObservation"
    again = RunHistory()
    again.persist(tmp_path / "runs.jsonl")
    assert again[0].state == "cancelled"
    assert again[0].observation.text == history()[0].observation.text
