"""The writings of a secret: the forms in which programs write it. All of them are searched for.

`WRITINGS` has a function for each form: JSON (even JSON in JSON), Python's repr, URLs, HTML forms,
HTML, the quotes of a shell and of CSV, base64 at any offset of longer data, and hexadecimal. The
unchanged secret and its single lines are searched for too. Secrets in other forms are not found:
see docs/status.md.
"""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from html import escape
from urllib.parse import quote, quote_plus

LINE = 8
"""The least length of a line of a secret to search for: shorter lines occur in many strings."""
LONGEST = 20_000
"""The greatest length of a secret of which encoded forms are searched for."""


def writings(secret: str) -> set[bytes]:
    """Return all writings of *secret* and of each of its lines, as UTF-8."""
    writings = set[str]()
    data = set[bytes]()
    for text in _texts(secret):
        writings.add(text)
        data.add(text.encode(errors="surrogatepass"))
        if len(secret) <= LONGEST:
            for write in WRITINGS:
                writings.update(write(text))
    for writing in writings:
        data.add(_as_bytes(writing))
        if len(secret) <= LONGEST:
            # As a message of a server has it
            data.update(map(_as_bytes, _json_forms(writing)))
    return data - {b""}


def _texts(secret: str) -> set[str]:
    """Return the unchanged *secret*, variants of it, and its single lines.

    The variants are without white space at the ends, and with each kind of line end. A key in a
    `.env` file, or in the JSON of a service account, has a backslash and an n for each line end.
    The first and last line of a PEM file are left out, because they are not secrets.
    """
    # Without a last backslash: that counts as a part of a written colour after it, `\\u001b[0m`
    texts = {secret, secret.strip(), secret.rstrip("\\")}
    in_lines = secret.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\r\n", "\n").strip()
    if "\n" not in in_lines:
        return texts
    texts |= {in_lines, in_lines.replace("\n", "\r\n")}
    for line in in_lines.split("\n"):
        text = line.strip()
        if len(text) >= LINE and not text.startswith("-----"):
            texts.add(text)
    return texts


def _as_bytes(text: str) -> bytes:
    """Return *text* as UTF-8; a surrogate that stands for an invalid byte becomes this byte."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        # A lone surrogate is text too
        return text.encode(errors="surrogatepass")


# --- the list ---------------------------------------------------------------------


def _in_json(text: str) -> Iterator[str]:
    """Yield *text* in JSON, and in JSON in JSON."""
    for once in _json_forms(text):
        yield once
        yield from _json_forms(once)


def _json_forms(text: str) -> Iterator[str]:
    """Yield *text* in JSON, also with the escapes that PHP, Go and .NET add for HTML."""
    for form in (json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]):
        yield form
        of_go = of_dotnet = form
        for letter in "<>&":
            of_go = of_go.replace(letter, f"\\u{ord(letter):04x}")
        for letter in "<>&'+`":
            of_dotnet = of_dotnet.replace(letter, f"\\u{ord(letter):04X}")
        yield form.replace("/", "\\/")
        yield of_go
        yield of_dotnet.replace('\\"', "\\u0022")


def _in_repr(text: str) -> Iterator[str]:
    r"""Yield *text* in Python's repr, also next to quotes that make repr write `\'`."""
    data = _as_bytes(text)
    yield repr(text)[1:-1]
    yield ascii(text)[1:-1]
    yield repr(data)[2:-1]
    yield repr("'\"" + text)[4:-1]
    yield repr(b"'\"" + data)[5:-1]


def _in_url(text: str) -> Iterator[str]:
    """Yield *text* as `quote`, a path and JavaScript's `encodeURIComponent` write it."""
    data = _as_bytes(text)
    for safe in ("", "/", "!'()*"):
        yield quote(data, safe)
        yield _with_small_escapes(quote(data, safe))


def _in_form(text: str) -> Iterator[str]:
    """Yield *text* as browsers send the fields of a form: with a plus for each space."""
    data = _as_bytes(text)
    for safe in ("", "/", "!'()*"):
        yield quote_plus(data, safe)
        yield _with_small_escapes(quote_plus(data, safe))


