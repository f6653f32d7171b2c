"""Find JSON in the line of a magic; the other words are quoted as in a shell."""

import re
import shlex
from json import JSONDecodeError, JSONDecoder

from IPython.core.error import UsageError

from toolbench.magics.parsers import split

_VALUE = re.compile(r"(?:^|(?<=\s))[\w.\-]+=(?=[\[{])")
_GOES_ON = re.compile(
    r"\S+\s+(?!-|\{|[\w.\-]+=)\S"
)  # with text that is not a word of a line


def quote_json(line: str) -> str:
    """Return *line* with each JSON value in `key=[...]` and `key={...}` quoted as one word."""
    done, rest = [], 0
    for match in _VALUE.finditer(line):
        start, value = match.span()
        if start < rest or _is_quoted(line[rest:start]):
            continue
        end = _end_of_json(line, value)
        if end is not None and line[end : end + 1].strip() == "":
            done += [line[rest:start], shlex.quote(line[start:end])]
            rest = end
        elif end is None and _GOES_ON.match(line, value):
            raise UsageError(_what_is_wrong(line[start : value - 1], line[value:]))
    return "".join([*done, line[rest:]])


def _what_is_wrong(name: str, text: str) -> str:
    reason = "it is too deep"
    try:
        JSONDecoder().raw_decode(text)
    except JSONDecodeError as error:
        reason = f"{error.msg}, at {text[error.pos :][:30]!r}"
    except RecursionError:
        pass
    return f"The value of {name} is not JSON: {reason}."


def cut_json(line: str) -> tuple[str, str | None]:
    """Cut the JSON object that is not a `key=` value from *line*; return both texts."""
    start = _start_of_json(line)
    if start is None:
        return line, None
    end = _end_of_json(line, start)
    if end is None:  # broken JSON: the caller reads it and raises
        closing = line.rfind("}")
        end = closing + 1 if closing > start else len(line)
    return f"{line[:start]} {line[end:]}", line[start:end]


def open_json(line: str) -> str | None:
    """Return the JSON object that begins in *line* but does not end; None if there is none."""
    start = _start_of_json(line)
    if start is None or _end_of_json(line, start) is not None:
        return None
    return line[start:]


def _start_of_json(line: str) -> int | None:
    """Return the index of the object in *line* that is not a `key=` value."""
    start = line.find(" {")
    while start >= 0 and _is_quoted(line[:start]):
        start = line.find(" {", start + 2)
    return None if start < 0 else start + 1


def _end_of_json(line: str, start: int) -> int | None:
    try:
        _, end = JSONDecoder().raw_decode(line, start)
    except (ValueError, RecursionError):
        return None
    return end


def _is_quoted(head: str) -> bool:
    """Tell whether a quotation is still open after *head*."""
    try:
        split(head)
    except UsageError:
        return True
    return False
