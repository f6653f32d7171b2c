"""The parts of a secret that programs use separately, such as the token after `Bearer`."""

import re
from base64 import b64decode
from collections.abc import Iterator

_SCHEME = re.compile(r"\s*(?P<scheme>[A-Za-z][\w-]{0,24})[ \t]+(?P<credentials>\S{4,})\s*")
SCHEMES = frozenset(
    {
        *("apikey", "api-key", "basic", "bearer", "bot", "digest", "jwt", "key"),
        *("negotiate", "oauth", "ssws", "token"),
    }
)
"""The words that stand before the credentials of a request, such as `bearer`, in lower case."""
_COOKIE = re.compile(r"(?:^|;)\s*[^=;\s]+=(?P<value>[^;]*)")
# Characters: `light` of `theme=light` is not a secret
_SHORTEST_COOKIE = 8


def parts(secret: str, name: str = "") -> Iterator[str]:
    """Yield *secret*, and each of its parts that is a secret by itself; *name* is its name.

    The parts are the token after `Bearer`, the password in `Basic`, and the values of a cookie, all
    without blanks around them.
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
    """Yield `user:password` and the password alone, both taken from the base64 text *credentials*."""
    try:
        decoded = b64decode(credentials, validate=True).decode()
    except ValueError:
        return
    yield from (decoded, decoded.partition(":")[2])
