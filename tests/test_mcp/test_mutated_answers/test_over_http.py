"""Answers over HTTP and SSE are spoiled: taken, or refused in a sentence, and life goes on."""

import json
import threading
from contextlib import ExitStack

import pytest
from patience import eventually

from test_mcp.peers import children, is_running
from test_mcp.test_mutated_answers.conftest import (
    ANSWERS,
    IDLE,
    LONG,
    SHORT,
    outcome,
    work,
)
from test_mcp.test_mutated_answers.http_mutations import (
    RESPONSES,
    SILENT_STREAMS,
    STREAMS,
    responses,
    streams,
)
from test_mcp.test_mutated_answers.http_server import answering
from test_mcp.test_mutated_answers.mutations import (
    LINES,
    SILENT_LINES,
    bodies,
    carried,
)
from test_mcp.test_mutated_answers.real_answers import ERAS, REQUESTS
from test_mcp.test_mutated_answers.test_requests import (
    NO_ANSWER,
    PLACES,
    check_neighbour,
    is_failure,
    mutations,
    request,
)
from toolbench.mcp import MCPClient

WAYS = ("json", "events", "sse")
OPENINGS = {"legacy": "initialize", "modern": "server/discover"}
BROKEN = {
    *("a-length-too-large", "a-length-below-zero", "two-lengths", "half-a-head"),
    *("chunks-without-end", "chunks-of-odd-size", "compressed-and-not"),
    *("events-compressed-and-not", "a-head-without-end", "a-status-of-two-digits"),
}
"""Responses that are no HTTP, whatever their status is."""
MARKED = "with-a-byte-order-mark"
"""Over SSE the mark comes in the middle of the stream, where it makes the field an unknown one."""
PATHS = [
    (server, way)
    for server in ANSWERS
    for way in WAYS
    # SSE is older than the newer protocol
    if way != "sse" or server.startswith("legacy")
]
OF_A_SHOP = [(server, way) for server, way in PATHS if server.endswith("shop")]


def is_taken(way, name):
    """Whether the response of this name says over SSE that the answer will come by the stream."""
    text = RESPONSES[name]
    is_page = "text/html" in text or name in BROKEN
    return way == "sse" and text.startswith("HTTP/1.1 2") and not is_page


def results(server, way):
    """The mutations of the results of a *server*, each with its method."""
    return {
        f"{method} {name}": (method, text)
        for place, method in PLACES
        if place == server
        for name, text in mutations(server, method).items()
    }


def carriers(server, way):
    """What can be odd about the lines, streams and responses of a shop, each with its method."""
    plans = {}
    for method in ("tools/call", "tools/list") if server.endswith("shop") else ():
        result = ANSWERS[server][method]
        odd = {name: carried(line, result) for name, line in LINES.items()}
        odd |= events(way, result)
        # A response is one, whatever was wanted
        if way != "events":
            odd |= {n: r for n, r in responses().items() if not is_taken(way, n)}
        if way == "json":
            odd |= streams(json.dumps(result), SILENT_STREAMS)
        plans |= {f"{method} {name}": (method, plan) for name, plan in odd.items()}
    return plans


def events(way, result):
    """What can be odd about the events that carry *result*, by name."""
    if way == "json":
        return {}
    plans = streams(json.dumps(result), STREAMS)
    if way == "sse":
        del plans[MARKED]
    return plans


def silences(server, way):
    """What a shop may answer to a call that is no answer, by name."""
    result = ANSWERS[server]["tools/call"]
    silent = {name: carried(line, result) for name, line in SILENT_LINES.items()}
    if way == "sse":
        silent |= streams(json.dumps(result), {MARKED: STREAMS[MARKED]})
    return silent | {n: r for n, r in responses().items() if is_taken(way, n)}


def openings(server, way):
    """Odd first answers of a shop, by name."""
    result = ANSWERS[server][OPENINGS[server.split()[0]]]
    plans = {n: r for n, r in responses().items() if not is_taken(way, n)}
    plans |= bodies(result, 2)
    plans |= {name: carried(line, result) for name, line in LINES.items()}
    return plans | events(way, result)


@pytest.fixture(scope="module")
def planned():
    """A function that returns the session of a server by a way, its plan, and its usual tasks."""
    before, tasks = children(), len(work())
    threads = threading.active_count()
    with ExitStack() as stack:
        opened = {}
        client = stack.enter_context(MCPClient(timeout=LONG))

        def of(server, way):
            if (server, way) not in opened:
                serving = stack.enter_context(answering(ANSWERS[server]))
                stack.callback(client.disconnect, f"{server} {way}")
                session = client.connect(f"{server} {way}", entry(serving, server, way))
                REQUESTS[server.split()[1]]["tools/call"](session)
                opened[server, way] = session, serving, len(work())
            session, serving, _ = opened[server, way]
            return session, serving, max(usual for _, _, usual in opened.values())

        yield of
    eventually(lambda: not any(map(is_running, children() - before)))
    eventually(lambda: len(work()) <= tasks)
    eventually(lambda: threading.active_count() <= threads + IDLE)


def entry(serving, server, way):
    """The entry of a *server*, for the protocol of its era and the *way* of its answers."""
    transport = "sse" if way == "sse" else "http"
    mode = ERAS[server.split()[0]]
    return {"url": serving.url(way), "transport": transport, "mode": mode}


# Each server and way has code of its own
@pytest.mark.every_case
@pytest.mark.parametrize(("server", "way"), PATHS)
@pytest.mark.parametrize("spoiled", [results, carriers])
def test_a_spoiled_answer(planned, drawn, subtests, spoiled, server, way):
    """It is taken or refused at once: no time limit has to end the wait."""
    session, serving, tasks = planned(server, way)
    session.call_seconds = LONG
    for name, (method, plan) in drawn(spoiled(server, way)):
        with subtests.test(name):
            serving.keep(**{method: plan})
            try:
                value = request(session, server, method)
            finally:
                serving.keep()
            assert NO_ANSWER not in str(value).lower()
            check_neighbour(session, server, tasks)


@pytest.mark.parametrize(("server", "way"), OF_A_SHOP)
def test_no_answer_ends_the_wait(planned, drawn, subtests, server, way):
    """At the latest at the time limit; and the next call has its answer."""
    session, serving, tasks = planned(server, way)
    for name, plan in drawn(silences(server, way)):
        with subtests.test(name):
            serving.keep(**{"tools/call": plan})
            session.call_seconds = SHORT
            try:
                value = request(session, server, "tools/call")
            finally:
                session.call_seconds = LONG
                serving.keep()
            if way == "sse":
                assert value.is_error
            check_neighbour(session, server, tasks)


@pytest.mark.parametrize(("server", "way"), OF_A_SHOP)
def test_a_spoiled_first_answer(drawn, subtests, server, way):
    """It connects, or a sentence says why not; no time limit has to end the wait."""
    tasks = len(work())
    method = OPENINGS[server.split()[0]]
    for name, plan in drawn(openings(server, way)):
        with (
            subtests.test(name),
            answering(ANSWERS[server]) as serving,
            MCPClient(timeout=LONG) as client,
        ):
            serving.keep(**{method: plan})
            opened = outcome(client.connect, "s", entry(serving, server, way))
            if not is_failure(opened):
                assert opened.status == "connected"
                repr(opened), opened.server_info, opened.capabilities
            assert NO_ANSWER not in str(opened)
        eventually(lambda: len(work()) <= tasks)
