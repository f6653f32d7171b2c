"""Collect the printed and displayed output of a cell, as content for a model."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, RLock
from typing import Any

from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.runs.redirect import redirect_to
from toolbench.tools.terminal.buffer import HeadAndTail
from toolbench.tools.terminal.screen_text import shown

Part = HeadAndTail | Mapping[str, Any]

# A running shell changes `builtins`, which all shells share
_one_at_a_time = RLock()


class Captured:
    """A sink that keeps the output of a cell, in order: printed texts and displayed mime bundles."""

    def __init__(self) -> None:
        """Make an empty output."""
        self.parts: list[Part] = []
        self._lock = Lock()

    def write(self, stream: str, text: str) -> None:
        """Add *text*, which was printed to *stream*; the texts of both streams are joined for the model."""
        data = text.encode("utf-8", "replace")
        with self._lock:
            if not self.parts or not isinstance(self.parts[-1], HeadAndTail):
                self.parts.append(HeadAndTail())
            last = self.parts[-1]
            if data and isinstance(last, HeadAndTail):
                last.write(data)

    def display(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Add the mime bundle *data*; an earlier bundle with the same *name* is kept too."""
        with self._lock:
            self.parts.append(data)


@contextmanager
def captured(shell: Any) -> Iterator[Captured]:
    """In the `with` block, collect what this thread and the threads that it starts print and display.

    The displays of *shell*, an IPython shell, are collected too.
    """
    result = Captured()
    with _one_at_a_time, redirect_to(result, shell):
        yield result


_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_RICHER = ("text/markdown", "text/latex", "text/html", "application/json")


def contents(parts: Iterable[Part]) -> list[Content]:
    """Return *parts* as content: adjacent texts become one block, each image a block of its own."""
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
    """Return the plain text of *bundle*, a mime bundle.

    If there is no plain text, or only a repr (`<... object>`), return another text of *bundle*,
    such as its HTML, if there is one.
    """
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
