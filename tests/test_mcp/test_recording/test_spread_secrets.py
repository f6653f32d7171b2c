"""A secret that is spread over several texts stands in no recording, not in parts either."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolbench import current_run
from toolbench.mcp import create_mcp_tools
from toolbench.mcp.recording import Recording
from toolbench.mcp.recording.recorder import Recorder
from toolbench.mcp.recording.server_recorder import ServerRecorder
from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor
from toolbench.testing import FakeMCPServer, Raw

SECRET = "hunter2-tHe_sEcret"
HALVES = SECRET[:9], SECRET[9:]
KNOWN = Redactor([SECRET])
# Which secret has begun is not known yet
BEGUN = "<secret-hidden:0>"


def session_of(recorder):
    """What a session writes into a recording."""
    return ServerRecorder(recorder, "s", hide=lambda name, arguments: arguments)


def lines_of(path, direction="stderr"):
    """What was written in the frames of one direction."""
    recording = Recording.read(path)
    return [f.message for f in recording.frames if f.direction == direction]


def spread(cuts):
    """The secret, in parts."""
    return [SECRET[i:j] for i, j in pairwise([0, *sorted(cuts), len(SECRET)])]


@settings(deadline=None)
@given(
    st.lists(st.integers(4, len(SECRET) - 1), min_size=1, max_size=4, unique=True),
    st.text("ab ", max_size=30),
    st.text("ab ", max_size=30),
)
def test_wherever_it_is_cut(tmp_path_factory, cuts, before, behind):
    """All of it is hidden in lines that come one after another; all else stays, in its order."""
    path = tmp_path_factory.mktemp("recording") / "r.jsonl"
    recorder = Recorder(path)
    session = session_of(recorder)
    parts = spread(cuts)
    texts = ["first", before + parts[0], *parts[1:-1], parts[-1] + behind, "last"]
    for text in texts:
        session.line("stderr", text, KNOWN)
        session.connected("stdio", text[:1])
    recorder.close()
    hidden = lines_of(path)
    assert hidden == [
        "first",
        before + BEGUN,
        *[BEGUN] * (len(parts) - 2),
        "<secret-hidden:1>" + behind,
        "last",
    ]
    kinds = [frame.direction for frame in Recording.read(path).frames]
    assert kinds == ["start", *["stderr", "connect"] * len(texts)]


def test_what_only_begins_like_one_is_hidden_too(path):
    """A line is written at once, before the next one tells whether it was a secret."""
    recorder = Recorder(path)
    for line in (f"ends with {HALVES[0]}", f"{HALVES[0]} and goes on", HALVES[0]):
        session_of(recorder).line("stderr", line, KNOWN)
    recorder.close()
    assert lines_of(path) == [f"ends with {BEGUN}", f"{HALVES[0]} and goes on", BEGUN]


def test_other_texts_between_are_no_matter(path):
    """Lines of stderr go on with each other, and not with those of another server or kind."""
    recorder = Recorder(path)
    other = ServerRecorder(recorder, "other", hide=lambda name, arguments: arguments)
    session_of(recorder).line("stderr", HALVES[0], KNOWN)
    other.line("stderr", HALVES[1], KNOWN)
    session_of(recorder).line("noise", HALVES[1], KNOWN)
    session_of(recorder).line("stderr", HALVES[1], KNOWN)
    recorder.close()
    assert lines_of(path) == [BEGUN, HALVES[1], "<secret-hidden:1>"]
    assert lines_of(path, "noise") == [HALVES[1]]


def test_no_frame_waits(path):
    """A kernel that is killed loses none, whatever was written last; the file can be read meanwhile."""
    recorder = Recorder(path)
    session_of(recorder).connected("stdio", "auto")
    session_of(recorder).line("stderr", f"token {HALVES[0]}", KNOWN)
    session_of(recorder).connected("stdio", "auto")
    assert lines_of(path) == [f"token {BEGUN}"]
    assert len(lines_of(path, "connect")) == 2
    session_of(recorder).line("stderr", HALVES[1], KNOWN)
    recorder.close()
    assert not any(half in path.read_text() for half in HALVES)


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_server_cannot_smuggle_it_in(path, era):
    """Not in its log, its progress, the blocks of a result, or the items of a list in one."""
    server = FakeMCPServer("n", era=era)
    schema = {"type": "object", "properties": {"password": {"type": "string"}}}
    blocks = [{"type": "text", "text": half} for half in HALVES]
    result = {"content": blocks, "structuredContent": {"lines": list(HALVES)}}
    server.answer("whoami", Raw(result), schema=schema)

    @server.tool
    def log_in(password: str) -> str:
        """Log in."""
        for step, half in enumerate(HALVES):
            current_run().progress(step, 2, half)
            current_run().log(half)
        return "welcome"

    with create_mcp_tools({"n": server}, record=path) as client:
        client["log_in"]({"password": SECRET})
        client["whoami"]({})
    assert not any(half in path.read_text() for half in HALVES)
    with create_mcp_tools(replay=path) as client:
        assert client["log_in"]({"password": "another"}).text == "welcome"
        session = client.servers["n"]
        assert [entry.text for entry in session.log] == [MARK, MARK]
        again = client["whoami"]({})
        assert [block.text for block in again.content] == [MARK, MARK]
        assert again.structured == {"lines": [MARK, MARK]}
