"""What is written as it came, at a glance, holds no secret: a closer look would have left it so."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolbench.mcp.recording.recorder import Recorder, is_plain
from toolbench.redaction import MARK
from toolbench.redaction.redactor import NO_SECRETS, Redactor

SECRET = "sesame/4711é"
KNOWN = Redactor([SECRET])
CUTS = [SECRET[i:j] for i in range(len(SECRET)) for j in range(i + 1, len(SECRET) + 1)]
TEXTS = st.sampled_from([*CUTS, "", "a", '"', "\\", ",", "{", "text", MARK])
BLOCKS = st.one_of(
    TEXTS,
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
    st.builds(lambda text: {"resource": {"uri": "x://y", "text": text}}, TEXTS),
)
VALUES = st.recursive(
    st.one_of(BLOCKS, st.none(), st.booleans(), st.integers()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def recorder(tmp_path_factory):
    recorder = Recorder(tmp_path_factory.mktemp("recording") / "r.jsonl")
    yield recorder
    recorder.close()


@pytest.mark.slow
@settings(deadline=None, max_examples=500)
@given(VALUES, st.booleans(), st.sampled_from([None, (",", ":"), (" , ", " : ")]))
@example([SECRET[:4], {"text": SECRET[4:]}], True, None)
@example([{"text": SECRET[:4]}, SECRET[4:]], False, (",", ":"))
@example({"content": [{"text": SECRET[:4]}, {"text": SECRET[4:]}]}, False, None)
def test_it_is_what_a_closer_look_leaves(recorder, value, ascii_only, separators):
    """However the JSON is written, with a secret in it whole, in parts, or not at all."""
    text = json.dumps(value, ensure_ascii=ascii_only, separators=separators)
    if is_plain(text, KNOWN):
        assert recorder.hidden(value, KNOWN) is value


@pytest.mark.parametrize(
    "result",
    [
        {"content": [{"type": "text", "text": "3"}], "structuredContent": {"n": 3}},
        {"content": [{"type": "text", "text": "a, b"}], "isError": True},
        {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]},
    ],
)
def test_most_answers_are_plain(result):
    """A server with a secret has most of its answers written without a closer look."""
    message = {"jsonrpc": "2.0", "id": 1, "result": result}
    assert is_plain(json.dumps(message), KNOWN)


def test_a_mark_is_looked_at_closely():
    """A text that reads as a mark gets a number, also where no secret is known."""
    assert is_plain('{"a": "b"}', NO_SECRETS)
    assert not is_plain(json.dumps({"a": MARK}), NO_SECRETS)
