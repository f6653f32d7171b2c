"""Turn the output and the result of a cell into content for a model."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.tools.ipython.capture import Part
from toolbench.tools.terminal.buffer import HeadAndTail
from toolbench.tools.terminal.screen_text import shown

_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_RICHER = ("text/markdown", "text/latex", "text/html", "application/json")


def contents(parts: Iterable[Part]) -> list[Content]:
    """Return *parts* as content: neighbouring texts become one block, each image a block of its own."""
    blocks: list[Content] = []
    for part in parts:
        image = None if isinstance(part, HeadAndTail) else _image(part)
        if image is not None:
            blocks.append(image)
            continue
        text = _printed(part) if isinstance(part, HeadAndTail) else _text(part)
        if blocks and isinstance(last := blocks[-1], TextContent):
            blocks[-1] = TextContent(text=f"{last.text}\n{text}")
        elif text:
            blocks.append(TextContent(text=text))
    return blocks


def _printed(printed: HeadAndTail) -> str:
    return shown(printed.take(), " Print less, or write it to a file.")


def _image(bundle: Mapping[str, Any]) -> ImageContent | None:
    for kind in _IMAGES:
        if kind in bundle:
            data = bundle[kind]
            if isinstance(data, bytes):
                data = b64encode(data).decode()
            url = f"data:{kind};base64,{''.join(data.split())}"
            return ImageContent(image_urls=[url])
    return None


def _text(bundle: Mapping[str, Any]) -> str:
    """Return the best text of *bundle*, which is not a repr such as `<Markdown object>` if possible."""
    plain = str(bundle.get("text/plain", ""))
    if plain and not (plain.startswith("<") and plain.endswith(" object>")):
        return _cut(plain)
    richer = (str(bundle[kind]) for kind in _RICHER if kind in bundle)
    return _cut(next(richer, plain))


def _cut(text: str) -> str:
    printed = HeadAndTail()
    if text:
        printed.write(text.encode("utf-8", "replace"))
    return _printed(printed)
