"""Check quickly, by its text alone, that a message has no secret; most have none."""

import re
from itertools import islice

from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor

_MARK = MARK.strip("<>")
_TEXT = re.compile(r'"text"\s*:')
_NEIGHBOURS = re.compile(
    r"""
    "\s*,\s*\{  # a text in a list, then an object
    | ["}]\s*,\s*"[^"]*"\s*[,\]]  # an item of a list, then a text
    """,
    re.VERBOSE,
)


def is_plain(text: str, redactor: Redactor) -> bool:
    """Tell whether *text*, the JSON of a message, can be written unchanged.

    True: it has no secret of *redactor*, whole or spread over neighbours in a list, and no mark
    of a secret. False: it may have one and needs a full check.
    """
    if _MARK in text:
        return False
    return not redactor or not (
        "\\" in text  # escaped characters may hide a secret
        or redactor.occurs_in(text)
        or _has_neighbours(text)
    )


def _has_neighbours(text: str) -> bool:
    """Tell whether *text*, JSON without escapes, has neighbouring texts that form one text."""
    if _NEIGHBOURS.search(text) is not None:
        return True
    return len(list(islice(_TEXT.finditer(text), 2))) == 2
