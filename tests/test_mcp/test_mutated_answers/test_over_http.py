"""Answers over HTTP and SSE are spoiled: taken, or refused in a sentence, and life goes on.

Of all mutations a part is drawn, the same in each run; with `MUTATIONS=all` in the environment none is
left out.
"""

import json
import os
import random
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
    ENVELOPE,
    NO_ANSWER,
    PLACES,
    check_neighbour,
    is_failure,
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
# Of the mutations of results, for each server and way
DRAWN = 40


def is_spoken(era, way):
    """Whether servers of this *era* answer in this *way*: SSE is older than the newer protocol."""
    return way != "sse" or era == "legacy"


def is_taken(way, name):
    """Whether the response of this name says over SSE that the answer will come by the stream."""
    text = RESPONSES[name]
    is_page = "text/html" in text or name in BROKEN
    return way == "sse" and text.startswith("HTTP/1.1 2") and not is_page


def sample(cases, seed):
    """Some of the *cases*, the same ones in each run."""
    if os.environ.get("MUTATIONS") == "all" or len(cases) <= DRAWN:
        return cases
    return random.Random(seed).sample(cases, DRAWN)


def _case(server, way, method, name, plan):
    name = f"{server}: {way} {method} {name}".replace(" ", "-")
    return pytest.param(server, way, method, plan, id=name)


def _servers():
    return [(s, w) for s in ANSWERS for w in WAYS if is_spoken(s.split()[0], w)]


def results():
    """Each server and way with mutations of the results of each request."""
    for server, way in _servers():
        cases = []
        for place, method in PLACES:
            if place != server:
                continue
            spared = () if method == "tools/call" else ENVELOPE
            cases += [
                _case(server, way, method, name, text)
                for name, text in bodies(ANSWERS[server][method], 3).items()
                if not name.startswith(spared)
            ]
        yield from sample(cases, f"{server} {way}")


def carriers():
    """Each server of a shop with what can be odd about lines, streams, and responses."""
    for server, way in _servers():
        if server.endswith("tasks"):
            continue
        for method in ("tools/call", "tools/list"):
            result = ANSWERS[server][method]
            plans = {n: carried(line, result) for n, line in LINES.items()}
            if way != "json":
                plans |= streams(json.dumps(result), STREAMS)
            # A response is one, whatever was wanted
            if way != "events":
                plans |= {n: r for n, r in responses().items() if not is_taken(way, n)}
            if way == "json":
                plans |= streams(json.dumps(result), SILENT_STREAMS)
            cases = [_case(server, way, method, *plan) for plan in plans.items()]
            yield from sample(cases, f"{server} {way} {method}")


def silences():
    """Each server of a shop with answers to a call that are none."""
    for server, way in _servers():
        if server.endswith("shop"):
            for name, line in SILENT_LINES.items():
                text = carried(line, ANSWERS[server]["tools/call"])
                yield _case(server, way, "tools/call", name, text)
            for name, response in responses().items():
                if is_taken(way, name):
                    yield _case(server, way, "tools/call", name, response)


def openings():
    """Each way to connect with odd first answers."""
    for server, way in _servers():
        era, kind = server.split()
        if kind == "shop":
            method = OPENINGS[era]
            result = ANSWERS[server][method]
            plans = {n: r for n, r in responses().items() if not is_taken(way, n)}
            plans |= bodies(result, 2)
            plans |= {n: carried(line, result) for n, line in LINES.items()}
            if way != "json":
                plans |= streams(json.dumps(result), STREAMS)
            cases = [_case(server, way, method, *plan) for plan in plans.items()]
            yield from sample(cases, f"opening {server} {way}")


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """A function that returns the session of a server by a way, its plan, and its usual tasks."""
    patch = pytest.MonkeyPatch()
    # Of tasks
    patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
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
    patch.undo()
    eventually(lambda: not any(map(is_running, children() - before)), LONG)
    eventually(lambda: len(work()) <= tasks, LONG)
    eventually(lambda: threading.active_count() <= threads + IDLE, LONG)


def entry(serving, server, way):
    """The entry of a *server*, for the protocol of its era and the *way* of its answers."""
    transport = "sse" if way == "sse" else "http"
    mode = ERAS[server.split()[0]]
    return {"url": serving.url(way), "transport": transport, "mode": mode}


@pytest.mark.parametrize(("server", "way", "method", "plan"), [*results(), *carriers()])
def test_a_spoiled_answer(planned, server, way, method, plan):
    """It is taken or refused at once: no time limit has to end the wait."""
    session, serving, tasks = planned(server, way)
    session.call_seconds = LONG
    serving.keep(**{method: plan})
    try:
        value = request(session, server, method)
    finally:
        serving.keep()
    assert NO_ANSWER not in str(value).lower()
    check_neighbour(session, server, tasks)


@pytest.mark.parametrize(("server", "way", "method", "plan"), list(silences()))
def test_no_answer_ends_the_wait(planned, server, way, method, plan):
    """At the latest at the time limit; and the next call has its answer."""
    session, serving, tasks = planned(server, way)
    serving.keep(**{method: plan})
    session.call_seconds = SHORT
    try:
        value = request(session, server, method)
    finally:
        session.call_seconds = LONG
        serving.keep()
    if way == "sse":
        assert value.is_error
    check_neighbour(session, server, tasks)


@pytest.mark.parametrize(("server", "way", "method", "plan"), list(openings()))
def test_a_spoiled_first_answer(server, way, method, plan):
    """It connects, or a sentence says why not; no time limit has to end the wait."""
    tasks = len(work())
    with answering(ANSWERS[server]) as serving, MCPClient(timeout=LONG) as client:
        serving.keep(**{method: plan})
        opened = outcome(client.connect, "s", entry(serving, server, way))
        if not is_failure(opened):
            assert opened.status == "connected"
            repr(opened), opened.server_info, opened.capabilities
        assert NO_ANSWER not in str(opened)
    eventually(lambda: len(work()) <= tasks, LONG)
