"""JSON in the line of a magic, where quotes are JSON's and not the shell's."""

import re
import shlex
from json import JSONDecoder

from IPython.core.error import UsageError

from toolbench.magics.parsers import split

_VALUE = re.compile(r"(?:^|(?<=\s))[\w.\-]+=(?=[\[{])")


def quote_json(line: str) -> str:
    """Return *line* with each `key=[...]` and `key={...}` that is JSON quoted as one word."""
    done, rest = [], 0
    for match in _VALUE.finditer(line):
        start, value = match.span()
        if start < rest or _is_quoted(line[rest:start]):
            continue
        end = _end_of_json(line, value)
        if end is not None and line[end : end + 1].strip() == "":
            done += [line[rest:start], shlex.quote(line[start:end])]
            rest = end
    return "".join([*done, line[rest:]])


def cut_json(line: str) -> tuple[str, str | None]:
    """Return *line* without the JSON object that stands in it alone, and that object's text."""
    start = line.find(" {")
    while start >= 0 and _is_quoted(line[:start]):
        start = line.find(" {", start + 2)
    if start < 0:
        return line, None
    end = _end_of_json(line, start + 1)
    if end is None:  # its reader says what is wrong with it
        closing = line.rfind("}")
        end = closing + 1 if closing > start else len(line)
    return f"{line[:start]} {line[end:]}", line[start:end]


def _end_of_json(line: str, start: int) -> int | None:
    try:
        _, end = JSONDecoder().raw_decode(line, start)
    except (ValueError, RecursionError):
        return None
    return end


def _is_quoted(head: str) -> bool:
    """Whether *head* leaves a quotation open."""
    try:
        split(head)
    except UsageError:
        return True
    return False
