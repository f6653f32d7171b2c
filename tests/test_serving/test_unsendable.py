"""What JSON cannot hold reaches the agent as a valid answer: no call hangs or breaks."""

import math
from typing import Any

import pytest
from fastmcp.client.elicitation import ElicitResult

from test_serving.clients import ERAS, call, talk
from toolbench import Action, Observation, ToolDefinition, current_run, tool
from toolbench.serving import serve

HALF = "\ud800"


class Reading(Observation):
    """A number that was read."""

    value: float = 0
    label: str = ""


class Wayward(Observation):
    """A result whose own code fails."""

    def to_mcp_result(self) -> dict[str, Any]:
        """Fail."""
        msg = f"no result{HALF}"
        raise ValueError(msg)


@tool(read_only=True)
def text() -> str:
    """Return half of a character."""
    return f"a{HALF}b"


@tool(read_only=True)
def mapping():
    """Return what JSON has no words for."""
    return {"a": math.nan, "b": [math.inf, "é"]}


@tool(read_only=True)
def reading(value: str, label: str = "") -> Reading:
    """Read a number."""
    return Reading.from_text("read", value=float(value), label=label or HALF)


@tool(read_only=True)
def failing() -> str:
    """Fail with half of a character."""
    raise ValueError(HALF)


@tool(read_only=True)
def wayward() -> Wayward:
    """Return what cannot be read."""
    return Wayward()


@tool(read_only=True)
def steps() -> str:
    """Tell of progress and log lines that cannot be sent as they are."""
    run = current_run()
    run.progress(math.nan, 3, "no number")
    run.progress(math.inf, 3, "too large")
    run.progress(1, math.inf, f"step{HALF}")
    run.log(f"line{HALF}")
    run.log("no level", HALF)
    return "done"


@tool(read_only=True)
def asking() -> str:
    """Ask with half of a character, in the words and in the form."""
    field = {"type": "string", "description": HALF, "default": HALF}
    form = {"type": "object", "properties": {"name": field}}
    answer = current_run().ask(f"Who{HALF}?", form)
    return f"{answer.action}: {answer['name']}"


DESCRIBED = ToolDefinition(
    name="described",
    description=f"Half: {HALF}",
    meta={"limit": math.inf, HALF: HALF},
    action_type=Action,
    executor=lambda action: "described",
)
TOOLS = [text, mapping, reading, failing, wayward, steps, asking, DESCRIBED]


@pytest.fixture(scope="module")
def served():
    with serve(TOOLS, name="unsendable") as served:
        yield served


@pytest.fixture(params=ERAS.values(), ids=ERAS)
def mode(request):
    return request.param


def said(result):
    """The texts of *result*, and whether it is a failure."""
    return [block.text for block in result.content], result.is_error


def test_a_text_is_sent_with_a_mark(served, mode):
    """As a message of a server with half of a character is read."""
    assert said(call(served, "text", mode=mode)) == (["a\ufffdb"], False)


def test_a_structure_is_sent_with_texts_for_numbers(served, mode):
    """As a record of the call keeps them."""
    result = call(served, "mapping", mode=mode)
    assert result.structured_content == {"a": "nan", "b": ["inf", "é"]}
    assert not result.is_error


def test_a_structure_that_fits_its_schema_is_no_failure(served, mode):
    """Half of a character in a text leaves a text."""
    result = call(served, "reading", {"value": "2.5"}, mode)
    assert result.structured_content["label"] == "\ufffd"
    assert not result.is_error


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_promise_that_cannot_be_kept_is_a_failure(served, mode, value):
    """The content is there still, and a sentence why."""
    texts, is_error = said(call(served, "reading", {"value": value}, mode))
    assert is_error
    assert texts[0] == "read"
    assert f'value: should be a number, not "{value}"' in texts[1]


def test_an_error_is_sent_with_a_mark(served, mode):
    """And is an error."""
    texts, is_error = said(call(served, "failing", mode=mode))
    assert is_error
    assert "ValueError: \ufffd" in texts[0]


def test_a_result_whose_own_code_fails_is_a_failure(served, mode):
    """The agent does not wait for it for ever."""
    texts, is_error = said(call(served, "wayward", mode=mode))
    assert (texts, is_error) == (
        ["The result of wayward cannot be sent: no result\ufffd."],
        True,
    )


def test_progress_and_lines_are_sent_with_marks(served, mode):
    """Progress that is no number is left out, as is a total that is none."""
    steps_seen, lines = [], []

    async def note(value, total, message):
        steps_seen.append((value, total, message))

    async def line(message):
        lines.append(message.data)

    result = call(served, "steps", {}, mode, progress_handler=note, log_handler=line)
    assert said(result) == (["done"], False)
    assert steps_seen == [(1, None, "step\ufffd")]
    assert set(lines) <= {"line\ufffd"}


def test_a_question_is_asked_with_marks(served, mode):
    """And answered."""
    questions = []

    async def answer(message, response_type, params, context):
        questions.append((message, params.requested_schema["properties"]["name"]))
        return ElicitResult(action="accept", content={"name": "me"})

    result = call(served, "asking", {}, mode, elicitation_handler=answer)
    assert said(result) == (["accept: me"], False)
    field = {"type": "string", "description": "\ufffd", "default": "\ufffd"}
    assert questions == [("Who\ufffd?", field)]


def test_a_description_is_listed_with_marks(served, mode):
    """And hides no other tool."""
    tools = talk(served, lambda client: client.list_tools(), mode)
    assert len(tools) == len(TOOLS)
    assert tools[-1].description == "Half: \ufffd"
    assert tools[-1].meta == {"limit": "inf", "\ufffd": "\ufffd"}
