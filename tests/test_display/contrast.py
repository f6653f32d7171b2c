"""Measure the contrast of every piece of text in our HTML, by WCAG's formula and not by our code."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

Rgba = tuple[float, float, float, float]

# Background, text
PAGES: dict[str, tuple[Rgba, Rgba]] = {
    "JupyterLab light": ((255, 255, 255, 1), (0, 0, 0, 0.87)),
    "JupyterLab dark": ((17, 17, 17, 1), (255, 255, 255, 1)),
    "dark, faint text": ((17, 17, 17, 1), (255, 255, 255, 0.87)),
    "a striped row": ((245, 245, 245, 1), (0, 0, 0, 0.87)),
    "a plain white page": ((255, 255, 255, 1), (0, 0, 0, 1)),
    "a panel of the dark theme": ((33, 33, 33, 1), (255, 255, 255, 0.87)),
}

_MIX = re.compile(r"color-mix\(in srgb,(\S+) (\d+)%,(\w+)\)")
_HEX = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})")


def faint(html: str, least: float = 4.5) -> list[str]:
    """Each text that falls below *least* somewhere: page, text, contrast."""
    return [
        f"{page}: {text!r} has {contrast:.2f}"
        for page, (background, ink) in PAGES.items()
        for text, contrast in _contrasts(html, background, ink)
        if contrast < least
    ]


def _contrasts(html: str, background: Rgba, ink: Rgba) -> Iterator[tuple[str, float]]:
    painter = _Painter(background, ink)
    painter.feed(html)
    painter.close()
    for text, color, paper in painter.painted:
        yield text, _contrast(_over(color, paper), paper)


class _Painter(HTMLParser):
    def __init__(self, background: Rgba, ink: Rgba) -> None:
        super().__init__()
        self.painted: list[tuple[str, Rgba, Rgba]] = []
        self._stack = [("", ink, background)]

    def handle_starttag(self, tag, attrs):
        _, color, paper = self._stack[-1]
        rules = dict(
            rule.split(":", 1)
            for rule in (dict(attrs).get("style") or "").split(";")
            if ":" in rule
        )
        for name in ("opacity", "filter", "visibility", "mix-blend-mode"):
            assert name not in rules, f"{name} is not measured here"
        paper = _over(_color(rules.get("background-color", "transparent"), color), paper)
        own = _color(rules.get("color", "inherit"), color)
        if tag not in ("img", "br", "hr"):
            self._stack.append((tag, own, paper))

    def handle_endtag(self, tag):
        assert self._stack.pop()[0] == tag

    def handle_data(self, data):
        if data.strip():
            self.painted.append((data, *self._stack[-1][1:]))


def _color(css: str, current: Rgba) -> Rgba:
    css = css.removeprefix("var(--jp-content-font-color1,").removesuffix(
        ")" * css.startswith("var(")
    )
    if css in ("inherit", "currentColor"):
        return current
    if css == "transparent":
        return 0, 0, 0, 0
    if match := _HEX.fullmatch(css):
        red, green, blue = (int(part, 16) for part in match.groups())
        return red, green, blue, 1
    match = _MIX.fullmatch(css)
    assert match, f"{css!r} is not a colour this test can read"
    share = int(match[2]) / 100
    return _mixed(_color(match[1], current), _color(match[3], current), share)


def _mixed(one: Rgba, other: Rgba, share: float) -> Rgba:
    """CSS color-mix in sRGB: with premultiplied alpha."""
    alpha = one[3] * share + other[3] * (1 - share)
    if not alpha:
        return 0, 0, 0, 0
    red, green, blue = (
        (a * one[3] * share + b * other[3] * (1 - share)) / alpha
        for a, b in zip(one[:3], other[:3], strict=True)
    )
    return red, green, blue, alpha


def _over(color: Rgba, paper: Rgba) -> Rgba:
    red, green, blue = (
        a * color[3] + b * (1 - color[3]) for a, b in zip(color[:3], paper[:3], strict=True)
    )
    return red, green, blue, 1


def _contrast(one: Rgba, other: Rgba) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Rgba) -> float:
    parts = [part / 255 for part in color[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
