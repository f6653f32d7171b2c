"""Secrets in base64 and hex are found in whatever lines and groups, also in pieces."""

import json
import re
from base64 import b32encode, b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.redaction import MARK
from toolbench.redaction.matching.encodings import in_digits, in_letters
from toolbench.redaction.matching.spaced_secrets import DIGITS, FEWEST, LETTERS, Letters
from toolbench.redaction.redactor import Redactor

SECRET = "hunter2-tHe_sEcret of /1"
REDACTOR = Redactor([SECRET])
BEFORE, BEHIND = "The first line\n", "\nand the last one."
# With the bits of each letter
ENCODERS = {
    "base64": (6, lambda data: b64encode(data).decode()),
    "URL-safe base64": (6, lambda data: urlsafe_b64encode(data).decode()),
    "base32": (5, lambda data: b32encode(data).decode()),
    "hex": (4, bytes.hex),
    "HEX": (4, lambda data: data.hex().upper()),
}
ENDS = {
    "lines": "\n",
    "lines of a terminal": "\r\n",
    "indented": "\n        ",
    "JSON": "\\n",
    "JSON in JSON": "\\\\r\\\\n",
    "a list": '",\n  "',
    "a URL": "%0D%0A",
}


def wrapped(letters: str, width: int, end: str) -> str:
    return end.join(letters[i : i + width] for i in range(0, len(letters), width))


def in_pieces(text: str, cuts: list[int]) -> str:
    stream, result = REDACTOR.stream(), ""
    ends = sorted(min(cut, len(text)) for cut in cuts)
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        result += stream.feed(text[start:end])
    return result + stream.flush()


def shows(secret: str, text: str) -> bool:
    """Tell whether six of the *secret* letters stand in *text*, whatever is between them."""
    for end in ENDS.values():
        text = text.replace(end, "")
    return any(secret[i : i + 6] in text for i in range(len(secret) - 5))


