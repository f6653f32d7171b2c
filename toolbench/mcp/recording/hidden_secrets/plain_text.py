"""Tell by the text of a message alone that no secret stands in it: most messages hold none."""

import re
from itertools import islice

from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor

_MARK = MARK.strip("<>")
_TEXT = re.compile(r'"text"\s*:')
_NEIGHBOURS = re.compile(
    r"""
    "\s*,\s*\{  # a text in a list, and an object behind it
    | ["}]\s*,\s*"[^"]*"\s*[,\]]  # something in a list, and a text behind it
    """,
    re.VERBOSE,
)


def is_plain(text: str, redactor: Redactor) -> bool:
    """Tell at a glance that *text*, JSON of a request or an answer, is well written as it is.

    No secret that *redactor* knows stands in it, whole or spread over neighbours in a list, and no
    mark of one. False means that it takes a closer look.
    """
    if _MARK in text:
        return False
    return not redactor or not (
        "\\" in text  # what is escaped may read as anything
        or redactor.occurs_in(text)
        or _has_neighbours(text)
    )


def _has_neighbours(text: str) -> bool:
    """Tell whether *text*, JSON without escapes, has two texts that one may read as one."""
    if _NEIGHBOURS.search(text) is not None:
        return True
    return len(list(islice(_TEXT.finditer(text), 2))) == 2
