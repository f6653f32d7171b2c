"""Find secrets by their names and places, find them again in other strings, and hide them."""

import re
from typing import Any

from toolbench.values import mapped

MARK = "<secret-hidden>"
"""The mark that replaces a secret. It is that of the OpenHands SDK's terminal tool.

Every encoding keeps the mark, because it is plain ASCII. Users do not type it by accident.
"""

# In a file with several secrets, each secret has its own mark
_NUMBERED = re.compile(r"<secret-hidden:\d+>")


def numbered_mark(number: int) -> str:
    """Return the mark that replaces the secret with this *number* in a saved file."""
    return f"<secret-hidden:{number}>"


def has_mark(text: str) -> bool:
    """Tell whether *text* contains a mark that `numbered_mark` made."""
    return _NUMBERED.search(text) is not None


def split_at_marks(text: str) -> list[str]:
    """Return the parts of *text* between the numbered marks; one part if there is no mark."""
    return _NUMBERED.split(text)


def without_numbers(value: Any) -> Any:
    """Return the JSON *value* with `MARK` in place of each numbered mark."""
    return mapped(value, _without_number, _without_number)


def _without_number(part: Any) -> Any:
    if isinstance(part, str):
        return _NUMBERED.sub(MARK, part)
    return part
