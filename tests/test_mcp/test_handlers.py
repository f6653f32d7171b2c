"""`elicitation_handler` and `sampling_handler`: who answers which question of a server."""

import asyncio
from inspect import iscoroutinefunction

import pytest

from toolbench.mcp import MCPClient, create_mcp_tools
from toolbench.mcp.client import handler_of
from toolbench.mcp.elicitation import FormQuestion, SamplingQuestion, answer_of

FORM = FormQuestion(server="s", message="How many?", schema={"type": "integer"})
SAMPLE = SamplingQuestion(server="s", message="Go on.", messages=[])


def form(question):
    return {"answer": 1}


def message(question):
    return "a message"


async def later(question):
    return "later"


def answers(handler):
    """What *handler* answers to a form and to a request for a message."""
    both = [asyncio.run(answer_of(handler, question)) for question in (FORM, SAMPLE)]
    return [answer.content["answer"] for answer in both]


@pytest.mark.parametrize(
    ("handlers", "expected"),
    [
        ((form, message), [1, "a message"]),
        ((form, later), [1, "later"]),
        ((later, message), ["later", "a message"]),
        ((later, later), ["later", "later"]),
    ],
)
def test_each_kind_goes_to_its_handler(handlers, expected):
    """Plain and async handlers may be mixed."""
    assert answers(handler_of(*handlers)) == expected


def test_plain_handlers_stay_plain():
    """They are called in the thread that waits, so that they may block."""
    assert not iscoroutinefunction(handler_of(form, message))


def test_without_handlers_there_is_none():
    """Then the run or the person is asked."""
    assert handler_of(None, None) is None


def test_the_older_name_answers_both_with_a_warning():
    """`answerer=` is heard for one release; the warning names the line that passes it."""
    for make in (
        lambda: create_mcp_tools({}, answerer=form),
        lambda: MCPClient(answerer=form),
    ):
        with (
            pytest.warns(DeprecationWarning, match="elicitation_handler") as warned,
            make() as client,
        ):
            assert answers(client.answerer) == [1, 1]
        assert [warning.filename for warning in warned] == [__file__]
