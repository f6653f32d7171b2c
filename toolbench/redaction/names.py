"""The table of names that mean a secret, for arguments of tools and for settings of servers."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple

from toolbench.wording import snake_case


class Strength(IntEnum):
    """The names in which a word, such as `token`, means that the value is a secret."""

    SETTING = 1
    """Only in the settings of a server: its environment, headers and command-line options."""
    ARGUMENT = 2
    """In the settings of a server, and also in the arguments of a tool."""


class _Row(NamedTuple):
    words: str
    strength: Strength


# `key`, `session_id` and `signature` name ordinary arguments of tools (100 of 9,376 in our corpus,
# none of them a secret), but secrets in the settings of a server. Hence there are two strengths.
_TABLE = (
    # Not `GIT_ASKPASS`, which names a program
    _Row(r"(?<!by)(?<!ask)pass(word|wd|phrase|code)?|pwd", Strength.ARGUMENT),
    _Row(r"secret|token|cred|credential", Strength.ARGUMENT),
    _Row(
        r"(api|access|account|auth|decryption|deploy|encryption|license|master|private|secret"
        r"|session|shared|signing|ssh|subscription)_?key",
        Strength.ARGUMENT,
    ),
    _Row(r"auth|authorization|bearer|cookie|jwt", Strength.ARGUMENT),
    _Row(r"connection_?string|(?<![a-z])dsn", Strength.ARGUMENT),
    # Personal access token
    _Row(r"(?<![a-z])(pat|otp|totp)", Strength.ARGUMENT),
    _Row(r"passkey|mnemonic|(seed|recovery)_?phrase", Strength.ARGUMENT),
    _Row(r"(mfa|2fa|recovery|backup)_?code|(?<![a-z])(sas|sessionid)", Strength.ARGUMENT),
    _Row(
        r"(database|connection|postgres|mongo(db)?|redis|jdbc)_?ur[il]",
        Strength.ARGUMENT,
    ),
    _Row(r"key|session|authentication", Strength.SETTING),
    _Row(r"(?<![a-z])(sig|signature)", Strength.SETTING),
)
# endings that do not change the meaning of such a word: `secret_value`, `password2`
_SAME = r"(_?(value|text|string|str|plain|plaintext|raw|data|json|base64|b64|pem|header|confirm|confirmation|again|[0-9]+))?"

_ARGUMENTS = re.compile(
    rf"(^|_)({'|'.join(r.words for r in _TABLE if r.strength is Strength.ARGUMENT)})s?{_SAME}$"
)
_SETTINGS = re.compile(rf"({'|'.join(r.words for r in _TABLE)})s?{_SAME}(?![a-z])")

# tokens for the next page of a list, tokens that a model counts, and names of a repeated request
_TOKENS = re.compile(
    r"(^|_)(next|previous|prev|page|pagination|continuation|continue|cursor|resume|sync|"
    r"start|end|first|last|stop|bos|eos|pad|sep|cls|mask|unk|idempotency|client_request)_token$"
    # Tokens that a model counts, except names such as `access_tokens` below
    r"|(^|_)tokens$"
)
_OWNED_TOKENS = re.compile(r"(^|_)(access|api|auth|bearer|id|refresh|session)_tokens$")
# a setting with the place or the kind of a secret is not a secret itself
_PLACES = re.compile(r"(file|path|dir|url|uri|endpoint|type|mode|method|provider|name)$")
_NUMBERS = re.compile(r"(^|_)(pass(word|wd|code|phrase)|pwd|t?otp|(mfa|2fa)_?code)$")
_COUNTS = re.compile(
    r"(?<![a-z])(max|min|num)_|(tokens|keys|sessions|limit|count|size|length|budget|ttl|timeout)$"
)

# Of `PATs`, which is one word
_PLURAL = re.compile("(?<=[A-Z])s(?![a-z])")


@lru_cache(maxsize=4096)
def is_secret_argument(name: str) -> bool:
    """Tell whether a string argument of a tool is a secret because of its *name*."""
    words = _snake(name)
    if not _ARGUMENTS.search(words):
        return False
    return not _TOKENS.search(words) or bool(_OWNED_TOKENS.search(words))


@lru_cache(maxsize=4096)
def is_secret_number(name: str) -> bool:
    """Tell whether a number called *name* is a secret: `passcode` is, `tokens` is only a count."""
    return bool(_NUMBERS.search(_snake(name)))


def is_secret_setting(name: str, value: str) -> bool:
    """Tell whether *value* of the server setting *name* is a secret."""
    words = _snake(name)
    if not _SETTINGS.search(words) or _PLACES.search(words):
        return False
    return not (value.isdecimal() and _COUNTS.search(words))


def says_where(name: str) -> bool:
    """Tell whether *name* means only the place or the kind of a secret, like `token_url`."""
    return bool(_PLACES.search(_snake(name)))


@lru_cache(maxsize=4096)
def is_misspelt(name: str, secrets: tuple[str, ...]) -> bool:
    """Tell whether *name* is similar to one of *secrets* or of the usual names: `passwrod`."""
    words, known = _snake(name), [*map(_snake, secrets), *_USUAL]
    letters = sorted(words)
    return bool(get_close_matches(words, known, 1, _NEAR)) or any(
        words[:1] == other[0] and letters == sorted(other) for other in known if other
    )


_USUAL = [
    "password",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "access_key",
    "access_token",
    "private_key",
    "credential",
    "credentials",
    "authorization",
    "cookie",
]
# The share of equal letters, as difflib counts: `taken` is no misspelt `token`
_NEAR = 0.85


def name_at(path: Iterable[Any]) -> str:
    """Return the name of the value at *path*; an item has the name of its list."""
    name = ""
    for step in path:
        if isinstance(step, str):
            name = step
    return name


def name_in_map(key: str, above: str) -> str:
    """Return the name that decides whether the value of *key* is a secret.

    Usually, this is *key*. *above* is the name of the map that contains *key*. If the map contains
    secrets, as in `api_keys={"work": ...}`, the result is *above*.
    """
    if is_secret_argument(above) and not says_where(key):
        return above
    return key


def _snake(name: str) -> str:
    """Return *name* in lower case with an underscore between words: `api_key` for `APIKey`."""
    one_word = _PLURAL.sub("S", name.replace("OAuth", "Oauth"))
    return snake_case(one_word.replace("-", "_"))
