"""One engine replaces secrets, however they are written, and in pieces as in the whole."""

import json
import os
import pickle
import subprocess
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from promised.writings import WRITINGS
from pydantic import SecretBytes

from toolbench.redaction import MARK
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.known import Secrets
from toolbench.redaction.redactor import Redactor
from toolbench.redaction.writings import writings

SECRETS = (
    "hunter2-the-secret",
    "p@ss/word+1 é&<x>",
    'it\'s "caf\xe9\u200b" pw',
    "C:\\new\\path'\"",
    "tab\tand\nnew line here",
)
PEM = (
    "-----BEGIN PRIVATE KEY-----\n"
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n"
    "VJTUt9Us8cKjMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDu\n"
    "-----END PRIVATE KEY-----\n"
)

# Letters of base64 that tell of what stands around a secret as much as of it
FEW = 6


@pytest.mark.parametrize("secret", SECRETS, ids=ascii)
def test_a_secret_is_found_however_it_is_written(secret, subtests):
    """Nothing of it is left, and what stands around it is."""
    redactor = Redactor([secret])
    for way, write in WRITINGS.items():
        if way == "a line of it":
            continue
        with subtests.test(way):
            text = redactor.text(f"before {''.join(write(secret))} after")
            assert text.startswith("before ") and text.endswith(" after") and MARK in text
            frame, rest = f"before {''.join(write(''))} after", text.replace(MARK, "")
            # But what fills a group up
            assert len(rest.replace("=", "")) <= len(frame) + FEW


def escaped(text, letters, form):
    for letter in letters:
        text = text.replace(letter, form.format(ord(letter)))
    return text


OTHER_JSON = {
    "PHP": lambda value: json.dumps(value).replace("/", "\\/"),
    "Go": lambda value: escaped(json.dumps(value, ensure_ascii=False), "<>&", "\\u{:04x}"),
    ".NET": lambda value: escaped(json.dumps(value), "<>&'+`", "\\u{:04X}"),
}


@pytest.mark.every_case
@pytest.mark.parametrize("language", OTHER_JSON)
@pytest.mark.parametrize("secret", ["wJalrXUtn/K7MDENG/bPx+RfiCY", "R&D <pass> 'word'"])
def test_a_secret_is_found_in_the_json_of_other_languages(language, secret):
    """They escape more letters than Python does, as servers do that are written in them."""
    write = OTHER_JSON[language]
    once = write({"a": f"in {secret} b"})
    for message in (once, write(once)):
        before, _, after = message.partition(write(secret)[1:-1])
        text = Redactor([secret]).text(message)
        if after:
            assert text == f"{before}{MARK}{after}"
        assert MARK in text


def test_a_secret_is_found_as_a_shell_lists_it():
    """In double quotes, where a shell would else read a variable or a command."""
    secret = 'pa$$w`rd"or\\so'
    environment = {"PATH": os.environ["PATH"], "TOKEN": secret}
    listed = subprocess.run(["bash", "-c", "export -p"], env=environment, capture_output=True)
    text = Redactor([secret]).text(listed.stdout.decode())
    assert f'TOKEN="{MARK}"' in text


class TestLines:
    def test_of_a_key_are_secrets(self):
        """Each line of a PEM key is as secret as the whole; its frame is not."""
        first, second = PEM.splitlines()[1:3]
        text = Redactor([PEM]).text(f"a {first} b\n-----BEGIN PRIVATE KEY----- {second}")
        assert text == f"a {MARK} b\n-----BEGIN PRIVATE KEY----- {MARK}"

    def test_of_the_whole_make_one_mark(self):
        """What overlaps is replaced once."""
        assert Redactor([PEM]).text(f"a {PEM} b") == f"a {MARK} b"
        assert Redactor(["abcdefgh", "defghijk"]).text("abcdefghijk") == MARK

    @pytest.mark.parametrize(
        "around", [b"\xfe\xff" * 200, b"\xfe" * 300, b"\\u001b[31m", b"\\\\x1b["]
    )
    def test_in_long_data_of_any_bytes(self, around):
        """Whatever a search skips to be fast."""
        data = bytes(range(256)) * 100
        redactor = Redactor(["hunter2-the-secret"])
        secret = b"hunter2-the-secret"
        whole = data + around + secret + around + data
        assert redactor.data(whole) == whole.replace(secret, MARK.encode())
        assert redactor.may_occur_in(whole)
        assert redactor.data(data + around) == data + around


