"""The display of content blocks: formatted for people, or exactly as a model reads them.

This module also displays mime bundles. It does not trust the content of blocks and bundles.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from toolbench.core.content import ImageContent, TextContent
from toolbench.display.ansi import from_ansi
from toolbench.display.caps import left_out
from toolbench.display.escape import Html, visible
from toolbench.display.images import LARGEST, LARGEST_PREVIEWED, read_image
from toolbench.display.inert_html import inert_html
from toolbench.display.json_tree import json_html, json_text, parse_json
from toolbench.display.markdown import markdown_html
from toolbench.display.page import Tone, section
from toolbench.display.render import LIMIT, to_html, to_text
from toolbench.display.tables import as_frame, shape_text, table_html, table_text
from toolbench.wording import counted, estimate_tokens

# The most blocks, and images in a block
_MOST = 50
# The number of characters that every block may show
_LEAST = 2_000


def blocks_html(blocks: Sequence[Any], *, verbatim: bool = False, limit: int = LIMIT) -> Html:
    """Return *blocks* as HTML, each in a section with a title that names its kind and size.

    Text is shown for people: with terminal colours, as a JSON tree or as a table. If *verbatim* is
    true, text is shown as the model reads it, and hidden characters are shown as visible codes.

    Args:
        blocks: `TextContent`, `ImageContent`, `str`, JSON values or DataFrames. Any other block is
            shown as `str(block)`.
        verbatim: Whether to show text as the model reads it.
        limit: The approximate number of characters to show in total. Each block gets an equal
            share, but at least 2,000 characters. Text that exceeds its share keeps only its
            beginning and its end.
    """
    html = ""
    for view in block_views(blocks, verbatim=verbatim, limit=limit):
        html += section(view.title, view.html())
    return Html(html)


def blocks_text(blocks: Sequence[Any], *, verbatim: bool = False, limit: int = LIMIT) -> str:
    """Return *blocks* as text with lines of 100 columns. See `blocks_html` for the arguments."""
    views = block_views(blocks, verbatim=verbatim, limit=limit)
    return "\n\n".join(f"── {view.title}\n{view.text()}".rstrip() for view in views)


@dataclass(frozen=True)
class BlockView:
    """The view of one block: a title with its kind and size, and functions that render it."""

    title: str
    html: Callable[[], Html]
    text: Callable[[], str]


_Reader = Callable[[Any, int], BlockView | None]


def block_views(
    blocks: Sequence[Any], *, verbatim: bool = False, limit: int = LIMIT
) -> Iterator[BlockView]:
    """Yield a view of each block. The arguments are those of `blocks_html`."""
    readers = _READERS
    if verbatim:
        readers = _VERBATIM
    share = max(_LEAST, limit // max(1, len(blocks)))
    for block in blocks[:_MOST]:
        yield next(view for read in readers if (view := read(block, share)))
    if not blocks:
        yield BlockView("no content", lambda: Html(""), lambda: "")
    elif len(blocks) > _MOST:
        notice = left_out(len(blocks) - _MOST, "block")
        yield BlockView(notice, lambda: _PART, lambda: "")


# A mark for the page, which then says that it can save only a part
_PART = Html("<span data-toolbench-part></span>")


# --- the table of kinds -------------------------------------------------------------


def _images(block: Any, _: int) -> BlockView | None:
    if not isinstance(block, ImageContent):
        return None
    images = [read_image(url, most=LARGEST_PREVIEWED) for url in block.image_urls[:_MOST]]
    labels = [image.label for image in images]
    part = ""
    if len(block.image_urls) > _MOST:
        labels.append(left_out(len(block.image_urls) - _MOST, "image"))
        part = _PART
    return BlockView(
        " · ".join(labels),
        lambda: Html("".join(image.html for image in images) + part),
        lambda: "\n".join(image.text for image in images),
    )


def _json(block: Any, limit: int) -> BlockView | None:
    text = _text_of(block)
    title, value = "JSON", block
    if text is not None:
        title, value = _title("JSON", text), parse_json(text)
    if not isinstance(value, Mapping | list | tuple):
        return None
    return BlockView(
        title,
        partial(json_html, value, limit=limit),
        partial(json_text, value, limit=limit),
    )


def _terminal(block: Any, limit: int) -> BlockView | None:
    text = _text_of(block)
    if text is None:
        return None
    rich = partial(from_ansi, text, limit=limit)
    return BlockView(
        _title("text", text),
        lambda: to_html(rich(), limit=limit),
        lambda: to_text(rich(), limit=limit),
    )


def _plain(block: Any, limit: int) -> BlockView | None:
    text = _text_of(block)
    if text is None:
        return None
    return BlockView(
        _title("text", text),
        partial(to_html, text, limit=limit),
        partial(to_text, text, limit=limit),
    )


def _table(block: Any, _: int) -> BlockView | None:
    table = as_frame(block)
    if table is None:
        return None
    return BlockView(
        f"table · {shape_text(table)}",
        partial(table_html, table),
        partial(table_text, table),
    )


def _anything(block: Any, limit: int) -> BlockView | None:
    return _plain(str(block), limit)


_READERS: tuple[_Reader, ...] = (_images, _json, _terminal, _table, _anything)
_VERBATIM: tuple[_Reader, ...] = (_images, _plain, _json, _table, _anything)


def _text_of(block: Any) -> str | None:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, str):
        return block
    return None


def _title(kind: str, text: str) -> str:
    return f"{kind} · {counted(len(text), 'character')} · {token_words(estimate_tokens(text))}"


MANY_TOKENS, TOO_MANY_TOKENS = 2_000, 20_000
"""The numbers of tokens from which a result counts as large, and as too large, for a model."""
_READ = 128_000


def token_words(tokens: int) -> str:
    """Return the size of a result in words, with a warning if it is large: `≈ 8 tokens`."""
    words = f"≈ {counted(tokens, 'token')}"
    if tokens > _READ:
        return f"{words}: more than a model with 128k reads"
    if tokens > TOO_MANY_TOKENS:
        return f"{words}: very many for a model"
    if tokens > MANY_TOKENS:
        return f"{words}: many for a model"
    return words


def token_tone(tokens: int) -> Tone:
    """Return the colour for a result of *tokens*: grey, or amber for many, or red for too many."""
    if tokens > TOO_MANY_TOKENS:
        return "danger"
    if tokens > MANY_TOKENS:
        return "warning"
    return "neutral"


# --- mime bundles that were displayed during a run ----------------------------------

_BUNDLE_LIMIT = 50_000
"""The number of characters of text to show of one bundle."""

_RICHEST_FIRST = (
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/svg+xml",
    "text/html",
    "text/markdown",
    "application/json",
    "text/latex",
)
_WIDGET = "application/vnd.jupyter.widget-view+json"


def bundle_html(data: Mapping[str, Any]) -> Html:
    """Return the richest part of *data* that is safe to show, as HTML.

    The result is empty if *data* has only plain text.
    """
    for kind in _RICHEST_FIRST:
        if kind in data:
            html = _part_html(kind, data[kind])
            if html:
                return html
    return Html("")


def bundle_text(data: Mapping[str, Any]) -> str:
    """Return *data* as text, for a terminal or a log."""
    if _WIDGET in data:
        return "[a widget, which a run cannot show]"
    if "text/plain" in data:
        return visible(to_text(from_ansi(str(data["text/plain"]), limit=_BUNDLE_LIMIT)))
    if "application/json" in data:
        return json_text(data["application/json"], limit=_BUNDLE_LIMIT)
    kinds = ", ".join(map(str, data)) or "nothing"
    return visible(f"[{kinds}]")


def _part_html(kind: str, content: Any) -> Html:
    if kind == "text/html":
        return inert_html(str(content), limit=_BUNDLE_LIMIT)
    if kind == "text/markdown":
        return markdown_html(str(content))
    if kind == "application/json":
        return json_html(content, limit=_BUNDLE_LIMIT)
    if kind == "text/latex":
        return to_html(str(content), limit=_BUNDLE_LIMIT)
    return _image_html(kind, content)


def _image_html(kind: str, content: Any) -> Html:
    """Return the image in *content*, which is bytes, base64, or the source of an SVG.

    The result is empty if *content* is not an image, or is too large.
    """
    if not isinstance(content, str | bytes) or len(content) > 2 * LARGEST:
        return Html("")
    if kind == "image/svg+xml" and isinstance(content, str):
        content = content.encode("utf-8", "replace")
    if isinstance(content, bytes):
        content = b64encode(content).decode()
    image = read_image(f"data:{kind};base64,{''.join(content.split())}")
    if image.problem:
        return Html("")
    return image.html
