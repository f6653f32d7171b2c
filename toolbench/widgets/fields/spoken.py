"""Tell people who hear a page what stands under a field: its help and its errors.

The front end gives an input its label and nothing else: no `aria-describedby`, no
`aria-invalid`. But what CSS adds to a label is part of the name a screen reader says, and
the text after the slash of `content` is heard without being seen.
"""

import re
from typing import TYPE_CHECKING

from toolbench.display.escape import Html, visible
from toolbench.errors import ended

if TYPE_CHECKING:  # a slot asks for it
    from toolbench.widgets.fields.slot import Slot

_LONGEST = 400
_UNSAFE = re.compile(r"[^\w .,:;!?()-]")  # in a string of CSS, in a <style> of HTML


def spoken(slot: "Slot", remarks: list[str]) -> Html:
    """Return the style sheet that adds *remarks* to the name of the input of *slot*."""
    said = [" required"] if slot.starred else []
    said += [f"Invalid: {error}" for error in slot.errors]
    said += [remark for remark in remarks if remark.strip()]
    if not said:
        return Html("")
    text = " ".join(map(ended, said))
    star = " *" if slot.starred else ""
    return Html(
        f"<style>.{slot.mark}>.widget-label::after,"
        f".{slot.mark}>.widget-label-basic>span::after"
        f'{{content:"{star}";content:"{star}" / "{_quoted(text)}"}}</style>'
    )


def _quoted(text: str) -> str:
    """Return *text* as the inside of a CSS string: on one line, and short."""
    shown = " " + " ".join(visible(text).split())
    cut = f"{shown[:_LONGEST]}…" if len(shown) > _LONGEST else shown
    return _UNSAFE.sub(lambda found: f"\\{ord(found[0]):x} ", cut)
