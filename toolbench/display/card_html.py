"""Cards: boxes with a title, a remark beside the title, and content of a limited height.

A card works without a script: content that is too high scrolls. If the page has our front-end
module, the module finds cards by their attributes and adds actions: copy, save, wrap, show all.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.html.css import LINE, REMARK, TEXT_COLOR, TEXT_FONT
from toolbench.display.page import short

HEIGHT = "24em"
"""The greatest height of a card's content, in CSS, until a person clicks on "show all"."""

_BOX = (
    f"flex:1 1 20em;min-width:0;box-sizing:border-box;border:{LINE};border-radius:8px;"
    "display:flex;flex-direction:column"
)
_BAR = f"display:flex;flex-wrap:wrap;align-items:center;gap:2px 8px;padding:5px 10px;border-bottom:{LINE}"
_BODY = f"max-height:{HEIGHT};flex:1 1 auto;overflow:auto;padding:8px 10px"


@dataclass(frozen=True)
class Card:
    """The content of one card: title and remark are any text, the content is safe HTML."""

    title: str
    content: Html
    remark: str = ""


def cards_html(cards: Iterable[Card]) -> Html:
    """Return the HTML of *cards*, side by side, or one below the other if there is no room."""
    style = f"display:flex;flex-wrap:wrap;gap:10px;align-items:stretch;{TEXT_FONT}"
    boxes = "".join(map(_box, cards))
    return Html(f'<div {NO_MATHS} style="{style};{TEXT_COLOR}">{boxes}</div>')


def _box(card: Card) -> str:
    title, remark = short(card.title), short(card.remark)
    # Never cut: it wraps
    whole = f"{REMARK};flex:1 1 auto;min-width:0;overflow-wrap:anywhere"
    note = f'<span style="{whole}">{remark}</span>' if remark else ""
    # an element that scrolls needs `tabindex`, so that the keyboard reaches it
    return (
        f'<div data-toolbench-card style="{_BOX}">'
        f'<div data-toolbench-bar style="{_BAR}"><strong style="font-size:12px">{title}</strong>{note}</div>'
        f'<div data-toolbench-body role="group" aria-label="{escape(str(title))}" tabindex="0"'
        f' style="{_BODY}"><div>{card.content}</div></div></div>'
    )