def _with_small_escapes(encoded: str) -> str:
    return re.sub("%..", lambda escaped: escaped[0].lower(), encoded)


def _in_html(text: str) -> Iterator[str]:
    """Yield *text* in HTML, with each of the usual names of quote marks."""
    yield escape(text, quote=False)
    whole = escape(text)
    yield whole
    for apostrophe in ("&#39;", "&apos;"):
        other = whole.replace("&#x27;", apostrophe)
        yield other
        yield other.replace("&quot;", "&#34;")


def _in_shell(text: str) -> Iterator[str]:
    """Yield *text* in single quotes of a shell, and in double quotes, as `export -p` writes it."""
    yield re.sub(r'[\\"$`]', r"\\\g<0>", text)
    yield text.replace("'", "'\\''")
    yield text.replace("'", "'\"'\"'")


def _in_csv(text: str) -> Iterator[str]:
    """Yield *text* in double quotes of CSV."""
    yield text.replace('"', '""')


def _in_base64(text: str) -> Iterator[str]:
    """Yield the base64 of *text*, in both alphabets, alone and as part of longer data.

    In longer data, the letters depend on the number of bytes before *text*. The first and last
    letters are left out if they also depend on the neighbouring bytes.
    """
    data = _as_bytes(text)
    alone = b64encode(data).decode()
    writings = [alone, alone.rstrip("=")]
    for offset in range(3):
        letters = b64encode(bytes(offset) + data).decode()
        first = -(-8 * offset // 6)
        last = 8 * (offset + len(data)) // 6
        writings.append(letters[first:last])
    for letters in writings:
        yield letters
        yield letters.replace("+", "-").replace("/", "_")


def _in_hex(text: str) -> Iterator[str]:
    """Yield *text* in hexadecimal digits, in lower and in upper case."""
    digits = _as_bytes(text).hex()
    yield digits
    yield digits.upper()


WRITINGS: tuple[Callable[[str], Iterator[str]], ...] = (
    _in_json,
    _in_repr,
    _in_url,
    _in_form,
    _in_html,
    _in_shell,
    _in_csv,
    _in_base64,
    _in_hex,
)
"""The functions that write a string as programs do; the string itself is always searched for."""


# --- parts that are secrets too ---------------------------------------------------

_SCHEME = re.compile(r"\s*(?P<scheme>[A-Za-z][\w-]{0,24})[ \t]+(?P<credentials>\S{4,})\s*")
SCHEMES = frozenset(
    {
        *("apikey", "api-key", "basic", "bearer", "bot", "digest", "jwt", "key"),
        *("negotiate", "oauth", "ssws", "token"),
    }
)
"""The words that come before the credentials of a request, such as `bearer`, in lower case."""
_COOKIE = re.compile(r"(?:^|;)\s*[^=;\s]+=(?P<value>[^;]*)")
# Characters: `light` of `theme=light` is not a secret
_SHORTEST_COOKIE = 8


def parts(secret: str, name: str = "") -> Iterator[str]:
    """Yield *secret*, and each part of it that is a secret by itself.

    Such a part is the token after `Bearer`, the password in `Basic` credentials, or a value in a
    cookie. Blanks around a part are removed. *name* is the name of the secret. If it contains
    `cookie`, the secret is read as a cookie.
    """
    yield secret
    if secret != secret.strip():
        yield secret.strip()
    if match := _SCHEME.fullmatch(secret):
        scheme, credentials = match["scheme"].lower(), match["credentials"]
        if scheme in SCHEMES or re.search(r"\d", credentials):
            yield credentials
        if scheme == "basic":
            yield from _of_basic(credentials)
    if "cookie" in name.lower():
        for match in _COOKIE.finditer(secret):
            value = match["value"].strip().strip('"')
            if len(value) >= _SHORTEST_COOKIE:
                yield value


def _of_basic(credentials: str) -> Iterator[str]:
    """Yield `user:password` and the password alone, from the base64 string *credentials*."""
    try:
        decoded = b64decode(credentials, validate=True).decode()
    except ValueError:
        return
    yield decoded
    yield decoded.partition(":")[2]
