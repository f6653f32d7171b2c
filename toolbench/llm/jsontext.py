"""Read the JSON text a model wrote: exactly, or repaired where only one reading is possible."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

_FENCE = re.compile(r"\A\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_LONGEST = 200_000  # characters: past it, a repair takes longer than asking again


class NotJsonError(ValueError):
    """The text is no JSON, and cannot be made JSON without guessing."""


def _no_constant(name: str) -> NoReturn:
    msg = f"{name} is no JSON value"
    raise NotJsonError(msg)


_exact = json.JSONDecoder(parse_constant=_no_constant)
_lenient = json.JSONDecoder(parse_constant=_no_constant, strict=False)


def read_json(text: str) -> tuple[Any, list[str]]:
    """Return the value of *text*, and a sentence for every repair it took.

    Raw control characters in strings are read as they are. Then quotes, commas, comments and
    Python's literals are mended, if that leaves every value and every bracket where it was: a
    text that was cut off, or that could be read in two ways, is never repaired.

    Raises:
        NotJsonError: If *text* has no value to be sure of; it says where it goes wrong.
    """
    try:
        return _exact.decode(text), []
    except NotJsonError:
        raise
    except (ValueError, RecursionError) as error:
        first = error
    repairs: list[str] = []
    if fenced := _FENCE.match(text):
        text = fenced[1]
        repairs.append("the code fence around it was taken off")
    try:
        value = _lenient.decode(text)
    except NotJsonError:
        raise
    except (ValueError, RecursionError):
        value = _mended(text, first)
        return value, [*repairs, "its JSON was mended: quotes, commas or literals"]
    if not repairs:
        repairs.append("control characters in its strings were escaped")
    return value, repairs


def _mended(text: str, error: Exception) -> Any:
    from json_repair import loads  # noqa: PLC0415 - 70 ms, only for broken text

    problem = _where(text, error)
    wanted = list(_tokens(text)) if len(text) <= _LONGEST else [None]
    if None in wanted or not _closed(wanted):
        raise NotJsonError(problem) from error
    try:
        mended = json.dumps(loads(text, skip_json_loads=True), allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        raise NotJsonError(problem) from error
    if list(_tokens(mended)) != wanted:
        raise NotJsonError(problem) from error
    return _exact.decode(mended)


def _where(text: str, error: Exception) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return f"the JSON ends too early, after {text[-30:]!r}"
    near = text[max(0, error.pos - 15) : error.pos + 15]
    return f"{error.msg} at character {error.pos + 1}, near {near!r}"


# --- what a text says, whatever its punctuation ---------------------------------------

_TOKEN = re.compile(
    r"""
      (?P<space> [\s,]+ | //[^\n]* | /\*.*?\*/ | \#[^\n]* )
    | (?P<mark> [{}\[\]:] )
    | "(?P<double> (?:[^"\\]|\\.)* )"
    | '(?P<single> (?:[^'\\]|\\.)* )'
    | (?P<word> [\w.+$-]+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"""\\(?:(u[0-9a-fA-F]{4}|["\\/])|([bfnrt])|(.))""", re.DOTALL)
_LITERALS = {"True": "true", "False": "false", "None": "null"}


def _tokens(text: str) -> Iterator[tuple[str, str] | None]:
    """Yield what *text* says, commas and quoting aside; None where it cannot be told."""
    at, before = 0, None
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            yield None
            return
        at = found.end()
        if found.lastgroup == "space":
            continue
        token = _token(found)
        if before and token == ("mark", ":") and before[0] == "word":
            before = ("string", before[1])  # a key without quotes
        if before:
            yield before
        if token is None:
            yield None
        before = token
    if before:
        yield before


def _token(found: re.Match[str]) -> tuple[str, str] | None:
    kind = found.lastgroup or ""
    said = found[kind]
    if kind in ("double", "single"):
        text = _unescaped(said)
        return None if text is None else ("string", text)
    if kind == "word":
        return kind, _number(_LITERALS.get(said, said))
    return kind, said


def _number(word: str) -> str:
    """The same number in the same words, `1e3` as `1000.0`; anything else as it is."""
    try:
        return repr(_exact.decode(word)) if word[0] in "-0123456789" else word
    except ValueError:
        return word


def _unescaped(said: str) -> str | None:
    r"""The text of a string; None if `\d` beside `\n` leaves open which backslash counts."""
    escapes = list(_ESCAPE.finditer(said))
    unknown = any(m[3] and m[3] != "'" for m in escapes)
    if unknown and any(m[2] for m in escapes):
        return None
    plain = _ESCAPE.sub(lambda m: _kept(m[3]) if m[3] else m[0], said)
    plain = re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', plain)
    try:
        text: str = _lenient.decode(f'"{plain}"')
    except ValueError:
        return None
    return text


def _kept(letter: str) -> str:
    """An escape JSON has not: a quote is a quote, before a letter the backslash stays."""
    return letter if letter == "'" else f"\\\\{letter}"


def _closed(tokens: list[tuple[str, str] | None]) -> bool:
    waiting: list[str] = []
    for token in tokens:
        if token is None or token[0] != "mark" or token[1] == ":":
            continue
        if token[1] in "{[":
            waiting.append("}" if token[1] == "{" else "]")
        elif not waiting or waiting.pop() != token[1]:
            return False
    return not waiting
