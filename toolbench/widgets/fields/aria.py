"""Make a field's help and errors known to screen readers.

Our JavaScript module (`frontend/src/described.ts`) makes them the description of the input.
Without it, an input has only its label. But screen readers read
text that CSS adds to a label, and the part after the slash of `content` is not visible. So without
the module, help and errors are added to the name in this way. (With the module,
`form/stylesheet.py` turns these styles off.)
"""

import re

from toolbench.display.escape import Html, visible
from toolbench.errors import ended
from toolbench.widgets.fields.position import Position

_LONGEST = 400
_UNSAFE = re.compile(r"[^\w .,:;!?()-]")  # in a string of CSS, in a <style> of HTML


def screen_reader_css(
    position: Position, remarks: list[str], errors: list[str]
) -> Html:
    """Return CSS that adds *errors* and *remarks* to the input's name for screen readers."""
    sentences = [" required"] if position.starred else []
    sentences += [f"Invalid: {error}" for error in errors]
    sentences += [remark for remark in remarks if remark.strip()]
    if not sentences:
        return Html("")
    text = " ".join(map(ended, sentences))
    star = " *" if position.starred else ""
    return Html(
        f"<style>.{position.mark}>.widget-label::after,"
        f".{position.mark}>.widget-label-basic>span::after"
        f'{{content:"{star}";content:"{star}" / "{_quoted(text)}"}}</style>'
    )


def _quoted(text: str) -> str:
    """Return *text* for a CSS string: on one line, cut if it is long."""
    text_line = " " + " ".join(visible(text).split())
    cut = f"{text_line[:_LONGEST]}…" if len(text_line) > _LONGEST else text_line
    return _UNSAFE.sub(lambda match: f"\\{ord(match[0]):x} ", cut)
