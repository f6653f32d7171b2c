"""Turn any colour into a similar readable colour, on light and dark pages or on a background colour.

No fixed colour has a contrast of 4.5 on both #fff and #111. So text without a background gets a
mixture with `currentColor`, which is dark on light pages and light on dark pages. Text with its own
background gets the nearest colour that has enough contrast.
"""

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache

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
# background and text colour of JupyterLab's themes where text is hardest to read: the
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
    """Return a mixture of two colours: the part *share* (0 to 1) of *one*, the rest of *other*."""
    rest = 1 - share
    return (
        round(share * one[0] + rest * other[0]),
        round(share * one[1] + rest * other[1]),
        round(share * one[2] + rest * other[2]),
    )


def to_hex(color: Rgb) -> str:
    """Return *color* as CSS writes it: `#1f6fbf`."""
    return "#{:02x}{:02x}{:02x}".format(*color)


@lru_cache(maxsize=4096)
def on_page(color: Rgb) -> str:
    """Return the CSS colour nearest to *color* that can be read on light and dark pages."""
    near = to_hex(_nearest_on_page(color))
    return f"color-mix(in srgb,{near} {_SHARE:.0%},currentColor)"


def _nearest_on_page(color: Rgb) -> Rgb:
    """Return the colour nearest to *color* that can be read once the page's text colour is mixed in."""
    too_light = _faint_on(color, _LIGHT)
    goal, papers = (_BLACK, _LIGHT) if too_light else (_WHITE, _DARK)
    return _nearest(color, goal, lambda c: not _faint_on(c, papers))


def _faint_on(color: Rgb, papers: tuple[tuple[Rgb, Rgb], ...]) -> bool:
    return any(
        contrast(mix(color, ink, _SHARE), paper) < CONTRAST + _MARGIN for paper, ink in papers
    )


@lru_cache(maxsize=4096)
def on_color(color: Rgb | None, background: Rgb) -> Rgb:
    """Return the colour nearest to *color* that can be read on *background*.

    If *color* is None, return black or white, whichever has more contrast.
    """
    goal = max(_BLACK, _WHITE, key=lambda end: contrast(end, background))
    return _nearest(color or goal, goal, lambda c: contrast(c, background) >= CONTRAST)


def _nearest(color: Rgb, goal: Rgb, reads: Callable[[Rgb], bool]) -> Rgb:
    """Return the first mixture from *color* towards *goal* for which *reads* returns True."""

    def at(step: int) -> Rgb:
        return mix(goal, color, step / _STEPS)

    return at(bisect_left(range(_STEPS), 1, key=lambda step: reads(at(step))))
