"""The ways programs write a secret, made by the libraries that programs use."""

import json
import re
import shlex
from base64 import b32encode, b64encode, urlsafe_b64encode
from functools import partial
from html import escape
from urllib.parse import quote, quote_plus


def as_bytes(text):
    return text.encode(errors="surrogatepass")


def hex_with(separator, text):
    return as_bytes(text).hex(separator)


def base64_at(offset, encode=b64encode):
    def encoded(text):
        return encode(b"u:ppppp"[:offset] + as_bytes(text) + b" end").decode()

    return encoded


WAYS = {
    "plain": str,
    "JSON": json.dumps,
    "JSON, not ASCII": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON in JSON": lambda text: json.dumps(json.dumps({"a": text})),
    "URL": lambda text: quote(as_bytes(text), safe=""),
    "URL, small letters": lambda text: re.sub(
        "%..", lambda escape: escape[0].lower(), quote(as_bytes(text), safe="")
    ),
    "URL, a path": lambda text: quote(as_bytes(text)),
    "URL in a URL": lambda text: quote(quote(as_bytes(text), safe=""), safe=""),
    "form": lambda text: quote_plus(as_bytes(text)),
    "hex": lambda text: as_bytes(text).hex(),
    "HEX": lambda text: as_bytes(text).hex().upper(),
    **{f"hex with {separator!r}": partial(hex_with, separator) for separator in (":", "-", " ")},
    "words of hex": lambda text: as_bytes(text).hex(" ", -2),
    "words of hex, one on": lambda text: as_bytes(f"x{text}").hex(" ", -2),
    "HTML": escape,
    "HTML of templates": lambda text: (
        escape(text).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    ),
    "repr": repr,
    "repr in a list": lambda text: repr([f"a 'b' \"c\" {text}"]),
    "ascii": ascii,
    "repr of bytes": lambda text: repr(as_bytes(text)),
    "shell": shlex.quote,
    **{f"base64 at {n}": base64_at(n) for n in range(4)},
    **{f"base32 at {n}": base64_at(n, b32encode) for n in range(5)},
    "base64 of UTF-16": lambda text: b64encode(text.encode("utf-16", "surrogatepass")).decode(),
    **{f"URL-safe base64 at {n}": base64_at(n, urlsafe_b64encode) for n in range(4)},
}


INSIDE = ("JSON", "URL", "form", "HTML", "repr")


def base64_of(encode, text):
    return base64_at(1)(encode(text))


IN_EACH_OTHER = {
    **{
        f"{inner} in {outer}": lambda text, inner=inner, outer=outer: WAYS[outer](WAYS[inner](text))
        for inner in INSIDE
        for outer in INSIDE
    },
    **{f"base64 of {name}": partial(base64_of, WAYS[name]) for name in INSIDE},
    **{f"base64 of base64 at {n}": partial(base64_of, base64_at(n)) for n in range(3)},
    "base64 in a URL": lambda text: quote(base64_at(0)(text), safe=""),
    "base64 in JSON": lambda text: json.dumps(base64_at(0)(text)).replace("/", "\\/"),
}
"""The same, one in another: as what is in them is written most often."""


def writings(secret):
    """All of them, one a line, and each line of *secret* by itself."""
    ways = WAYS | IN_EACH_OTHER
    whole = [f"{name}: {write(secret)}" for name, write in ways.items()]
    return "\n".join([*whole, *(f"line: {line}" for line in secret.splitlines())])


def leaks(text, secret):
    """The pieces of *secret*, as anybody may write it, that stand in *text*."""
    pieces = set()
    lines = [line for line in secret.splitlines() if not line.startswith("-----")]
    for part in (secret, *lines):
        data = as_bytes(part)
        for inner in (WAYS[name](part) for name in INSIDE):
            pieces |= {quote(inner), quote(inner, safe=""), json.dumps(inner)[1:-1]}
            pieces |= {escape(inner)} | base64_pieces(as_bytes(inner))
        for inner in base64_pieces(data):
            pieces |= base64_pieces(as_bytes(inner))
        pieces |= {part, data.hex(), quote(data, safe=""), quote(data), escape(part)}
        pieces |= {data.hex(" "), data.hex(":").upper(), quote(quote(data, safe=""))}
        pieces |= {repr(part)[1:-1], json.dumps(part)[1:-1], repr(data)[2:-1]}
        wide = part.encode("utf-16-le", "surrogatepass")
        pieces |= {b64encode(wide[: len(wide) // 3 * 3]).decode()[4:-4]}
        for offset in range(5):
            encoded = b32encode(bytes(offset) + data + bytes(-(len(data) + offset) % 5))
            pieces |= {encoded.decode()[8:-8], encoded.decode()[8:-8].lower()}
        pieces |= base64_pieces(data)
    return {piece for piece in pieces if len(piece) >= 8 and piece in text}


def base64_pieces(data):
    """What base64 makes of *data*, but for the ends, which also tell of what stands around it."""
    pieces = set()
    for offset in range(3):
        encoded = b64encode(bytes(offset) + data + bytes(-(len(data) + offset) % 3))
        inner = encoded.decode()[4:-4]
        pieces |= {inner, inner.replace("+", "-").replace("/", "_")}
    return pieces
