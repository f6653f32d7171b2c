"""Small parts of HTML pages that need no script, no style sheet and no kernel."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from toolbench.display.ansi import Rgb, on_page
from toolbench.display.caps import cap, left_out, shorten
from toolbench.display.css import CELL, LINE, REMARK, TABLE, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape, visible
from toolbench.display.json_tree import LIMIT, json_html
from toolbench.values import key_text

Tone = Literal["neutral", "info", "success", "warning", "danger"]
"""The meaning of a badge or a notice, which its colour shows."""

# Characters
_TITLE = 200
_NAME = 60
_NOTICE = 5_000
_ROWS = 100
# The opacity of the background of a badge or notice
_TINT = 0.12
# The number of characters that every value may show
_LEAST = 2_000
TONES: dict[Tone, Rgb] = {
    "neutral": (110, 115, 125),
    "info": (35, 110, 200),
    "success": (30, 130, 60),
    "warning": (160, 110, 0),
    "danger": (190, 50, 60),
}
"""The colours of badges and notices, before `on_page` makes them readable."""
_WHOLE_PAGE = """<!doctype html>
<html lang="en" style="background:Canvas;color:CanvasText"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src {images}; style-src 'unsafe-inline'">
<title>{title}</title></head>
<body style="max-width:{width};margin:1.5rem auto;padding:0 1rem;line-height:1.45">
{body}
</body></html>
"""


def section(title: str, content: Html) -> Html:
    """Return the HTML of *content* below *title*, a line of faint text."""
    return Html(
        f'<div {NO_MATHS} style="margin:0 0 10px 0"><div style="{REMARK};{TEXT_FONT};'
        f'font-size:12px;margin-bottom:2px">{short(title)}</div>{content}</div>'
    )


def fold(title: str, content: Html, *, is_open: bool = False) -> Html:
    """Return *content* below *title* as HTML. A click on the title shows or hides the content."""
    opened = ""
    if is_open:
        opened = " open"
    return Html(
        f'<details {NO_MATHS}{opened} style="margin:0 0 6px 0">'
        f'<summary style="cursor:pointer;{REMARK}">{short(title)}</summary>'
        f"{content}</details>"
    )


_DEFAULT = f'<span style="{REMARK}">default</span>'


def key_values(mapping: Mapping[str, Any], *, defaults: Container[str] = frozenset()) -> Html:
    """Return the arguments of a call as a table of names and values.

    Each value is a JSON tree. *defaults* contains the names of the arguments that were not sent:
    their values are the defaults of the tool, and are marked "default".
    """
    share = max(_LEAST, LIMIT // max(1, len(mapping)))
    rows = "".join(
        f'<tr><th style="{CELL};font-weight:600;white-space:nowrap">{short(key_text(key), _NAME)}'
        f'</th><td style="{CELL};width:100%">{_value(json_html(value, limit=share), is_default=key in defaults)}</td></tr>'
        for key, value in islice(mapping.items(), _ROWS)
    )
    if len(mapping) > _ROWS:
        rest = left_out(len(mapping) - _ROWS, "argument")
        rows += f'<tr><td colspan="2" style="{REMARK}">{rest}</td></tr>'
    style = f"{TABLE};width:100%"
    return Html(f'<table {NO_MATHS} style="{style}"><tbody>{rows}</tbody></table>')


def _value(html: Html, *, is_default: bool) -> str:
    """Return a value, with a mark beside it if it is the tool's default."""
    if not is_default:
        return html
    line = "display:flex;flex-wrap:wrap;align-items:baseline;gap:0 8px"
    return f'<div style="{line}">{html}{_DEFAULT}</div>'


def badge(text: str, tone: Tone = "neutral", *, tip: str = "") -> Html:
    """Return *text*, a word or two, as HTML on a coloured background. *tip* is the tooltip."""
    title = ""
    if tip:
        title = f' title="{escape(tip)}"'
    return Html(
        f'<span {NO_MATHS}{title} style="display:inline-block;padding:0 7px;margin:0 4px 0 0;'
        f"border-radius:9px;font-size:11px;line-height:18px;white-space:nowrap;"
        f'{_paint(tone)}">{short(text, _NAME)}</span>'
    )