@st.composite
def writings(draw):
    """Return the letters of the secret alone, and a text in which they are wrapped."""
    before, behind = draw(st.binary(max_size=9)), draw(st.binary(max_size=9))
    bits, encode = ENCODERS[draw(st.sampled_from(sorted(ENCODERS)))]
    letters = encode(before + SECRET.encode() + behind)
    first, last = -(-8 * len(before) // bits), 8 * len(before + SECRET.encode()) // bits
    end = ENDS[draw(st.sampled_from(sorted(ENDS)))]
    text = wrapped(letters, draw(st.integers(1, 80)), end)
    return letters[first:last], text


class TestWhateverTheWidth:
    @given(writings())
    def test_nothing_of_it_shows(self, writing):
        """One mark stands for the lines that hold it; what is around them stays."""
        letters, text = writing
        result = REDACTOR.text(BEFORE + text + BEHIND)
        assert result.startswith(BEFORE) and result.endswith(BEHIND)
        assert result.count(MARK) == 1
        assert not shows(letters, result)

    @given(writings(), st.lists(st.integers(0, 400), max_size=9))
    def test_nothing_of_it_shows_in_pieces(self, writing, cuts):
        """Wherever the text is cut; the first three letters may stand before the mark."""
        letters, text = writing
        whole = BEFORE + text + BEHIND
        result = in_pieces(whole, cuts)
        assert result.startswith(BEFORE) and result.endswith(BEHIND)
        assert result.count(MARK) == 1
        assert not shows(letters, result)
        assert len(result) <= len(REDACTOR.text(whole)) + (FEWEST - 1) * len(" 6\n" + " " * 8)

    @given(writings())
    def test_line_by_line(self, writing):
        """As a program writes that empties its buffer at the end of each line."""
        letters, text = writing
        cuts = [i + 1 for i, c in enumerate(text) if c == "\n"]
        result = in_pieces(text, cuts)
        assert result.count(MARK) == 1
        assert not shows(letters, result)


HEX = SECRET.encode().hex()


@pytest.mark.parametrize(
    "separated",
    [
        SECRET.encode().hex(":"),
        SECRET.encode().hex("-", 4),
        SECRET.encode().hex(" ", 2),
        ", ".join(f"0x{b:02x}" for b in SECRET.encode()),
        "".join(f"\\x{b:02x}" for b in SECRET.encode()),
        "".join(f"\\u{b:04x}" for b in SECRET.encode()),
        "".join(f"%{b:02X}" for b in SECRET.encode()),
        "".join(f"&#x{b:x};" for b in SECRET.encode()),
        "\n".join(f" {HEX[i : i + 2]}" for i in range(0, len(HEX), 2)),
        json.dumps([HEX[i : i + 4] for i in range(0, len(HEX), 4)])[2:-2],
    ],
)
def test_digits_in_whatever_separators(separated):
    """As `od -tx1`, `xxd -i`, a certificate and escapes write them; in pieces of a byte too."""
    for text in (separated, f" {separated} "):
        result = in_pieces(f"[{text}]", list(range(len(text))))
        rest = re.sub(rf"{MARK}|0x|u00", "", result)
        assert MARK in result and len(re.findall("[0-9a-f]", rest)) < FEWEST


class TestTokens:
    def test_and_keys_are_letters_already(self):
        """The lines of a key joined, or wrapped anew, are the key; so is a token on two lines."""
        lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEF", "AASCBKcwggSjAgEAAoIBAQC7VJTU"]
        key = "\n".join(["-----BEGIN KEY-----", *lines, "-----END KEY-----"])
        for width in (17, 40, 100):
            text = wrapped("".join(lines), width, "\n")
            assert Redactor([key]).text(f"a {text} b") == f"a {MARK} b"
        token = "ghp_" + "0a1B2c3D4e" * 4
        text = wrapped(token, 15, "\n  ")
        assert Redactor([token]).text(f"a {text} b") == f"a {MARK} b"

    def test_that_are_short_may_be_words(self):
        """A pass phrase without blanks is not looked for in sentences."""
        text = "it is a correct horse battery"
        assert Redactor(["correcthorsebattery"]).text(text) == text


class TestLittle:
    @pytest.mark.parametrize("text", ["31 32 33 34", "31323334 of 9"])
    def test_of_a_short_secret_is_not_looked_for_in_any_lines(self, text):
        """Its digits may stand in a table; side by side they are found."""
        redactor = Redactor(["1234"])
        assert redactor.text(text).startswith(MARK)
        assert redactor.text("313 233 34\n31\n32\n33 34") == "313 233 34\n31\n32\n33 34"

    @pytest.mark.parametrize("line", ["a line\n", "name? ", "x a\n", "x 6\n", "68 "])
    def test_is_not_held_back(self, line):
        """A line ends, and shows, though its last letters may be the first of a secret."""
        stream = REDACTOR.stream()
        assert stream.feed(line) == line

    @pytest.mark.parametrize("blanks", [" ", "\n", "\\n"])
    def test_is_held_of_a_flood_of_blanks(self, blanks):
        """What may stand between letters is no reason to keep everything."""
        stream = REDACTOR.stream()
        text = HEX[:9] + blanks * 100_000
        result = stream.feed(text)
        assert stream.held < REDACTOR.longest < 10_000
        assert len(result) + stream.held == len(text)
        assert result + stream.flush() == text


def test_long_text_is_looked_up_only_where_something_is(monkeypatch):
    """Where each letter stands is found for the blocks that hold a secret, once for each."""
    looked_up = list[int]()
    places_in = Letters.places_in

    def counted(self, block):
        looked_up.append(block)
        return places_in(self, block)

    monkeypatch.setattr(Letters, "places_in", counted)
    words = "some words of a text\n" * 300
    text = f"{words}{wrapped(HEX, 5, ' ')}{words}" * 3
    assert REDACTOR.text(text) == f"{words}{MARK}{words}" * 3
    assert 3 <= len(looked_up) <= 6
    looked_up.clear()
    assert REDACTOR.text(words) == words
    assert looked_up == []


def test_quoted_letters_too():
    """Letters that a URL has to quote are found in one line."""
    letters = b64encode(b"\xff\xfe" + SECRET.encode()).decode()
    assert MARK in REDACTOR.text(quote(letters, safe=""))


def test_no_letter_is_a_blank():
    """A pattern could not be found otherwise."""
    for secret in ("p\xffs\xfb/w+rd \xbf\xef" * 3, SECRET):
        assert not set(LETTERS.blanks) & {*"".join(in_letters(secret)).encode()}
        assert not set(DIGITS.blanks) & {*"".join(in_digits(secret)).encode()}
