"""Secrets are found past what nobody sees of a text, however the text is cut into pieces."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolbench.redaction import MARK
from toolbench.redaction.matching.noise import Noise, NoisyStream, masked
from toolbench.redaction.redactor import Redactor

SECRET = b"s3cr3t-value"
REDACTOR = Redactor([SECRET.decode(), "abababab"])
COLOUR = Noise(re.compile(rb"(\x1b\[[0-9;]*[A-Za-z]?|\0)"), re.compile(rb"\x1b(?:\[[0-9;]*)?\Z"))
NOISES = st.sampled_from([b"", b"\0", b"\x1b[31m", b"\x1b[K\0\0", b"\x1b[1;2m\x1b[0m"])
WORDS = st.lists(
    st.sampled_from([SECRET, SECRET[:5], SECRET[5:], b"abab", b"ab", b"a", b"\n", b"x "])
)


@st.composite
def noisy(draw):
    """Return a text with noise between its characters, cut into pieces."""
    text = b"".join(draw(WORDS))
    data = b"".join(bytes([byte]) + draw(NOISES) for byte in text)
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    ends = [*cuts, len(data)]
    return text, [data[a:b] for a, b in zip([0, *cuts], ends, strict=True)]


def passed(redactor: Redactor, pieces: list[bytes]) -> bytes:
    stream = NoisyStream(redactor, COLOUR)
    return b"".join(map(stream.feed_data, pieces)) + stream.flush_data()


def without_noise(data: bytes) -> bytes:
    return COLOUR.whole.sub(b"", data)


class TestNoisyStream:
    @given(noisy())
    @example((b"abababab", [b"abababa\0b"]))
    def test_shows_what_the_redactor_shows_of_the_text_alone(self, noisy_text):
        """Noise and cuts change nothing of what is hidden; and all the noise is there."""
        text, pieces = noisy_text
        data = passed(REDACTOR, pieces)
        assert without_noise(data) == REDACTOR.data(text)
        noise = COLOUR.whole.findall
        assert noise(data) == noise(b"".join(pieces))

    @given(st.lists(st.binary(max_size=20), max_size=5))
    def test_changes_nothing_where_there_is_no_secret(self, pieces):
        """Every byte comes out, those of half an escape sequence too."""
        whole = b"".join(pieces)
        assert passed(Redactor(), pieces) == whole
        assert passed(Redactor(["nowhere in it" * 5]), pieces) == whole

    @pytest.mark.parametrize(
        ("text", "expected"),
        [(b"name? ", b"name? "), (b"done s3cr", b"done "), (b"done!\x1b[3", b"done!")],
    )
    def test_holds_back_only_what_may_go_on(self, text, expected):
        """A prompt shows at once; the beginning of a secret, or of noise, with what follows."""
        stream = NoisyStream(REDACTOR, COLOUR)
        assert stream.feed_data(text) == expected
        assert expected + stream.feed_data(b"! ") == text + b"! "

    def test_holds_back_no_more_than_a_little(self):
        """A flood of noise behind a beginning is not kept in memory."""
        stream = NoisyStream(REDACTOR, COLOUR)
        flood = [b"s3cr", *[b"\0" * 10_000] * 100]
        come = [len(stream.feed_data(piece)) for piece in flood]
        assert sum(map(len, flood)) - sum(come) <= 80_000

    def test_hides_a_secret_in_noise_and_one_that_holds_some(self):
        """The title of a window, and a password with an escape character."""
        link = Noise(re.compile(rb"(\x1b\][^\x07]*\x07?)"), re.compile(rb"\x1b\Z"))
        stream = NoisyStream(Redactor(["in-a-title", "a\x1b]b\x07c"]), link)
        data = stream.feed_data(b"\x1b]in-a-title\x07 a\x1b]b\x07c") + stream.flush_data()
        assert data == f"\x1b]{MARK}\x07 {MARK}".encode()


def test_masked_marks_each_secret_once():
    """A secret in many pieces is one mark, where it begins."""
    pieces = [b"a-s3c", b"<", b"", b">", b"r3t", b"!", b"-b"]
    mark = MARK.encode()
    assert masked(pieces, [(2, 8)]) == b"a-" + mark + b"<>!-b"
    assert masked(pieces, []) == b"".join(pieces)
