"""Read JSON text that a model wrote; repair it if it can mean only one thing."""

import json
import re
from functools import partial
from typing import Any, NoReturn

from toolbench.values import each_once

_FENCE = re.compile(r"\A\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_OPENING = re.compile(r"""\{(?=\s*["'}])|\[(?=\s*\{)""")
_TAGS = re.compile(r"</?tool_calls?>|```[a-zA-Z]*")
# Characters; to ask the model again is faster than a longer repair
_LONGEST = 200_000


class NotJsonError(ValueError):
    """The text is not JSON, and a repair would be a guess."""


def _no_constant(name: str) -> NoReturn:
    msg = f"{name} is not a JSON value"
    raise NotJsonError(msg)


_each_once = partial(each_once, error=NotJsonError)
_exact = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_each_once)
_lenient = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_each_once, strict=False)


def read_json(text: str) -> tuple[Any, list[str]]:
    """Return the value of *text*, and a sentence for each repair.

    Raw control characters in strings are accepted. Quotes, commas, comments and Python's
    literals are repaired if every value and every bracket stays where it was. A text that
    was cut off, or that can mean two things, is never repaired.

    Raises:
        NotJsonError: If *text* has no certain value; the error says why.
    """
    try:
        return _sendable(_exact.decode(text), text), []
    except NotJsonError:
        raise
    except (ValueError, RecursionError) as error:
        first = error
    if fenced := _FENCE.match(text):
        value, repairs = read_json(fenced[1])
        return value, ["the code fence around it was removed", *repairs]
    try:
        value = _sendable(_lenient.decode(text), text)
    except NotJsonError:
        raise
    except (ValueError, RecursionError):
        mended = _mended(text, first)
        return mended, ["its JSON was mended: quotes, commas or literals"]
    return value, ["control characters in its strings were escaped"]


def json_at(text: str, at: int) -> tuple[Any, int]:
    """Return the JSON value at position *at* of *text*, and the position of its end.

    Raises:
        NotJsonError: If there is no JSON value, or it needs a repair.
    """
    try:
        value, end = _lenient.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise NotJsonError(_where(text, error)) from None
    return _sendable(value, text[at:end]), end


def embedded(text: str) -> tuple[list[Any], str]:
    """Return the JSON objects and lists of objects in *text*, and the rest of the text.

    If an object or list is broken, no value is returned: the text may have been cut off.
    """
    values: list[Any] = []
    words: list[str] = []
    at = 0
    while (match := _OPENING.search(text, at)) is not None:
        words.append(text[at : match.start()])
        try:
            value, at = json_at(text, match.start())
        except NotJsonError:
            return [], text
        values.append(value)
    return values, _TAGS.sub("", "".join([*words, text[at:]])).strip()


def _mended(text: str, error: Exception) -> Any:
    from json_repair import loads  # noqa: PLC0415 - 70 ms, only for broken text

    refused = NotJsonError(_where(text, error))
    if len(text) > _LONGEST:
        raise refused from error
    pieces = _pieces(text)
    tokens = _tokens(pieces)
    if tokens is None or not _is_balanced(tokens):
        raise refused from error
    # The library guesses, and closes brackets that are missing. So the library gets numbers
    # in place of the strings, and the result must have the same tokens as the text.
    strings: list[str | None] = []
    bare: list[str] = []
    for piece in pieces or ():
        if piece.lastgroup in _QUOTED:
            bare.append(f'"@{len(strings)}@"')
            strings.append(_unescaped(piece[piece.lastgroup]))
        else:
            bare.append(piece[0])
    try:
        value = _put_back(loads("".join(bare), skip_json_loads=True), strings)
        mended = json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        raise refused from error
    if _tokens(_pieces(mended)) != tokens:
        raise refused from error
    return _sendable(_exact.decode(mended), text)


def _sendable(value: Any, text: str) -> Any:
    """Return *value*, which was read from *text*.

    Raises:
        NotJsonError: If UTF-8 cannot encode a string in *value*, because it has half of a surrogate
            pair.
    """
    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            msg = "a string in it holds half of a character"
            raise NotJsonError(msg) from None
    return value


def _put_back(value: Any, strings: list[str | None]) -> Any:
    if isinstance(value, dict):
        return {_put_back(k, strings): _put_back(v, strings) for k, v in value.items()}
    if isinstance(value, list):
        return [_put_back(item, strings) for item in value]
    if isinstance(value, str) and (place := _PLACE.fullmatch(value)):
        return strings[int(place[1])]
    return value


def _where(text: str, error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return f"the JSON ends too early, after {text[-30:]!r}"
    near = text[max(0, error.pos - 15) : error.pos + 15]
    return f"{error.msg} at character {error.pos + 1}, near {near!r}"


# --- the tokens of a text without its punctuation -------------------------------------

# Kind and text
Token = tuple[str, str]

_PIECE = re.compile(
    r"""
      (?P<space> [\s,]+ | //[^\n]* | /\*.*?\*/ | \#[^\n]* )
    | (?P<mark> [{}\[\]:] )
    | "(?P<double> (?:[^"\\]|\\.)* )"
    | '(?P<single> (?:[^'\\]|\\.)* )'
    | (?P<word> [\w.+$-]+ )
    """,
    re.VERBOSE | re.DOTALL,
)
# Escapes of Python and JavaScript
_FOREIGN = frozenset("uxUNav01234567\n")
_ESCAPE = re.compile(r"""\\(?:(u[0-9a-fA-F]{4}|["\\/])|([bfnrt])|(.))""", re.DOTALL)
_QUOTED = ("double", "single")
_PLACE = re.compile(r"@(\d+)@")
_CLOSING = {"{": "}", "[": "]"}
_LITERALS = {"True": "true", "False": "false", "None": "null"}


def _pieces(text: str) -> list[re.Match[str]] | None:
    """Return the pieces of *text*, with blanks and comments; None if a piece is unknown."""
    pieces: list[re.Match[str]] = []
    at = 0
    while at < len(text):
        match = _PIECE.match(text, at)
        if match is None:
            return None
        pieces.append(match)
        at = match.end()
    return pieces


def _tokens(pieces: list[re.Match[str]] | None) -> list[Token] | None:
    """Return the tokens of *pieces* without commas and quotes; None if a string is ambiguous."""
    if pieces is None:
        return None
    tokens: list[Token] = []
    for piece in pieces:
        if piece.lastgroup == "space":
            continue
        token = _token(piece)
        if token is None:
            return None
        if token == ("mark", ":") and tokens and tokens[-1][0] == "word":
            # A key without quotes
            tokens[-1] = ("string", tokens[-1][1])
        tokens.append(token)
    return tokens


def _is_balanced(tokens: list[Token]) -> bool:
    """Tell whether each bracket is closed: a text that was cut off is never repaired."""
    open_brackets: list[str] = []
    for kind, text in tokens:
        if kind == "mark" and text in _CLOSING:
            open_brackets.append(_CLOSING[text])
        elif kind == "mark" and text != ":" and (not open_brackets or open_brackets.pop() != text):
            return False
    return not open_brackets


def _token(match: re.Match[str]) -> Token | None:
    kind = match.lastgroup or ""
    value = match[kind]
    if kind in _QUOTED:
        text = _unescaped(value)
        if text is None:
            return None
        return "string", text
    if kind == "word":
        return kind, _number(_LITERALS.get(value, value))
    return kind, value


def _number(word: str) -> str:
    """Return a number in its normal form (`1e3` as `1000.0`), other words unchanged."""
    if word[0] not in "-0123456789":
        return word
    try:
        return repr(_exact.decode(word))
    except ValueError:
        return word


def _unescaped(literal: str) -> str | None:
    r"""Return the text of a string; None if its backslashes can mean two things.

    `\d` alone is a backslash and a `d`. If the string also has an escape such as `\n`, this
    can mean two things: a line end, or a backslash and an `n`.
    """
    escapes = list(_ESCAPE.finditer(literal))
    unknown = {m[3] for m in escapes if m[3]} - {"'"}
    if unknown & _FOREIGN or (unknown and any(m[2] for m in escapes)):
        return None
    plain = _ESCAPE.sub(_as_json, literal)
    plain = re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', plain)
    try:
        text: str = _lenient.decode(f'"{plain}"')
    except ValueError:
        return None
    return text


def _as_json(escape: re.Match[str]) -> str:
    r"""Return JSON text for *escape*; for one that JSON does not have, a backslash and the letter.

    `\'` means a quote. For other letters the backslash stays.
    """
    letter: str | None = escape[3]
    if letter is None:
        return escape[0]
    if letter == "'":
        return letter
    return f"\\\\{letter}"
