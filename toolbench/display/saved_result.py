"""A result as files: what a person gets who saves one of its cards, which show only a part of it."""

import csv
import json
from collections.abc import Sequence
from functools import partial
from io import StringIO
from typing import Any, NamedTuple

from rich.text import Text

from toolbench.core.coercion import content_of_drawn, is_drawn
from toolbench.core.content import ImageContent, TextContent
from toolbench.core.schema import Observation
from toolbench.display.images import Image, read_image
from toolbench.display.observations import (
    person_content,
    read_by_model,
    unread_data,
    visualized,
    without_secrets,
)
from toolbench.display.render import to_text
from toolbench.display.tables import as_frame, index_name
from toolbench.errors import ToolbenchError
from toolbench.redaction.redactor import Redactor
from toolbench.values import is_readable, plain, str_of, whole_characters

MOST = 100_000_000
"""The most bytes of a result to save from a page."""

# Columns of a table or a panel, as in a page, and of a text, so that its lines stay as they are
_WIDTH, _UNBROKEN = 100, 1_000_000_000


class SavedFile(NamedTuple):
    """A file: its name, its media type and its content."""

    name: str
    type: str
    content: bytes


def saved_files(
    observation: Observation, redactor: Redactor, *, for_model: bool = False, most: int = MOST
) -> list[SavedFile]:
    """Return the whole result as files: a table as CSV, bytes and JSON as they are, text, each image.

    A table has its own columns and its index, in its own order.

    Args:
        observation: The result.
        redactor: Hides its secrets.
        for_model: What the model reads, not what a person sees.
        most: The number of bytes that are not too many.

    Raises:
        ToolbenchError: If the result is larger.
    """
    shown = without_secrets(observation, redactor)
    if for_model:
        files = _files_of(read_by_model(shown), redactor, most)
    elif type(shown).visualize is not Observation.visualize:
        view = visualized(shown)
        width = _WIDTH
        if isinstance(view, str | Text):
            width = _UNBROKEN
        images = [block for block in person_content(shown) if isinstance(block, ImageContent)]
        files = _files_of([to_text(view, width=width, limit=most), *images], redactor, most)
    else:
        # Its secrets are searched below: the table that is shown has only the first columns
        result = None
        if not shown.is_error:
            result = getattr(observation, "result", None)
        files = _files_of(person_content(shown), redactor, most)
        # Bytes may be an image
        if not any(file.type.startswith("image/") for file in files):
            files = _returned(result, redactor, most) or files
    data = unread_data(shown)
    if data is not None and not for_model:
        text = json.dumps(plain(data), ensure_ascii=False, indent=2)
        files.append(SavedFile("structured.json", _JSON, _written(text, redactor)))
    if sum(len(file.content) for file in files) > most:
        raise _too_large(most)
    return files


_JSON = "application/json"


def _returned(result: Any, redactor: Redactor, most: int) -> list[SavedFile]:
    """Return *result*, which a tool returned, as a file if its text is not all of it; else nothing.

    These are bytes, tables and arrays, and lists and dicts of them: their text leaves out rows. So is
    long HTML that a notebook draws; it is saved as text, which runs no script.
    """
    if isinstance(result, bytes | bytearray):
        return [SavedFile("result.bin", "application/octet-stream", redactor.data(bytes(result)))]
    if rows := _csv_of(result, most):
        return [SavedFile("result.csv", "text/csv", _written(rows, redactor))]
    if is_drawn(result):
        return _files_of(content_of_drawn(result, is_whole=True), redactor, most)
    # Else it would be used up
    if not is_readable(result):
        return []
    whole = plain(result, form_of=partial(_whole, most=most))
    if whole == plain(result):
        return []
    text = json.dumps(whole, ensure_ascii=False, indent=2)
    return [SavedFile("result.json", _JSON, _written(text, redactor))]


def _whole(value: Any, most: int) -> Any:
    """Return all of *value*, which has no JSON form: an array as lists, a table as CSV, else its text."""
    if rows := _csv_of(value, most):
        return rows
    items = value.tolist() if callable(getattr(value, "tolist", None)) else None
    if isinstance(items, list):
        return items
    return str_of(value)


def _files_of(blocks: Sequence[Any], redactor: Redactor, most: int) -> list[SavedFile]:
    """Return the texts of *blocks* as one file, and each image as a file."""
    texts: list[str] = []
    images: list[Image] = []
    for block in blocks:
        if isinstance(block, TextContent):
            texts.append(block.text)
            continue
        if not isinstance(block, ImageContent):
            # Any object of the tool
            texts.append(str_of(block))
            continue
        for url in block.image_urls:
            image = read_image(url, most=most)
            if image.problem:
                texts.append(image.text)
            else:
                images.append(image)
    files = []
    if texts or not images:
        text = "\n".join(texts)
        name, kind = "result.txt", "text/plain"
        if _is_json(text):
            name, kind = "result.json", _JSON
        files.append(SavedFile(name, kind, _written(text, redactor)))
    for number, image in enumerate(images, 1):
        ending = image.kind.removeprefix("image/").partition("+")[0]
        name = f"result.{ending}"
        if len(images) > 1:
            name = f"result-{number}.{ending}"
        files.append(SavedFile(name, image.kind, image.data))
    return files


def _is_json(text: str) -> bool:
    """Tell whether *text* is an object or a list in JSON."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _csv_of(result: Any, most: int) -> str:
    """Return *result* as CSV, with its index; empty if it is not a table of pandas, or like one.

    Raises:
        ToolbenchError: If it has more than *most* characters.
    """
    rows = _Rows(most)
    if callable(getattr(result, "to_csv", None)):
        result.to_csv(rows)
    elif (frame := as_frame(result)) is not None:
        writer = csv.writer(rows, lineterminator="\n")
        writer.writerow([index_name(frame), *frame.columns])
        writer.writerows(frame.itertuples(index=True, name=None))
    return rows.getvalue()


class _Rows(StringIO):
    """A text that takes *most* characters: a table of many millions of rows is not written first."""

    def __init__(self, most: int) -> None:
        super().__init__(newline="")
        self._most = most

    def write(self, text: str, /) -> int:
        if self.tell() + len(text) > self._most:
            raise _too_large(self._most)
        return super().write(text)


def _too_large(most: int) -> ToolbenchError:
    msg = f"The result has more than {most:,} bytes, too many for a page: save it in Python."
    return ToolbenchError(msg)


def _written(text: str, redactor: Redactor) -> bytes:
    """Return the UTF-8 of *text*, without secrets."""
    encoded: bytes = whole_characters(redactor.text(text)).encode()
    return encoded
