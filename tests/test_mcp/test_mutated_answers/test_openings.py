"""The first answer of a server is spoiled: it connects, or a sentence says why not."""

import pytest
from patience import eventually

from test_mcp.peers import children, is_running
from test_mcp.test_mutated_answers.conftest import (
    ANSWERS,
    LONG,
    Planned,
    outcome,
    work,
)
from test_mcp.test_mutated_answers.mutations import (
    LINES,
    SILENT_LINES,
    bodies,
    carried,
)
from toolbench.mcp import MCPClient

OPENINGS = {"legacy shop": "initialize", "modern shop": "server/discover"}
SOME_SILENCE = ("half", "a-word", "version-1.0")


def mutations(server):
    """The mutations of the first answer of a *server*, by name."""
    result = ANSWERS[server][OPENINGS[server]]
    return bodies(result, 2) | {name: carried(line, result) for name, line in LINES.items()}


def silences(names):
    """Each server with the lines that hold no first answer."""
    return [
        pytest.param(
            server,
            carried(SILENT_LINES[name], ANSWERS[server][method]),
            id=f"{server}: {method} {name}".replace(" ", "-"),
        )
        for server, method in OPENINGS.items()
        for name in names
    ]


@pytest.fixture
def connect(tmp_path):
    """A function that connects a server with a plan: the session, or a sentence; nothing is left."""
    before, tasks = children(), len(work())

    def connect(server, seconds=LONG, **plan):
        planned = Planned(server, tmp_path)
        planned.keep(**plan)
        client.timeout = seconds
        return outcome(client.connect, "s", planned.entry), client

    with MCPClient(timeout=LONG) as client:
        yield connect
    eventually(lambda: not any(map(is_running, children() - before)))
    eventually(lambda: len(work()) <= tasks)


def check(opened):
    """A session that is there can be used and shown."""
    if not isinstance(opened, str):
        assert opened.status == "connected"
        repr(opened), opened.server_info, opened.capabilities, opened.instructions
        assert not opened.call("basket", {"item": "pear"}).is_error
    return opened


@pytest.mark.parametrize("server", OPENINGS)
def test_the_real_answer_is_taken(connect, server):
    """So what follows is about the mutation."""
    opened, _ = connect(server)
    assert not isinstance(check(opened), str)


@pytest.mark.slow
@pytest.mark.parametrize("server", OPENINGS)
def test_a_spoiled_answer(connect, drawn, subtests, server):
    """It is taken or refused at once: no time limit has to end the wait."""
    for name, text in drawn(mutations(server)):
        with subtests.test(name):
            opened, client = connect(server, **{OPENINGS[server]: text})
            check(opened)
            assert "no answer within" not in str(opened)
            # After a failure there is the failed session, or the former one keeps the name
            session = client.servers.get("s")
            is_connected = session is not None and session.is_connected
            assert is_connected != isinstance(opened, str)
            if session is not None:
                client.disconnect("s")


@pytest.mark.parametrize(("server", "text"), silences(SOME_SILENCE))
def test_no_answer_and_then_the_end(connect, server, text):
    """The end of the process ends the wait; in the newer protocol the older one is tried then."""
    method = OPENINGS[server]
    opened, _ = connect(server, **{method: text, "ends": method})
    assert isinstance(opened, str)
    assert "no answer within" not in opened


@pytest.mark.parametrize(("server", "text"), silences(["nothing", "half"]))
def test_no_answer_ends_at_the_time_limit(connect, server, text):
    """And the process with it."""
    opened, _ = connect(server, seconds=1, **{OPENINGS[server]: text})
    assert isinstance(opened, str)
