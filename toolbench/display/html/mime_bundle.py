"""Show a mime bundle that was displayed during a run; its content is not trusted."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

from toolbench.display.ansi.ansi import from_ansi
from toolbench.display.escape import Html, visible
from toolbench.display.html.images import LARGEST, read_image
from toolbench.display.html.inert_html import inert_html
from toolbench.display.html.markdown import markdown_html
from toolbench.display.json_tree import json_html, json_text
from toolbench.display.render import to_html, to_text

LIMIT = 50_000
"""The number of characters of text to show of one bundle."""

_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_WIDGET = "application/vnd.jupyter.widget-view+json"


def bundle_html(data: Mapping[str, Any]) -> Html:
    """Return the richest part of *data* that is safe to show, as HTML; empty if it has only plain text."""
    for kind, show in _RENDERERS.items():
        if kind in data and (html := show(data[kind])):
            return html
    return Html("")


def bundle_text(data: Mapping[str, Any]) -> str:
    """Return *data* as text, for a terminal or a log."""
    if _WIDGET in data:
        return "[a widget, which a run cannot show]"
    if "text/plain" in data:
        return visible(to_text(from_ansi(str(data["text/plain"]), limit=LIMIT)))
    if "application/json" in data:
        return json_text(data["application/json"], limit=LIMIT)
    kinds = ", ".join(map(str, data)) or "nothing"
    return visible(f"[{kinds}]")


def _image(kind: str) -> Callable[[Any], Html]:
    def show(content: Any) -> Html:
        if not isinstance(content, str | bytes) or len(content) > 2 * LARGEST:
            return Html("")
        packed = content if isinstance(content, str) else b64encode(content).decode()
        image = read_image(f"data:{kind};base64,{''.join(packed.split())}")
        return Html("") if image.problem else image.html

    return show


def _svg(content: Any) -> Html:
    if len(text := str(content)) > LARGEST:
        return Html("")
    packed = b64encode(text.encode("utf-8", "replace")).decode()
    image = read_image(f"data:image/svg+xml;base64,{packed}")
    return Html("") if image.problem else image.html


def _formatted(content: Any) -> Html:
    return inert_html(str(content), limit=LIMIT)


_RENDERERS: dict[str, Callable[[Any], Html]] = {
    **{kind: _image(kind) for kind in _IMAGES},
    "image/svg+xml": _svg,
    "text/html": _formatted,
    "text/markdown": lambda content: markdown_html(str(content)),
    "application/json": lambda content: json_html(content, limit=LIMIT),
    "text/latex": lambda content: to_html(str(content), limit=LIMIT),
}
