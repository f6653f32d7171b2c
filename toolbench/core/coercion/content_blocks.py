"""Turn any Python value into content for a model: text, images, a table as CSV, or JSON."""

import re
from base64 import b64encode
from collections.abc import Callable
from io import BytesIO
from typing import Any

from pydantic_core import to_json

from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.plain import text_of, without_long_fractions


def contents_of(value: Any) -> list[Content]:
    """Return *value* as content for a model.

    A list with content or images becomes the content of its items; any other list is data.
    """
    if type(value) in _DATA:  # as most results are
        return [TextContent(text=_json(value))]
    make = _maker_of(value)
    return [TextContent(text=_json(value))] if make is None else make(value)


def _maker_of(value: Any) -> Callable[[Any], list[Content]] | None:
    try:
        return next((make for fits, make in _MAKERS if fits(value)), None)
    except Exception:  # noqa: BLE001 - the object's own code failed: it is data
        return None


_NUMBERS = frozenset({bool, int, float})
_DATA = _NUMBERS | {dict}


def _json(value: Any) -> str:
    try:
        if type(value) not in _NUMBERS:
            value = without_long_fractions(value)
        return to_json(value, indent=2, fallback=str).decode()
    except Exception:  # noqa: BLE001 - a loop, bytes that are not text, a user's code
        return text_of(value)


# --- images ---------------------------------------------------------------------------

_MAGIC = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "png"),
    (re.compile(rb"\xff\xd8\xff"), "jpeg"),
    (re.compile(rb"GIF8[79]a"), "gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "webp"),
    (re.compile(rb"BM.{4}\0{4}", re.DOTALL), "bmp"),
)


def _image_kind(data: Any) -> str | None:
    """Return the kind of image that *data* is; None if it is no image."""
    if not _is_binary(data):
        return None
    return next((kind for magic, kind in _MAGIC if magic.match(data)), None)


def _from_bytes(data: Any) -> list[Content]:
    kind = _image_kind(data)
    if kind is None:
        return [TextContent(text=f"{len(data):,} bytes of binary data")]
    url = f"data:image/{kind};base64,{b64encode(data).decode()}"
    return [ImageContent(image_urls=[url])]


_PNG_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "I;16"})


def _from_pil(image: Any) -> list[Content]:
    buffer = BytesIO()
    try:
        if image.mode not in _PNG_MODES:  # a photo in CMYK, a map of floats
            image = image.convert("RGBA" if image.mode.endswith(("A", "a")) else "RGB")
        image.save(buffer, format="PNG")
    except (OSError, ValueError) as error:  # mostly because it is empty
        return [TextContent(text=f"An image that cannot be shown: {error}.")]
    return _from_bytes(buffer.getvalue())


def _from_figure(figure: Any) -> list[Content]:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    return _from_bytes(buffer.getvalue())


# --- tables ---------------------------------------------------------------------------

_ROWS = 500  # of a table; for the other rows a model narrows its request


def _from_table(table: Any) -> list[Content]:
    first_rows = table.head(_ROWS)
    counted = type(table.index).__name__ == "RangeIndex"  # an index of mere row numbers
    text = first_rows.to_csv(index=not counted).strip() or str(table)
    if rest := len(table) - len(first_rows):
        text += f"\n… {rest:,} more rows of {len(table):,}"
    return [TextContent(text=text)]


# --- kinds of values ------------------------------------------------------------------


def _comes_from(module: str, name: str) -> Callable[[Any], bool]:
    """Return a predicate for objects of a library's class, without an import of the library."""
    return lambda value: any(
        c.__name__ == name and c.__module__.partition(".")[0] == module
        for c in type(value).__mro__
    )


_is_pil = _comes_from("PIL", "Image")
_is_figure = _comes_from("matplotlib", "Figure")
_is_frame, _is_series = (
    _comes_from("pandas", "DataFrame"),
    _comes_from("pandas", "Series"),
)


def _is_binary(value: Any) -> bool:
    return isinstance(value, bytes | bytearray | memoryview)


def _is_content(value: Any) -> bool:
    return isinstance(value, TextContent | ImageContent)


def _is_list_of_contents(value: Any) -> bool:
    is_kind = _is_content, _image_kind, _is_pil, _is_figure
    return isinstance(value, list | tuple) and any(
        is_shown(item) for item in value for is_shown in is_kind
    )


_MAKERS: list[tuple[Callable[[Any], bool], Callable[[Any], list[Content]]]] = [
    (lambda v: v is None, lambda v: [TextContent(text="Done. Nothing was returned.")]),
    (lambda v: isinstance(v, str), lambda v: [TextContent(text=v)]),
    (_is_binary, _from_bytes),
    (_is_content, lambda v: [v]),
    (_is_list_of_contents, lambda v: [c for item in v for c in contents_of(item)]),
    (_is_pil, _from_pil),
    (_is_figure, _from_figure),
    (lambda v: _is_frame(v) or _is_series(v), _from_table),
]
