"""The warning of an older server about our `server/discover`, as SDK 1.30 wrote it on 26 November 2026."""

import pytest

from test_mcp.peers import light
from toolbench.mcp.monitoring.stderr import ENDED, REMARK, StderrTail

PLAIN = """\
WARNING:root:Failed to validate request: 31 validation errors for ClientRequest
PingRequest.method
  Input should be 'ping' [type=literal_error, input_value='server/discover', input_type=str]
    For further information visit https://errors.pydantic.dev/2.14/v/literal_error
InitializeRequest.params.protocolVersion
  Field required [type=missing, input_value={'_meta': {'io.modelconte...protocol/skills': {}}}}}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.14/v/missing
"""
RICH = """\
[11/26/26 18:11:25] WARNING  Failed to validate request: 31       session.py:383
                             validation errors for ClientRequest                \n\
                             PingRequest.method                                 \n\
                               Input should be 'ping'                           \n\
                             [type=literal_error,                               \n\
                             input_value='server/discover',                     \n\
                             input_type=str]                                    \n\
                                 For further information visit                  \n\
                             https://errors.pydantic.dev/2.14/v/l               \n\
                             iteral_error                                       \n\
                             InitializeRequest.params.protocolVer               \n\
                             sion                                               \n\
"""
AFTER = "                    INFO     Processing request of type            server.py:733"


OLDEST = PLAIN.replace(
    "WARNING:root:Failed to validate request:", "      | pydantic_core.ValidationError:"
)


@pytest.mark.parametrize("warning", [PLAIN, RICH, OLDEST], ids=["plain", "rich", "oldest"])
@pytest.mark.parametrize("after", [AFTER, "INFO:shop:Ready.", "Traceback (most recent call last):"])
def test_is_a_remark_of_one_line(warning, after):
    """What stands before and after it stays; a recording has the warning."""
    written = []
    tail = StderrTail(on_line=written.append)
    with tail.pipe() as file:
        file.write(f"starting\n{warning}{after}\n")
    assert list(tail) == ["starting", REMARK, after]
    assert written == ["starting", *warning.splitlines(), after]
    for line in f"starting\n{warning}{after}".splitlines():
        # As a replay does
        tail.add(line)
    assert list(tail)[3:] == ["starting", REMARK, after]


@pytest.mark.parametrize("warning", [PLAIN, RICH], ids=["plain", "rich"])
def test_about_another_request_stays(warning):
    """It is then no doing of ours that is known: nothing of it is left out."""
    text = warning.replace("server/discover", "tools/call")
    tail = StderrTail()
    with tail.pipe() as file:
        file.write(text)
    assert list(tail) == text.splitlines()


def test_of_another_kind_is_there_at_once():
    """It may be the last line of a server that hangs: nothing waits for a line after it."""
    line = "WARNING:root:Failed to validate request: Received request before initialization was complete"
    tail = StderrTail()
    tail.add(line)
    assert list(tail) == [line]


def test_that_breaks_off_stays():
    """A server that ends within it: its last words are there."""
    tail = StderrTail()
    with tail.pipe() as file:
        file.write("".join(PLAIN.splitlines(keepends=True)[:2]))
    assert list(tail) == PLAIN.splitlines()[:2]
    with tail.pipe() as file:
        file.write("Failed to validate request: no\nIt was Tuesday.\n")
    assert list(tail)[2:] == ["Failed to validate request: no", "It was Tuesday."]


def test_that_ends_the_process_has_a_remark_about_the_second(client):
    """The second one serves; what is above the remark is of the first."""
    session = client.connect("old", light("--dead-inside", "old", "t"))
    assert list(session.stderr) == ["dead inside", ENDED]
    assert client["t"]({}).text == "old"


def test_that_ends_the_process_without_a_word_needs_none():
    """The log of such a server stays empty."""
    tail = StderrTail()
    tail.add("of an earlier start")
    tail.remark(ENDED, since=tail.total)
    assert list(tail) == ["of an earlier start"]
