"""Nothing that a tool got or returned makes history, journal or display raise."""

import json
from typing import Any

import pytest
from hostile_values import HOSTILE

from toolbench import Action, Observation, ToolDefinition, history, run_tool, tool
from toolbench.runs.history import RunHistory

SECRET = "hunter2-tHe_sEcret"
pytestmark = pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)


class AnyAction(Action):
    x: Any = None

    @property
    def visualize(self):
        raise ValueError(self.x)


class AnyObservation(Observation):
    x: Any = None

    @property
    def visualize(self):
        raise ValueError(self.x)


class ShownAction(Action):
    x: Any = None


@tool
def take(x: Any) -> str:
    """Take anything."""
    return "taken"


@tool
def give(x: Any) -> Any:
    """Give it back."""
    return x


@tool
def fail(x: Any) -> Any:
    """Fail with it."""
    raise ValueError(x)


KEEP = ToolDefinition(
    name="keep",
    action_type=AnyAction,
    observation_type=AnyObservation,
    executor=lambda action: AnyObservation.from_text("kept", x=action.x),
)
TOOLS = pytest.mark.parametrize("one", [take, give, fail, KEEP], ids=lambda t: t.name)


def forms_of(thing):
    """All that *thing* says of itself."""
    return [repr(thing), str(thing), *thing._repr_mimebundle_().values()]


@pytest.fixture
def journal(tmp_path):
    history().clear()
    history().persist(tmp_path / "runs.jsonl")
    yield tmp_path / "runs.jsonl"
    history().clear()


@TOOLS
def test_a_run_is_recorded_and_shown(one, value, journal):
    """The run returns, and record, history, JSON and table can be written and looked at."""
    observation = run_tool(one, {"x": value})
    [record] = history()
    assert record.state == ("error" if one is fail else "ok")
    for thing in (observation, record, history()):
        assert all(forms_of(thing))
    assert record.to_html() and record.to_text()
    [written] = json.loads(history().to_json())
    assert written["tool"] == one.name
    assert history().to_dataframe().to_string()
    assert observation.to_dict()["content"]


@tool
def give_locked(x: Any, password: str) -> Any:
    """Give it back beside the secret."""
    return [x, password]


@tool
def fail_locked(x: Any, password: str) -> Any:
    """Fail with it and the secret."""
    error = ValueError(x, password)
    error.value = x
    raise error


@pytest.mark.parametrize("one", [give_locked, fail_locked], ids=lambda t: t.name)
def test_a_run_with_a_secret_is_recorded_and_shown(one, value, journal):
    """What cannot be looked into becomes the mark, and hides nothing else of the run."""
    observation = run_tool(one, x=value, password=SECRET)
    [record] = history()
    assert record.state == ("error" if one is fail_locked else "ok")
    texts = [*forms_of(observation), *forms_of(record), *forms_of(history())]
    texts += [history().to_json(), record.traceback, journal.read_text()]
    assert not any(SECRET in text for text in texts)
    assert record.observation.text


@TOOLS
def test_the_journal_is_read_again(one, value, journal):
    """What was written is a line of JSON that another session reads."""
    run_tool(one, {"x": value})
    later = RunHistory()
    later.persist(journal)
    [record] = later
    assert record.tool == one.name
    assert all(forms_of(record))


def test_names_that_are_no_text(value, journal):
    """Arguments under such names are refused in a sentence, and the call can be looked at."""
    try:
        hash(value)
    except (TypeError, RuntimeError):
        # From Python 3.13 a path hashes its text
        pytest.skip("cannot be a key")
    if isinstance(value, str):
        pytest.skip("is text")
    assert run_tool(take, {value: 1}).is_error
    [record] = history()
    assert all(forms_of(record))
    assert record.to_html() and json.loads(history().to_json())


def test_an_action_shows_itself(value):
    """An action can be printed and shown in a cell, whatever it holds."""
    for kind in (AnyAction, ShownAction):
        action = kind(x=value)
        assert all(forms_of(action))
        assert action.to_dict()["kind"] == kind.__name__


def test_a_tool_with_such_a_default_is_offered(value):
    """A default that JSON cannot say is left out; models and people are shown the rest."""

    def defaulted(x: Any = value) -> str:
        """Take it or leave it."""
        return "taken"

    definition = tool(defaulted)
    for exported in (
        definition.to_mcp_tool(),
        definition.to_openai_tool(True),
        definition.to_dict(),
    ):
        text = json.dumps(exported, ensure_ascii=False, allow_nan=False)
        assert text.encode()
    assert definition._repr_mimebundle_()
    assert run_tool(definition).text