class TestKnows:
    def test_no_very_short_ones_unless_declared(self):
        """Fewer than four characters stand in too many words that are no secrets."""
        assert not Redactor(["abc"])
        assert Redactor(["abc"], shortest=1).text("abc, abcd") == f"{MARK}, abcd"

    def test_what_remains_of_one_without_its_blanks(self):
        """A key that was read from a file ends in a line break; hardly a program keeps that."""
        redactor = Redactor(["tok-nl-987654\n"], shortest=1)
        assert redactor.text("[tok-nl-987654]") == f"[{MARK}]"
        assert redactor.text("tok-nl-987654\n") == MARK

    def test_more_later(self):
        """What is learned is added; nothing new makes no new one."""
        redactor = Redactor(["first-secret"])
        assert redactor.including(["first-secret", ""]) is redactor
        more = redactor.including(["second-secret"])
        assert more.text("first-secret second-secret") == f"{MARK} {MARK}"

    def test_the_same_elsewhere(self):
        """It pickles, for executors in other processes, and its repr tells nothing."""
        redactor = Redactor(["first-secret"])
        assert pickle.loads(pickle.dumps(redactor)).text("first-secret") == MARK
        assert "first" not in repr(redactor)


def test_the_mark_shows_in_html():
    """It is no tag: a browser shows it."""
    assert Redactor(["hunter2"]).html("<b>hunter2</b>") == "<b>&lt;secret-hidden&gt;</b>"


PARTS = st.text(alphabet="ab<s\n-é'", min_size=1, max_size=9)


class TestStreams:
    @given(
        secrets=st.lists(PARTS | st.just("secret"), min_size=1, max_size=4),
        around=st.lists(PARTS | st.sampled_from([MARK, "secret", "c2Vj"]), max_size=8),
        cuts=st.lists(st.integers(0, 100), max_size=8),
    )
    def test_show_what_the_whole_shows(self, secrets, around, cuts):
        """However a text is cut: the pieces make the same, and little is held back."""
        redactor = Redactor(secrets, shortest=1)
        text = "".join([*around, *secrets, *around])
        ends = [*sorted(min(cut, len(text)) for cut in cuts), len(text)]
        stream, pieces, start = redactor.stream(), [], 0
        for end in ends:
            pieces.append(stream.feed(text[start:end]))
            start = end
        pieces.append(stream.flush())
        assert "".join(pieces) == redactor.text(text)
        assert stream.held == 0

    @pytest.mark.every_case
    @pytest.mark.parametrize("colour", ["\x1b[31m", "\\u001b[0;1m", "\\x1b[39m", "\x1b[1m\x1b[K"])
    @pytest.mark.parametrize("secret", ["hunter2-the-secret", "4711", "C:\\secret\\"])
    def test_find_one_with_colours_wherever_it_is_cut(self, secret, colour):
        """Also where a colour itself is cut, or where it may have begun."""
        redactor = Redactor([secret])
        text = f"a {colour}{secret[:2]}{colour}{secret[2:]}{colour} {secret}"
        whole = redactor.text(text)
        assert secret not in whole and secret[2:] not in whole
        for cut in range(len(text)):
            stream = redactor.stream()
            assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.flush() == whole

    def test_hold_back_only_what_may_become_a_secret(self):
        """An ordinary text comes out as it goes in."""
        stream = Redactor(["hunter21"]).stream()
        assert stream.feed("a line\n") == "a line\n"
        assert stream.feed("hun") == ""
        assert stream.feed("g up\n") == "hung up\n"
        assert [stream.feed(c) for c in "hunter21"] == [*[""] * 7, MARK]
        assert stream.feed("hunt") + stream.flush() == "hunt"

    def test_learn_on_the_way(self):
        """A secret that becomes known in the middle is replaced from there on."""
        stream = Redactor(["first-secret"]).stream()
        text = stream.feed("first-sec")
        stream.redactor = stream.redactor.including(["second"])
        assert text + stream.feed("ret second") + stream.flush() == f"{MARK} {MARK}"


