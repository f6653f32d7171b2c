"""Find secrets by their names, in the settings of a server and in similar texts."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from toolbench.redaction.detection.names import is_secret_argument, is_secret_setting
from toolbench.redaction.matching.credential_parts import SCHEMES, parts

IsSecret = Callable[[str, str], bool]
"""Tells by a name and its value whether the value is a secret."""

_PAIR = re.compile(r"(?P<name>-*\w[\w.-]*)(\s*=|:\s)\s*(?P<value>.+)", re.S)
_URL = re.compile(r"(?P<scheme>[A-Za-z][\w+.:-]{0,40})://((?P<user>[^/?#\s]*)@)?")
_QUERY = re.compile(r"[?&#;](?P<name>[^=&#;]+)=(?P<value>[^&#\s]*)")
_BEGINNING = re.compile(r"\s*-*[A-Za-z][\w.-]*\s*[=:]")
_LINE = re.compile(r"\s*-*(?P<name>[A-Za-z][\w.-]*)(\s*=\s*|:\s*)(?P<value>\S.*?)\s*")
_PLACEHOLDER = re.compile(r"[\"']?(\$\{|\$\(|\{\{|<)")
# Characters: in an address, `key=PROJ-17` and `ada@` are not secrets
_LONG = 16
_HEADER = re.compile(r"-H|--?([\w-]+-)?headers?")
# Of settings such as `AUTH`: words that are in all JSON, and the ways to authenticate
_SWITCHES = SCHEMES | {"true", "false", "null", "none"}


def secrets_in(
    value: Any, name: str = "", is_secret: IsSecret = is_secret_setting
) -> Iterator[str]:
    """Yield the secrets in *value*, JSON data whose name is *name*.

    A text with the name of a secret is a secret. In `Bearer x`, the `x` alone is a secret too. In
    any text, the password or token of a URL is a secret, and so is the value after the name of a
    secret: in `name=value`, `Name: value`, a parameter of a URL, or a member of a JSON object.
    *is_secret* tells by a name and its value whether the value is a secret.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from secrets_in(item, str(key), is_secret)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from secrets_in(item, name, is_secret)
    elif isinstance(value, str):
        if is_secret(name, value):
            yield from parts(value, name)
        yield from _in_text(value, is_secret)


def secrets_in_words(
    words: Iterable[str], is_secret: IsSecret = is_secret_setting
) -> Iterator[tuple[str, list[str]]]:
    """Yield each of *words*, a command line, with the secrets in the word, as in `--api-key VALUE`."""
    option = ""
    for word in words:
        text = word.replace(":", ": ", 1) if _HEADER.fullmatch(option) else word
        name = "" if word.startswith("--") else option
        yield word, list(secrets_in(text, name, is_secret))
        option = word if word.startswith("-") else ""


def is_short_secret(name: str, value: str) -> bool:
    """Tell whether *value*, with the name *name* in the settings of a server, is a secret if it is short.

    A switch such as `AUTH=none` is none, and neither is what a weaker name has, such as `SORT_KEY=name`.
    """
    return is_secret_argument(name) and value.lower() not in _SWITCHES


def may_hold_secret(text: str) -> bool:
    """Tell quickly whether `secrets_in_argument` may find something in *text*."""
    return "://" in text or bool(_BEGINNING.match(text))


def secrets_in_argument(text: str) -> Iterator[str]:
    """Yield the secrets in *text*, an argument whose own name is not the name of a secret.

    They are the password and tokens of a URL, and the value in `NAME=value` or `Name: value`, if
    this is the whole text and NAME means a secret. Sentences and program code also have such names
    inside: `secrets_in`, which searches inside texts, would hide values there that are not secret.
    """
    yield from _in_urls(text, _is_secret_parameter, shortest_user=_LONG)
    line = _LINE.fullmatch(text)
    if line is None or not is_secret_argument(line["name"]):
        return
    value, name = line["value"], line["name"]
    scheme, *credentials = value.split()
    is_one = not credentials or scheme.lower() in SCHEMES or "cookie" in name.lower()
    if is_one and not _PLACEHOLDER.match(value):
        yield from parts(value, name)


def _is_secret_parameter(name: str, value: str) -> bool:
    is_long = len(value) >= _LONG
    return is_secret_argument(name) or (is_long and is_secret_setting(name, value))


def _in_text(text: str, is_secret: IsSecret) -> Iterator[str]:
    yield from _in_urls(text, is_secret)
    if text.lstrip().startswith(("{", "[")):
        yield from _in_json(text, is_secret)
    elif pair := _PAIR.fullmatch(text):
        yield from secrets_in(pair["value"], pair["name"], is_secret)


def _in_urls(text: str, is_secret: IsSecret, *, shortest_user: int = 1) -> Iterator[str]:
    urls = list(_URL.finditer(text))
    raw = [m["value"] for m in _QUERY.finditer(text) if is_secret(*m.groups())]
    for url in urls:
        user, _, password = (url["user"] or "").partition(":")
        is_web = url["scheme"].endswith(("http", "https"))
        # without a password, it is a token for a web server, but only a user for a database
        if is_web and password in ("", "x-oauth-basic"):
            raw.append(user if len(user) >= shortest_user else "")
        else:
            raw.append(password)
    for value in filter(None, raw if urls else ()):
        yield from (value, unquote_plus(value))


def _in_json(text: str, is_secret: IsSecret) -> Iterator[str]:
    try:
        yield from secrets_in(json.loads(text), "", is_secret)
    except (ValueError, RecursionError):
        # It is not JSON
        return
