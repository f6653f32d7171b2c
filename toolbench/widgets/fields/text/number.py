"""Numbers, typed as text and exact: nothing is clamped, rounded or turned into a float."""

import json
import math
import re
from typing import Any

from toolbench.widgets.fields.text.text_box import TextBox, UnreadableError

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_DIGITS = 4000  # Python refuses to read longer integers


def read_number(text: str, kind: str | None) -> int | float:
    """Read *text* as a number; whether it is of the right *kind* is for validation to say.

    Raises:
        UnreadableError: If *text* is no number as JSON writes it.
    """
    text = text.strip()
    if _NUMBER.fullmatch(text) and len(text) <= _DIGITS:
        number: int | float = json.loads(text)
        if abs(number) != math.inf:
            return number
    kind_name = "an integer" if kind == "integer" else "a number"
    pointed = text.replace(",", ".", 1)
    is_decimal = kind != "integer" and pointed != text and _NUMBER.fullmatch(pointed)
    hint = " Use a point for decimals." if is_decimal else ""
    msg = f"{text!r:.60} is not {kind_name}.{hint}"
    raise UnreadableError(msg)


def write_number(value: Any) -> str | None:
    """Return the text of any finite number, in full; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        text = json.dumps(value)
    except ValueError:  # an integer too long to print
        return None
    return text if _NUMBER.fullmatch(text) else None


class Number(TextBox):
    """A number as JSON writes it: `1` is an integer, `1.0` is not the same text."""

    classes = ("tb-field", "tb-number", "tb-short")
    is_short = True

    def parse(self, text: str) -> Any:
        """Read the number."""
        return read_number(text, self.node.type)

    def render(self, value: Any) -> str | None:
        """Show the number in full."""
        return write_number(value)

    @property
    def nothing(self) -> str:  # type: ignore[override]
        """Say which kind of number."""
        return self.node.type or "number"
