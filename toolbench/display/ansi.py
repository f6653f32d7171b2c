"""The output of terminal programs, and Rich styles, in colours that are readable on every page.

No fixed colour has a contrast of 4.5 on both #fff and #111. So the colour of text without a
background is mixed with `currentColor`, which is dark on light pages and light on dark pages. Text
with its own background gets the nearest colour that has enough contrast.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache

from rich.ansi import AnsiDecoder
from rich.color import Color
from rich.style import Style
from rich.text import Text

from toolbench.display.caps import cap, joined
from toolbench.display.escape import OTHER, RETURN, STYLE, visible

_STYLED = re.compile(f"({STYLE.pattern})")
_PIECE = re.compile(f"{STYLE.pattern}|.", re.DOTALL)


def from_ansi(text: str, *, limit: int | None = None) -> Text:
    """Return *text* as Rich text, with its colours but without any other control sequences.

    Window titles, hyperlinks, cursor movements and other sequences are removed. If a program
    overwrote a line, as a progress bar does, only the last state of the line is shown. Other
    control characters, and characters that reorder text, are written as visible codes (see
    `visible`).

    Args:
        text: The output of the program.
        limit: The maximum number of characters to show. The middle of a longer text is left out.
    """
    if limit is None:
        return _decode(_clean(text))
    capped = cap(text, limit, _clean)
    if not capped.omitted:
        return _decode(capped.head)
    return joined(_decode(capped.head), capped.omitted, _decode(capped.tail))


def _clean(text: str) -> str:
    lines = OTHER.sub("", RETURN.sub("\r", text)).split("\n")
    return _visible("\n".join(map(_last_state, lines)))


def _last_state(line: str) -> str:
    if "\b" in line:
        line = _backspaced(line)
    if "\r" not in line:
        return line
    states = line.split("\r")
    last = max((i for i, state in enumerate(states) if _STYLED.sub("", state)), default=0)
    colours = (match for state in states[:last] for match in STYLE.findall(state))
    return "".join((*colours, *states[last:]))


def _backspaced(line: str) -> str:
    characters: list[str] = []
    for piece in _PIECE.findall(line):
        if piece != "\b":
            characters.append(piece)
        elif characters and len(characters[-1]) == 1:
            characters.pop()
    return "".join(characters)


def _visible(text: str) -> str:
    return "\x1b".join(map(visible, text.split("\x1b")))


def _decode(text: str) -> Text:
    # one call for all lines: Rich's own loop over lines costs three times as much
    return AnsiDecoder().decode_line(text)


# --- colours ------------------------------------------------------------------------

Rgb = tuple[int, int, int]

MUTED = "color-mix(in srgb,currentColor 72%,transparent)"
"""The colour of remarks: the page's text colour, but fainter."""

CONTRAST = 4.5
"""The least contrast between text and background (WCAG 2, level AA)."""

# The share of the colour; the rest is the page's text colour
_SHARE = 0.75
# Of contrast: browsers mix and round differently
_MARGIN = 0.2
_STEPS = 32
_BLACK: Rgb = (0, 0, 0)
_WHITE: Rgb = (255, 255, 255)
# background and text colour of JupyterLab's themes at the places that are hardest to read: the
# striped rows of the light theme, the page and the panels of the dark theme
_LIGHT = (((245, 245, 245), (33, 33, 33)),)
_DARK = (((17, 17, 17), _WHITE), ((33, 33, 33), (226, 226, 226)))