def notice(text: str, tone: Tone = "info") -> Html:
    """Return *text*, an important sentence, as HTML on a line with a coloured background."""
    return Html(
        f'<div {NO_MATHS} style="padding:6px 10px;margin:0 0 8px 0;border-radius:6px;'
        f"white-space:pre-wrap;overflow-wrap:anywhere;{TEXT_FONT};"
        f'{_paint(tone)}">{escape(str(cap(text, _NOTICE, visible)))}</div>'
    )


def whole_page(title: str, body: str, *, width: str, images: str = "data:") -> str:
    """Return *body* as a complete page that needs no script and no network.

    Args:
        title: The title, already escaped for HTML.
        body: The HTML of the page.
        width: The maximum width of the page, as a length in CSS.
        images: The sources from which images may be loaded, as in a content security policy.
    """
    return _WHOLE_PAGE.format(title=title, body=body, width=width, images=images)


def short(text: str, limit: int = _TITLE) -> Html:
    """Return *text*, a name or a title, as HTML, cut to *limit* characters."""
    # `visible` never shortens
    return escape(shorten(visible(text[: limit + 1]), limit))


def _paint(tone: Tone) -> str:
    red, green, blue = TONES[tone]
    return f"color:{on_page(TONES[tone])};background:rgba({red},{green},{blue},{_TINT})"


# --- cards --------------------------------------------------------------------------

# A card works without a script: content that is too high scrolls. Our front-end module, if the page
# has it, finds cards by their attributes and adds actions: copy, save, wrap, show all.

HEIGHT = "24em"
"""The maximum height of a card's content, in CSS, until the user clicks on "show all"."""

_BOX = (
    f"flex:1 1 20em;min-width:0;box-sizing:border-box;border:{LINE};border-radius:8px;"
    "display:flex;flex-direction:column"
)
_BAR = (
    f"display:flex;align-items:flex-start;gap:0 8px;padding:5px 6px 5px 10px;border-bottom:{LINE}"
)
# Title and remark: one below the other, if a line has no room for both
_HEAD = "display:flex;flex-wrap:wrap;gap:0 8px;flex:1 1 0;min-width:0;padding:3px 0;font-size:12px;line-height:18px"
_BODY = f"max-height:{HEIGHT};flex:1 1 auto;overflow:auto;padding:8px 10px"


@dataclass(frozen=True)
class Card:
    """The content of one card. Title and remark are any strings; the content is safe HTML."""

    title: str
    content: Html
    remark: str = ""
    tone: Tone = "neutral"
    """The meaning of the remark, which both its colour and its words express."""


def cards_html(cards: Iterable[Card]) -> Html:
    """Return the HTML of *cards*, side by side, or one below the other if there is no room."""
    style = f"display:flex;flex-wrap:wrap;gap:10px;align-items:stretch;{TEXT_FONT}"
    boxes = "".join(map(_box, cards))
    return Html(f'<div {NO_MATHS} style="{style};{TEXT_COLOR}">{boxes}</div>')


def _box(card: Card) -> str:
    title, remark = short(card.title), short(card.remark)
    # The remark is never cut, but wraps
    whole = f"{REMARK};min-width:0;overflow-wrap:anywhere"
    if card.tone != "neutral":
        whole += f";color:{on_page(TONES[card.tone])};font-weight:600"
    note = ""
    if remark:
        note = f'<span style="{whole}">{remark}</span>'
    # an element that scrolls needs `tabindex`, so that the keyboard reaches it
    return (
        f'<div data-toolbench-card style="{_BOX}">'
        f'<div data-toolbench-bar style="{_BAR}"><span style="{_HEAD}"><strong>{title}</strong>{note}</span></div>'
        f'<div data-toolbench-body role="group" aria-label="{escape(str(title))}" tabindex="0"'
        f' style="{_BODY}"><div>{card.content}</div></div></div>'
    )
