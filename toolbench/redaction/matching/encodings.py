"""List the forms in which a program may write a secret: unchanged, and encoded."""

import json
import re
from base64 import b32encode, b64encode, encodebytes
from collections.abc import Callable, Iterator
from html import escape
from urllib.parse import quote, quote_plus

LINE = 8
"""The least characters of a line of a secret to search; shorter lines are in too many other texts."""
LONGEST = 20_000
"""The most characters of a secret to search in encodings; a longer one is searched unchanged."""

IN_EACH_OTHER = 500
"""The most characters of a text to search in two encodings, one inside the other."""
# Characters: for a longer secret, two encodings are not tried
_KEY = 5_000

# Characters: a shorter text with blanks may be words
_TOKEN = 32
_LETTERS = re.compile(r"[A-Za-z0-9+/_=.-]*")
# Texts that are the same in JSON, URLs, HTML and a repr
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]*")
# Characters that JavaScript's function of that name does not encode
_ENCODE_URI_COMPONENT = "!'()*"
_ENCODE_URI = "!'()*;/?:@&=+$,#"
_QUOTE_MARKS = (("&#x27;", "&#39;"), ("&#x27;", "&apos;"), ("&quot;", "&#34;"))


def encodings(secret: str) -> Iterator[str]:
    """Yield *secret* and each of its lines, unchanged and in all encodings but base64, base32 and hex.

    The encodings are JSON (up to three times, ASCII or not), URLs (once and twice), HTML, Python's
    repr, quotes of a shell and CSV. Texts of at most `IN_EACH_OTHER` characters are also encoded in one
    encoding and then in a second one. A secret of letters and digits is the same in many encodings.
    For a secret longer than `LONGEST`, only the secret and its lines are yielded.
    """
    for text in _texts(secret):
        yield text
        if not _PLAIN.fullmatch(text) and len(secret) <= LONGEST:
            yield from _in_json(text)
            yield from _in_python(text)
            yield from _in_url(text)
            yield from _in_html(text)
            yield from _in_quotes(text)
    for text in _texts_for_two(secret):
        for inner in set(_usual(text)) - {text}:
            yield from _usual(inner)
        for inner in dict.fromkeys(_in_base64(as_bytes(text))):
            if not inner.isalnum():
                yield quote(inner, "")


def in_letters(secret: str) -> Iterator[str]:
    """Yield *secret* and each of its lines in base64 and base32.

    This covers both alphabets of base64, text in UTF-16, and any offset in the encoded data. Texts
    of at most `IN_EACH_OTHER` characters are also encoded as JSON, URL, HTML, repr or base64 first.
    A long token, and the joined lines of a key, already consist of letters of base64: they are also
    yielded unchanged.
    """
    if len(secret) > LONGEST:
        return
    lines = list(_lines(secret))
    token = "".join(lines) or secret
    if len(token) >= _TOKEN and _LETTERS.fullmatch(token):
        yield token
    for text in _texts(secret):
        data = as_bytes(text)
        # Of a whole file too: mail breaks its lines
        yield from _in_base64(data)
        if text is not secret or not _covers(lines, secret):
            yield from _in_base64(text.encode("utf-16-le", errors="surrogatepass"))
            for encoded in _in_base(32, data):
                yield from (encoded, encoded.lower())
    for text in _texts_for_two(secret):
        for inner in set(_usual(text)) - {text}:
            yield from _in_base(64, as_bytes(inner))
        for inner in dict.fromkeys(_in_base64(as_bytes(text))):
            yield from _in_base(64, inner.encode())


def in_digits(secret: str) -> Iterator[str]:
    """Yield *secret* and each of its lines in hexadecimal, in lower and upper case."""
    if len(secret) > LONGEST:
        return
    lines = list(_lines(secret))
    for text in _texts(secret):
        if text is not secret or not _covers(lines, secret):
            digits = as_bytes(text).hex()
            yield from (digits, digits.upper())


def in_spaced_digits(secret: str) -> Iterator[str]:
    """Yield *secret*, a short text, in hexadecimal with the usual separators between the bytes.

    Other separators are not tried: the digits of a short secret may be in a table of numbers by
    chance.
    """
    data = as_bytes(secret)
    # As `xxd` writes it, one byte after the start of a word
    words = f"00{data.hex()}"
    yield " ".join(words[i : i + 4] for i in range(0, len(words), 4))[2:]
    yield data.hex(" ", -2)
    for separator in ":- ":
        digits = data.hex(separator)
        yield from (digits, digits.upper())


def line_forms(secret: str) -> Iterator[str]:
    """Yield *secret* with other line ends: a text for each kind of line end that programs use.

    In a `.env` file, or in the JSON of a service account, a key is a single line: each line end is
    a backslash and an n. If *secret* has only one line, nothing is yielded.
    """
    in_lines = secret.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\r\n", "\n")
    if "\n" in in_lines.strip():
        yield from (in_lines, in_lines.replace("\n", "\r\n"))


