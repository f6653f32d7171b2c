"""The editor of numbers, typed as text and kept exactly, without rounding."""

import json
import math
import re
from typing import Any

from toolbench.widgets.fields.text.text_box import TextBox, UnreadableError

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_DIGITS = 4000  # characters; Python refuses to read longer integers


def read_number(text: str, kind: str | None) -> int | float:
    """Read *text* as a number; validation checks later that it has the right *kind*.

    Raises:
        UnreadableError: If *text* is not a number in JSON.
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
    """Return the full text of a finite number; None for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        text = json.dumps(value)
    except ValueError:  # an integer too long to print
        return None
    return text if _NUMBER.fullmatch(text) else None


class Number(TextBox):
    """A box for a number in JSON's form, in which `1` and `1.0` stay different."""

    classes = ("tb-field", "tb-number", "tb-short")
    is_short = True

    def parse(self, text: str) -> Any:
        """Read the number."""
        return read_number(text, self.node.type)

    def render(self, value: Any) -> str | None:
        """Return the full text of the number."""
        return write_number(value)

    @property
    def nothing(self) -> str:  # type: ignore[override]
        """The placeholder: the kind of number."""
        return self.node.type or "number"
