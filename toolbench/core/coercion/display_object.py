"""Read objects that a notebook draws, by their methods such as `_repr_html_`, without IPython."""

import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

from pydantic import BaseModel

from toolbench.core.content import Content, TextContent, describe
from toolbench.values import base64_of, json_text, text_of

_METHODS = {
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_svg_": "image/svg+xml",
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
}
_BUNDLE = "_repr_mimebundle_"
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
# Best first
_TEXTS = ("text/markdown", "text/plain")
# Where these say nothing
_SOURCES = ("text/latex", "application/json", "text/html", "image/svg+xml")
# The text of an object that has no words of its own
_NO_WORDS = re.compile(r"<[\w.<>]+ object( at 0x[0-9a-fA-F]+)?>")
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
# An image or a sound inside of HTML
_LONG_DATA = re.compile(r"data:[^\s\"'<>()]{100,}")
# Characters of HTML or SVG that a model gets
_LONGEST = 20_000
_PLAIN = frozenset({str, int, float, bool, type(None), dict, list, tuple, bytes})
_DATA_KINDS = (Mapping, BaseModel, list, tuple, set, frozenset)


def is_drawn(value: Any) -> bool:
    """Tell whether a notebook draws *value*, which is an object for that purpose and not data."""
    kind = type(value)
    if isinstance(value, _DATA_KINDS) or is_dataclass(kind):
        return False
    return any(callable(getattr(kind, name, None)) for name in (_BUNDLE, *_METHODS))


def display_bundle(value: Any) -> dict[str, Any]:
    """Return the mime bundle that *value* has of itself; empty if it has none.

    A method that fails is left out, as in a notebook. Its HTML is the object's own: it is not safe.
    """
    # As most results are
    if type(value) in _PLAIN:
        return {}
    bundle: dict[str, Any] = {}
    for name, mime_type in _METHODS.items():
        bundle[mime_type] = _called(value, name)
    whole = _called(value, _BUNDLE, include=None, exclude=None)
    if isinstance(whole, Mapping):
        bundle.update(whole)
    return {str(kind): data for kind, data in bundle.items() if data is not None}


def _called(value: Any, name: str, **options: Any) -> Any:
    try:
        method = getattr(type(value), name, None)
        shown = method(value, **options) if callable(method) else None
    except Exception:  # noqa: BLE001 - the object's own code
        return None
    # With metadata, such as a width
    return shown[0] if isinstance(shown, tuple) and shown else shown


def content_of_drawn(value: Any, *, is_whole: bool = False) -> list[Content]:
    """Return what a model reads of *value*, for which `is_drawn` is true: an image, or a text.

    The text is its markdown, or its `repr`, or if that says nothing LaTeX, JSON, HTML or SVG. Of long
    HTML a model gets the beginning, unless *is_whole*.
    """
    bundle = display_bundle(value)
    for mime_type in _IMAGES:
        data = bundle.get(mime_type)
        if data and isinstance(data, str | bytes):
            packed = data if isinstance(data, str) else base64_of(data)
            block = {"type": "image", "mimeType": mime_type, "data": "".join(packed.split())}
            # No model takes data that are no image, or labelled as another kind
            return describe(block, [])
    texts = [bundle[kind] for kind in _TEXTS if isinstance(bundle.get(kind), str)]
    text = next(filter(None, texts), "") or text_of(value)
    sources = [bundle[kind] for kind in _SOURCES if kind in bundle]
    if sources and _NO_WORDS.fullmatch(text):
        text = _source(sources[0], is_whole=is_whole)
    return [TextContent(text=_COLORS.sub("", text).strip("\n"))]


def _source(source: Any, *, is_whole: bool) -> str:
    if not isinstance(source, str):
        return json_text(source, indent=2)
    if is_whole:
        return source
    text = _LONG_DATA.sub("data:…", source).strip()
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}\n… {len(text) - _LONGEST:,} more characters"