def as_bytes(text: str) -> bytes:
    """Return *text* as UTF-8. A surrogate that stands for an invalid byte becomes this byte again."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        # A lone surrogate is text too
        return text.encode(errors="surrogatepass")


def _covers(lines: list[str], secret: str) -> bool:
    """Tell whether *lines* has all lines of *secret*, except blank lines and the frame of a PEM file.

    Then a search for the whole secret is not needed.
    """
    rest = (line.strip() for line in secret.splitlines() if line.strip() not in lines)
    return bool(lines) and not any(line for line in rest if not _is_frame(line))


def _is_frame(line: str) -> bool:
    """Tell whether *line* is the first or last line of a PEM file."""
    return line.startswith("-----")


def _lines(secret: str) -> Iterator[str]:
    lines = [line.strip() for line in secret.splitlines()]
    for line in lines if len(lines) > 1 else ():
        if len(line) >= LINE and not _is_frame(line):
            yield line


def _texts(secret: str) -> Iterator[str]:
    """Yield *secret* and its lines."""
    yield secret
    yield from _lines(secret)


def _texts_for_two(secret: str) -> Iterator[str]:
    """Yield *secret* and its lines, but only the texts that are short enough for two encodings."""
    if len(secret) <= _KEY:
        yield from (text for text in _texts(secret) if len(text) <= IN_EACH_OTHER)


def _usual(text: str) -> Iterator[str]:
    """Yield *text* in the most usual encodings of JSON, URL, HTML, repr, shell and CSV."""
    data = as_bytes(text)
    yield from (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    yield from (quote(data, ""), quote(data), quote_plus(data))
    yield from (escape(text), escape(text).replace("&#x27;", "&#39;"))
    yield repr(text)[1:-1]
    yield from _in_quotes(text)


def _in_quotes(text: str) -> Iterator[str]:
    """Yield *text* as it stands in the quotes of a shell, and in those of CSV."""
    yield from (text.replace("'", "'\\''"), text.replace("'", "'\"'\"'"))
    yield text.replace('"', '""')


def _in_json(text: str) -> Iterator[str]:
    for ascii_only in (False, True):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield once
        # JSON in a text of JSON, and this in a message of a server
        twice = json.dumps(once, ensure_ascii=ascii_only)[1:-1]
        yield from (twice, json.dumps(twice, ensure_ascii=ascii_only)[1:-1])
        yield once.replace("/", "\\/")
        tags = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
        # For HTML
        yield "".join(tags.get(c, c) for c in once)


def _in_python(text: str) -> Iterator[str]:
    # With these before it, `'` is escaped as in a text that has both
    both = "'\""
    data = as_bytes(text)
    for once in (
        repr(text)[1:-1],
        ascii(text)[1:-1],
        repr(both + text)[4:-1],
        repr(data)[2:-1],
        repr(both.encode() + data)[5:-1],
    ):
        yield once
        yield repr(once)[1:-1]


def _in_url(text: str) -> Iterator[str]:
    data = as_bytes(text)
    for safe in ("", "/", _ENCODE_URI_COMPONENT, _ENCODE_URI):
        for encoded in (quote(data, safe), quote_plus(data, safe)):
            for once in (encoded, _small(encoded)):
                yield once
                # A URL in a parameter of a URL
                yield quote(once, "")


def _small(encoded: str) -> str:
    """Return *encoded* with its escapes in lower case, such as `%2f`."""
    first, *rest = encoded.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in rest)])


def _in_html(text: str) -> Iterator[str]:
    yield escape(text, quote=False)
    whole = escape(text)
    yield whole
    for name, other in _QUOTE_MARKS:
        yield whole.replace(name, other)
    yield whole.replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    yield whole.encode("ascii", "xmlcharrefreplace").decode()


def _in_base(base: int, data: bytes) -> Iterator[str]:
    """Yield the forms that *data* can have inside of longer data in base64 or base32 (*base*).

    The letters depend on how many bytes are before *data*; there is a form for each case. Letters
    that also depend on the bytes before or after *data* are left out.
    """
    bytes_in_group, bits, encode = _BASES[base]
    # Bytes before it
    for offset in range(bytes_in_group):
        encoded = encode(bytes(offset) + data).decode()
        # Letters that also depend on the bytes before it
        first = -(-8 * offset // bits)
        # Or on the bytes after it
        last = 8 * (offset + len(data)) // bits
        yield encoded[first:last]


_BASES: dict[int, tuple[int, int, Callable[[bytes], bytes]]] = {
    64: (3, 6, b64encode),
    32: (5, 5, b32encode),
}


def _in_base64(data: bytes) -> Iterator[str]:
    for own in _in_base(64, data):
        yield from (own, own.translate(_URL_SAFE))
    alone = b64encode(data).decode()
    yield from (alone, alone.translate(_URL_SAFE))
    # As mail wraps it
    lines = encodebytes(data).decode().split("\n")
    yield from (line for line in lines if len(line) >= LINE)


_URL_SAFE = str.maketrans("+/", "-_")
