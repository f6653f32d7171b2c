"""Which parts of a server's configuration are secrets: by their names, wherever they stand."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from toolbench.core.telling import snake

_NAMES = re.compile(
    r"secret|credential|cookie|bearer|connection_?string"
    r"|(key|token|auth|authorization|authentication|pwd|jwt|session)s?(?![a-z])"
    r"|(?<!by)pass(word|wd|phrase|code)?s?(?![a-z])"
    r"|(?<![a-z])(pat|sig|signature)(?![a-z])"  # pat: a personal access token
)
_PLACES = re.compile(
    r"(file|path|dir|url|uri|endpoint|type|mode|method|provider|name)$"
)
_COUNTS = re.compile(
    r"(?<![a-z])(max|min|num)_|(tokens|keys|sessions|limit|count|size|length|budget|ttl|timeout)$"
)
_PAIR = re.compile(r"(?P<name>-*\w[\w.-]*)(\s*=|:\s)\s*(?P<value>.+)", re.S)
_URL = re.compile(r"(?P<scheme>[A-Za-z][\w+.:-]{0,40})://((?P<user>[^/?#\s]*)@)?")
_QUERY = re.compile(r"[?&#;](?P<name>[^=&#;]+)=(?P<value>[^&#\s]*)")
_HEADER = re.compile(r"-H|--?([\w-]+-)?headers?")


def secrets_in(value: Any, name: str = "") -> Iterator[str]:
    """Give the secrets in *value*, JSON-like, that is called *name*.

    Text under a name that says so is a secret, and of `Bearer x` also the `x`. In any text, a
    URL's password or token, and what stands beside such a name: `name=value`, `Name: value`, a
    parameter of a URL, a member of a JSON object.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from secrets_in(item, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from secrets_in(item, name)
    elif isinstance(value, str):
        if _is_secret(name, value):
            yield from (value, value.split(" ", 1)[-1])
        yield from _in_text(value)


def secrets_in_words(words: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Give the *words* of a command line, each with the secrets in it: `--api-key VALUE`."""
    option = ""
    for word in words:
        text = word.replace(":", ": ", 1) if _HEADER.fullmatch(option) else word
        yield word, list(secrets_in(text, "" if word.startswith("--") else option))
        option = word if word.startswith("-") else ""


def _in_text(text: str) -> Iterator[str]:
    yield from _in_urls(text)
    if text.lstrip().startswith(("{", "[")):
        yield from _in_json(text)
    elif pair := _PAIR.fullmatch(text):
        yield from secrets_in(pair["value"], pair["name"])


def _in_urls(text: str) -> Iterator[str]:
    urls = list(_URL.finditer(text))
    raw = [m["value"] for m in _QUERY.finditer(text) if _is_secret(*m.groups())]
    for url in urls:
        user, _, password = (url["user"] or "").partition(":")
        is_web = url["scheme"].endswith(("http", "https"))
        # alone, it is a token to a web server, and to a database just a user
        raw.append(user if is_web and password in ("", "x-oauth-basic") else password)
    for value in filter(None, raw if urls else ()):
        yield from (value, unquote_plus(value))


def _in_json(text: str) -> Iterator[str]:
    try:
        yield from secrets_in(json.loads(text))
    except (ValueError, RecursionError):  # no JSON after all
        return


def _is_secret(name: str, value: str) -> bool:
    words = snake(name)
    if not _NAMES.search(words) or _PLACES.search(words):
        return False
    return not (value.isdecimal() and _COUNTS.search(words))
