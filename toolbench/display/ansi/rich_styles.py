"""Write a Rich style as inline CSS that can be read on light and dark pages."""

from functools import lru_cache

from rich.color import Color
from rich.style import Style

from toolbench.display.ansi.colors import MUTED, Rgb, mix, on_color, on_page, to_hex

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
    """Return the CSS rules of *style*, readable on light and dark pages; empty if it has no effect."""
    lines = {
        "underline": style.underline or style.underline2,
        "line-through": style.strike,
        "overline": style.overline,
    }
    decoration = " ".join(name for name, on in lines.items() if on)
    rules = [
        *_colors(style),
        "font-weight:bold" if style.bold else "",
        "font-style:italic" if style.italic else "",
        f"text-decoration:{decoration}" if decoration else "",
    ]
    return ";".join(rule for rule in rules if rule)


def _colors(style: Style) -> list[str]:
    ink, paper = _rgb(style.color), _rgb(style.bgcolor)
    if style.reverse:
        ink, paper = paper, ink or _REVERSED
    if paper:
        if style.dim:
            ink = mix(on_color(ink, paper), paper, 0.7)
        ink = on_color(ink, paper)
        return [f"color:{to_hex(ink)}", f"background-color:{to_hex(paper)}"]
    if ink:
        return [f"color:{on_page(_dimmed(ink) if style.dim else ink)}"]
    return [f"color:{MUTED}"] if style.dim else []


def _dimmed(ink: Rgb) -> Rgb:
    return mix(ink, _GREY, 0.5)


def _rgb(color: Color | None) -> Rgb | None:
    if color is None or color.is_default:
        return None
    if color.number is not None and color.number < len(_ANSI):
        return _ANSI[color.number]
    red, green, blue = color.get_truecolor()
    return red, green, blue