def contrast(one: Rgb, other: Rgb) -> float:
    """Return the contrast of two colours, from 1 to 21, as WCAG defines it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Rgb) -> float:
    red, green, blue = color
    return 0.2126 * _LINEAR[red] + 0.7152 * _LINEAR[green] + 0.0722 * _LINEAR[blue]


_LINEAR = [
    c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
    for c in (part / 255 for part in range(256))
]


def mix(one: Rgb, other: Rgb, share: float) -> Rgb:
    """Return a mixture of two colours. *share* (0 to 1) is the fraction of *one*."""
    rest = 1 - share
    return (
        round(share * one[0] + rest * other[0]),
        round(share * one[1] + rest * other[1]),
        round(share * one[2] + rest * other[2]),
    )


def to_hex(color: Rgb) -> str:
    """Return *color* in CSS notation, such as `#1f6fbf`."""
    return "#{:02x}{:02x}{:02x}".format(*color)


@lru_cache(maxsize=4096)
def on_page(color: Rgb) -> str:
    """Return the CSS colour nearest to *color* that is readable on light and dark pages."""
    near = to_hex(_nearest_on_page(color))
    return f"color-mix(in srgb,{near} {_SHARE:.0%},currentColor)"


def _nearest_on_page(color: Rgb) -> Rgb:
    """Return the colour nearest to *color* that is readable after mixing in the text colour."""
    # Too light for a light page
    if _faint_on(color, _LIGHT):
        return _nearest(color, _BLACK, lambda c: not _faint_on(c, _LIGHT))
    return _nearest(color, _WHITE, lambda c: not _faint_on(c, _DARK))


def _faint_on(color: Rgb, papers: tuple[tuple[Rgb, Rgb], ...]) -> bool:
    return any(
        contrast(mix(color, ink, _SHARE), paper) < CONTRAST + _MARGIN for paper, ink in papers
    )


@lru_cache(maxsize=4096)
def on_color(color: Rgb | None, background: Rgb) -> Rgb:
    """Return the colour nearest to *color* that is readable on *background*.

    If *color* is None, return black or white, whichever has more contrast.
    """
    goal = max(_BLACK, _WHITE, key=lambda end: contrast(end, background))
    return _nearest(color or goal, goal, lambda c: contrast(c, background) >= CONTRAST)


def _nearest(color: Rgb, goal: Rgb, reads: Callable[[Rgb], bool]) -> Rgb:
    """Return the first mixture from *color* towards *goal* for which *reads* returns True."""

    def at(step: int) -> Rgb:
        return mix(goal, color, step / _STEPS)

    return at(bisect_left(range(_STEPS), 1, key=lambda step: reads(at(step))))


# --- Rich styles as CSS --------------------------------------------------------------

_GREY: Rgb = (128, 128, 128)
_REVERSED: Rgb = (208, 208, 208)
_ANSI: tuple[Rgb, ...] = (
    (92, 99, 112),
    (190, 50, 60),
    (30, 130, 60),
    (160, 110, 0),
    (35, 110, 200),
    (165, 60, 160),
    (10, 130, 140),
    (140, 140, 140),
    (125, 130, 140),
    (225, 85, 85),
    (60, 165, 85),
    (195, 145, 20),
    (80, 145, 230),
    (195, 95, 190),
    (45, 165, 170),
    (160, 160, 160),
)


@lru_cache(maxsize=4096)
def style_css(style: Style) -> str:
    """Return the CSS rules of *style*, readable on light and dark pages.

    The result is empty if *style* has no effect.
    """
    lines = {
        "underline": style.underline or style.underline2,
        "line-through": style.strike,
        "overline": style.overline,
    }
    decoration = " ".join(name for name, on in lines.items() if on)
    rules = _colors(style)
    if style.bold:
        rules.append("font-weight:bold")
    if style.italic:
        rules.append("font-style:italic")
    if decoration:
        rules.append(f"text-decoration:{decoration}")
    return ";".join(rules)


def _colors(style: Style) -> list[str]:
    ink, paper = _rgb(style.color), _rgb(style.bgcolor)
    if style.reverse:
        ink, paper = paper, ink or _REVERSED
    if paper:
        if style.dim:
            ink = mix(on_color(ink, paper), paper, 0.7)
        ink = on_color(ink, paper)
        return [f"color:{to_hex(ink)}", f"background-color:{to_hex(paper)}"]
    if ink and style.dim:
        return [f"color:{on_page(mix(ink, _GREY, 0.5))}"]
    if ink:
        return [f"color:{on_page(ink)}"]
    if style.dim:
        return [f"color:{MUTED}"]
    return []


def _rgb(color: Color | None) -> Rgb | None:
    if color is None or color.is_default:
        return None
    if color.number is not None and color.number < len(_ANSI):
        return _ANSI[color.number]
    red, green, blue = color.get_truecolor()
    return red, green, blue
