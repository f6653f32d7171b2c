"""One answer of a connected server is spoiled: taken, or refused in a sentence, and life goes on."""

import pytest
from patience import eventually

from test_mcp.test_mutated_answers.conftest import (
    ANSWERS,
    LONG,
    SHORT,
    check_sentence,
    outcome,
    work,
)
from test_mcp.test_mutated_answers.mutations import (
    LINES,
    SILENT_LINES,
    bodies,
    carried,
)
from test_mcp.test_mutated_answers.real_answers import REQUESTS
from toolbench.mcp import MCPToolObservation

NO_ANSWER = "no answer within"
WITH_ALL_LINES = [
    *(("legacy shop", "tools/call"), ("modern shop", "tools/call")),
    *(("legacy shop", "tools/list"), ("modern tasks", "tasks/get")),
]
ENVELOPE = ("_meta", "cacheScope", "resultType", "ttlMs")
"""What each answer of the newer protocol has: spoiled in the answers to calls only."""
SOME_SILENCE = ("half", "version-1.0")
PLACES = [
    (server, method)
    for server in ANSWERS
    for method in REQUESTS[server.split()[1]]
    if method in ANSWERS[server]
]


def mutations(server, method):
    """The mutations of the result that a *server* gives to a *method*, by name."""
    spared = () if method == "tools/call" else ENVELOPE
    results = bodies(ANSWERS[server][method], 3)
    return {name: text for name, text in results.items() if not name.startswith(spared)}


def lines(server, method):
    """What can be odd about the line of an answer, by name."""
    if (server, method) not in WITH_ALL_LINES:
        return {}
    return {name: carried(line, ANSWERS[server][method]) for name, line in LINES.items()}


def silences(lines):
    """Each server and method with the *lines* that hold no answer."""
    for server, method in PLACES:
        for name in lines:
            text = carried(SILENT_LINES[name], ANSWERS[server][method])
            yield pytest.param(
                server, method, text, id=f"{server}: {method} {name}".replace(" ", "-")
            )


def check(value):
    """What came out can be read, as a value or as a failure in a sentence."""
    if isinstance(value, MCPToolObservation):
        value.to_llm_content, repr(value), value.visualize
        if value.is_error:
            check_sentence(value.text)
    assert len(repr(value)) >= 0
    return value


def request(session, server, method):
    """Have the request of *method* sent; return the outcome."""
    return check(outcome(REQUESTS[server.split()[1]][method], session))


def is_failure(value):
    """Whether the *value* is a sentence about a failure."""
    return isinstance(value, str) or getattr(value, "is_error", False)


def check_neighbour(session, server, tasks):
    """The same requests have their real answers again, and no task is left of those before."""
    good = request(session, server, "tools/call")
    assert not is_failure(good), good
    eventually(lambda: len(work()) <= tasks)


# Each method of a server is read by code of its own
@pytest.mark.every_case
@pytest.mark.parametrize(("server", "method"), PLACES)
def test_a_spoiled_answer(planned, drawn, subtests, server, method):
    """It is taken or refused at once: no time limit has to end the wait. The real one is taken."""
    session, plan, tasks = planned(server)
    assert not is_failure(request(session, server, method))
    session.call_seconds = LONG
    for name, text in (*drawn(mutations(server, method)), *drawn(lines(server, method))):
        with subtests.test(name):
            plan.keep(**{method: text})
            try:
                value = request(session, server, method)
            finally:
                plan.keep()
            assert NO_ANSWER not in str(value).lower()
            check_neighbour(session, server, tasks)


def silent_calls():
    """Each server with the lines that hold no answer to a call."""
    calls = [(f"{era} shop", "tools/call") for era in ("legacy", "modern")]
    return [case for case in silences(SILENT_LINES) if case.values[:2] in calls]


@pytest.mark.parametrize(("server", "method", "text"), silent_calls())
def test_no_answer_ends_at_the_time_limit(planned, server, method, text):
    """The sentence says how long was waited, and the next call has its answer."""
    session, plan, tasks = planned(server)
    plan.keep(**{method: text})
    session.call_seconds = SHORT
    try:
        value = request(session, server, method)
    finally:
        session.call_seconds = LONG
        plan.keep()
    assert value.is_error
    assert NO_ANSWER in value.text.lower()
    check_neighbour(session, server, tasks)


@pytest.mark.long
@pytest.mark.parametrize(("server", "method", "text"), list(silences(SOME_SILENCE)))
def test_no_answer_and_then_the_end(planned, server, method, text):
    """A server that ends instead of answering is named, and started again by the next request."""
    session, plan, tasks = planned(server)
    pid = session.connection.pid
    plan.keep(**{method: text, "ends": method})
    try:
        value = request(session, server, method)
    finally:
        plan.keep()
    assert NO_ANSWER not in str(value).lower()
    check_neighbour(session, server, tasks)
    assert session.connection.pid != pid