def test_a_very_long_secret_is_looked_for_as_it_is_only():
    """Some fifty ways to write a megabyte would take gigabytes; it is found whole and by lines."""
    lines = [f"{n:064x}" for n in range(15_000)]
    whole = "\n".join(lines)
    assert len(writings(whole)) < 2 * len(lines)
    redactor = Redactor([whole])
    assert redactor.text(f"key: {whole}.") == f"key: {MARK}."
    assert redactor.text(f"line: {lines[9000]}.") == f"line: {MARK}."


def test_a_long_secret_that_repeats_itself_is_found_like_any_other():
    """What it takes grows with its length; it once grew with the square: hours for this one."""
    secret = "x" * 100_000
    assert Redactor([secret]).text(f"a {secret} b") == f"a {MARK} b"


_KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhki\nG9w0BAQEFAASCBKcw\n-----END KEY-----"


@pytest.mark.every_case
@pytest.mark.parametrize("given_end", ["\n", "\r\n", "\\n", "\\r\\n"])
@pytest.mark.parametrize("shown_end", ["\n", "\r\n", "\\n"])
def test_a_key_is_one_whatever_ends_its_lines(given_end, shown_end):
    """A key of an .env file has a backslash and an n; whoever opens it writes lines."""
    redactor = Redactor([_KEY.replace("\n", given_end)])
    assert redactor.text(_KEY.replace("\n", shown_end)) == MARK
    for line in _KEY.splitlines()[1:-1]:
        assert redactor.text(f"a {line} b") == f"a {MARK} b"


def test_short_lines_with_other_ends():
    """Lines too short to be looked for alone count together."""
    secret = "short1\nshort2\nshort3"
    assert Redactor([secret]).text(secret.replace("\n", "\r\n")) == MARK


BINARY = bytes(range(200, 232))


@pytest.mark.parametrize(
    "written",
    [
        BINARY.hex(),
        b64encode(BINARY).decode(),
        urlsafe_b64encode(BINARY).decode(),
        repr(BINARY)[2:-1],
        quote(BINARY),
    ],
)
def test_bytes_that_are_no_text(written):
    """A real key is bytes; programs write them in hex, base64 or escapes."""
    redactor = Secrets({"KEY": BINARY}).redactor
    text = redactor.text(f"key: {written} end")
    assert MARK in text
    assert not any(written[i : i + 4] in text for i in range(len(written) - 3))
    assert redactor.data(b"a" + BINARY + b"z") == b"a" + MARK.encode() + b"z"


def test_bytes_that_look_like_the_end_of_a_character():
    """A stream holds back whole characters: half a one cannot be shown."""
    redactor = Secrets({"KEY": b"\xa9" + BINARY}).redactor
    stream = redactor.stream()
    assert stream.feed("caf\xe9") + stream.feed(" \u2029") + stream.flush() == "caf\xe9 \u2029"


def test_bytes_among_the_arguments():
    """They are secrets of a call like any text."""
    secrecy = Secrecy({"properties": {"key": {"format": "password"}}})
    assert secrecy.redactor({"key": SecretBytes(BINARY)}).text(BINARY.hex()) == MARK


def test_half_a_character_is_found_as_it_is():
    """What looks like a byte that is no text may be text."""
    assert Redactor(["secret-\udc80"]).text("a secret-\udc80 b") == f"a {MARK} b"
