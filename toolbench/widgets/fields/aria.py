"""Tell people who hear a page what stands under a field: its help and its errors.

Our front-end module (`frontend/src/described.ts`) makes them the description of the input.
Where it is not loaded, an input has its label and nothing else. But what CSS adds to a label
is part of the name a screen reader says, and the text after the slash of `content` is heard
without being seen: so there they become part of the name. (`form_style` takes these styles
back where the module is loaded.)
"""

import re

from toolbench.display.escape import Html, visible
from toolbench.errors import ended
from toolbench.widgets.fields.position import Position

_LONGEST = 400
_UNSAFE = re.compile(r"[^\w .,:;!?()-]")  # in a string of CSS, in a <style> of HTML


def spoken(position: Position, remarks: list[str], errors: list[str]) -> Html:
    """Return the style sheet that adds *errors* and *remarks* to the name of the input."""
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
    """Return *text* as the inside of a CSS string: on one line, and short."""
    text_line = " " + " ".join(visible(text).split())
    cut = f"{text_line[:_LONGEST]}…" if len(text_line) > _LONGEST else text_line
    return _UNSAFE.sub(lambda match: f"\\{ord(match[0]):x} ", cut)
