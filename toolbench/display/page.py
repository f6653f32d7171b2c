"""Small building blocks for static HTML: they need no script, no style sheet and no kernel."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Literal

from toolbench.display.caps import cap, left_out, shorten
from toolbench.display.colors import Rgb, on_page
from toolbench.display.css import CELL, LINE, REMARK, TABLE, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape, visible
from toolbench.display.jsontree import LIMIT, json_html

Tone = Literal["neutral", "info", "success", "warning", "danger"]
"""What a badge or a notice wants to say, as a colour."""

_TITLE = 200  # characters
_NAME = 60
_NOTICE = 5_000
_ROWS = 100
_LEAST = 2_000  # characters every value may have
_TONES: dict[Tone, Rgb] = {
    "neutral": (110, 115, 125),
    "info": (35, 110, 200),
    "success": (30, 130, 60),
    "warning": (160, 110, 0),
    "danger": (190, 50, 60),
}


def side_by_side(parts: Iterable[tuple[str, Html]]) -> Html:
    """Return titled parts next to each other; below each other where there is no room.

    Args:
        parts: Title (any text) and content (markup of this layer) of each.
    """
    boxes = "".join(
        f'<div style="flex:1 1 20em;min-width:0;box-sizing:border-box;border:{LINE};'
        'border-radius:4px;padding:8px 10px">'
        f'<div style="{REMARK};font-weight:600;margin-bottom:6px">'
        f"{short(title)}</div>"
        f"{content}</div>"
        for title, content in parts
    )
    style = f"display:flex;flex-wrap:wrap;gap:10px;align-items:flex-start;{TEXT_FONT}"
    return Html(f'<div {NO_MATHS} style="{style};{TEXT_COLOR}">{boxes}</div>')


def section(title: str, content: Html) -> Html:
    """Return *content* under a muted line that says what it is."""
    return Html(
        f'<div {NO_MATHS} style="margin:0 0 10px 0"><div style="{REMARK};{TEXT_FONT};'
        f'font-size:12px;margin-bottom:2px">{short(title)}</div>{content}</div>'
    )


def key_values(mapping: Mapping[str, Any]) -> Html:
    """Return the arguments of a call as a table: names, and their values as JSON trees."""
    share = max(_LEAST, LIMIT // max(1, len(mapping)))
    rows = "".join(
        f'<tr><th style="{CELL};font-weight:600;white-space:nowrap">{short(key, _NAME)}'
        f'</th><td style="{CELL};width:100%">{json_html(value, limit=share)}</td></tr>'
        for key, value in islice(mapping.items(), _ROWS)
    )
    if len(mapping) > _ROWS:
        rest = left_out(len(mapping) - _ROWS, "argument")
        rows += f'<tr><td colspan="2" style="{REMARK}">{rest}</td></tr>'
    style = f"{TABLE};width:100%"
    return Html(f'<table {NO_MATHS} style="{style}"><tbody>{rows}</tbody></table>')


def badge(text: str, tone: Tone = "neutral", *, tip: str = "") -> Html:
    """Return a word or two in a coloured frame; *tip* says what they mean to who points at them."""
    title = f' title="{escape(tip)}"' if tip else ""
    return Html(
        f'<span {NO_MATHS}{title} style="display:inline-block;padding:0 7px;margin:0 4px 0 0;'
        f"border-radius:9px;font-size:12px;line-height:18px;white-space:nowrap;"
        f'{_paint(tone)}">{short(text, _NAME)}</span>'
    )


def notice(text: str, tone: Tone = "info") -> Html:
    """Return a sentence the reader should not miss, on a line of its own."""
    return Html(
        f'<div {NO_MATHS} style="padding:6px 10px;margin:0 0 8px 0;border-radius:4px;'
        f"white-space:pre-wrap;overflow-wrap:anywhere;{TEXT_FONT};"
        f'{_paint(tone)}">{escape(str(cap(visible(text), _NOTICE)))}</div>'
    )


def short(text: str, limit: int = _TITLE) -> Html:
    """Return a name or a title as HTML, at most *limit* characters of it."""
    return escape(shorten(visible(text), limit))


def _paint(tone: Tone) -> str:
    return f"color:{on_page(_TONES[tone])};border:1px solid"
