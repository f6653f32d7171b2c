"""A whole result as files, which the user saves from a card that shows only a part of it."""

import csv
import json
from collections.abc import Sequence
from functools import partial
from io import BytesIO, StringIO
from typing import Any, NamedTuple

from rich.text import Text

from toolbench.core.coercion import content_of_drawn, data_frame_class, is_drawn
from toolbench.core.content import ImageContent, TextContent
from toolbench.core.schema import Observation
from toolbench.display.caps import shorten
from toolbench.display.images import Image, read_image
from toolbench.display.object_table import ObjectTable
from toolbench.display.observations import (
    person_content,
    read_by_model,
    unread_data,
    visualized,
    whole_table,
    without_secrets,
)
from toolbench.display.render import to_text
from toolbench.display.tables import Frame, as_frame, index_name
from toolbench.errors import ToolbenchError
from toolbench.install_commands import how_to_install
from toolbench.redaction.redactor import Redactor
from toolbench.values import is_readable, plain, sentence, str_of, whole_characters

MOST = 100_000_000
"""The maximum number of bytes of a result that a page can save."""

# Columns of a table or panel, as in a page, and of plain text, so that its lines stay unchanged
_WIDTH, _UNBROKEN = 100, 1_000_000_000
# Characters of the reason why a table cannot be written
_WHY = 200


class SavedFile(NamedTuple):
    """A file: its name, its media type and its content."""

    name: str
    type: str
    content: bytes


def saved_files(
    observation: Observation,
    redactor: Redactor,
    *,
    for_model: bool = False,
    most: int = MOST,
    form: str = "",
) -> list[SavedFile]:
    """Return the whole result as files: one with its data or text, and one for each image.

    A table is saved as CSV, with all its columns and its index, and with its rows in their order.
    Other data is saved as bytes, JSON or text.

    Args:
        observation: The result.
        redactor: Hides the secrets of the result.
        for_model: Whether to save what the model reads instead of what the user sees.
        most: The maximum number of bytes of all files together.
        form: The format in which to save a table or a list of objects: `csv`, `json` or `parquet`.
            If left out, the format depends on the result.

    Raises:
        ToolbenchError: If the result is larger than *most*, or cannot be saved in this format.
    """
    if form:
        table = whole_table(observation, redactor)
        if table is not None:
            return [_table_file(table, form, redactor, most)]
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
        files = _data_files(observation, shown, redactor, most)
    data = unread_data(shown)
    if data is not None and not for_model:
        text = json.dumps(plain(data), ensure_ascii=False, indent=2)
        files.append(SavedFile("structured.json", _JSON, _written(text, redactor)))
    if sum(len(file.content) for file in files) > most:
        raise _too_large(most)
    return files


_JSON = "application/json"


def _data_files(
    observation: Observation, shown: Observation, redactor: Redactor, most: int
) -> list[SavedFile]:
    """Return the files for a result without its own view. *shown* is the result without secrets."""
    files = _files_of(person_content(shown), redactor, most)
    # Bytes that a tool returned may be an image
    if shown.is_error or any(file.type.startswith("image/") for file in files):
        return files
    # Secrets are searched for below, because the displayed table has only the first columns
    return _returned(getattr(observation, "result", None), redactor, most) or files


def _table_file(table: Frame, form: str, redactor: Redactor, most: int) -> SavedFile:
    """Return *table* as one file. In JSON, its rows are objects."""
    if form == "csv":
        return SavedFile("result.csv", "text/csv", _written(_csv_of(table, most), redactor))
    if form == "json":
        try:
            text = _json_of(table)
        except (ValueError, TypeError) as error:
            # Two columns with the same name, or a column of bytes
            raise _unwritten(error, "JSON: save it as CSV", redactor) from error
        content = _written(text, redactor)
        if len(content) > most:
            raise _too_large(most)
        return SavedFile("result.json", _JSON, content)
    if redactor and redactor.occurs_in(_csv_of(table, most)):
        msg = "This result has a secret, which is not hidden in Parquet: save it as CSV or JSON."
        raise ToolbenchError(msg)
    frame: Any = table
    if isinstance(table, ObjectTable):
        frame = data_frame_class()(table.objects)
    if not callable(getattr(frame, "to_parquet", None)):
        msg = f"A {type(frame).__name__} cannot be written as Parquet: save it as CSV or JSON."
        raise ToolbenchError(msg)
    buffer = BytesIO()
    try:
        frame.to_parquet(buffer)
    except ImportError as error:
        msg = f"Parquet needs pyarrow, which is not installed: {how_to_install('pyarrow')}."
        raise ToolbenchError(msg) from error
    except (ValueError, TypeError) as error:
        # A column with values of several types
        raise _unwritten(error, "Parquet: save it as CSV or JSON", redactor) from error
    return SavedFile("result.parquet", "application/vnd.apache.parquet", buffer.getvalue())


def _unwritten(error: Exception, form: str, redactor: Redactor) -> ToolbenchError:
    # The message may name a column
    why = shorten(redactor.text(sentence(error)), _WHY)
    return ToolbenchError(f"This table cannot be written as {form}. {why}")


def _json_of(table: Any) -> str:
    """Return the rows of *table* as JSON objects, including the row labels if these have a name."""
    if isinstance(table, ObjectTable):
        return json.dumps(table.objects, ensure_ascii=False, indent=2)
    if callable(getattr(table, "to_json", None)):
        if index_name(table):
            table = table.reset_index()
        text: str = table.to_json(
            orient="records", date_format="iso", double_precision=15, force_ascii=False, indent=2
        )
        return text
    names = [str_of(name) for name in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.itertuples(index=False, name=None)]
    return json.dumps(plain(rows), ensure_ascii=False, indent=2)


def _returned(result: Any, redactor: Redactor, most: int) -> list[SavedFile]:
    """Return a file with the object *result* if its text on the page is incomplete; else nothing.

    The text of bytes, tables and arrays, and of lists and dicts of them, leaves out rows. Objects
    with HTML of their own may also be shown only in part. Their HTML is saved without scripts.
    """
    if isinstance(result, bytes | bytearray):
        return [SavedFile("result.bin", "application/octet-stream", redactor.data(bytes(result)))]
    if rows := _csv_of(result, most):
        return [SavedFile("result.csv", "text/csv", _written(rows, redactor))]
    if is_drawn(result):
        return _files_of(content_of_drawn(result, is_whole=True), redactor, most)
    # Otherwise an iterator would be used up
    if not is_readable(result):
        return []
    whole = plain(result, form_of=partial(_whole, most=most))
    if whole == plain(result):
        return []
    text = json.dumps(whole, ensure_ascii=False, indent=2)
    return [SavedFile("result.json", _JSON, _written(text, redactor))]


def _whole(value: Any, most: int) -> Any:
    """Return a value that has no JSON form as JSON data.

    An array becomes lists, a table becomes a string of CSV, and anything else becomes its text.
    """
    if rows := _csv_of(value, most):
        return rows
    items = value.tolist() if callable(getattr(value, "tolist", None)) else None
    if isinstance(items, list):
        return items
    return str_of(value)


def _files_of(blocks: Sequence[Any], redactor: Redactor, most: int) -> list[SavedFile]:
    """Return the texts of *blocks* as one file, and each image as one file."""
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
    """Return *result* as CSV with its index; empty if it is not a table like those of pandas.

    Raises:
        ToolbenchError: If the CSV has more than *most* characters.
    """
    rows = _Rows(most)
    if isinstance(result, ObjectTable):
        writer = csv.writer(rows, lineterminator="\n")
        writer.writerow(result.columns)
        for item in result.objects:
            writer.writerow([_csv_cell(item.get(column)) for column in result.columns])
    elif callable(getattr(result, "to_csv", None)):
        result.to_csv(rows)
    elif (frame := as_frame(result)) is not None:
        writer = csv.writer(rows, lineterminator="\n")
        writer.writerow([index_name(frame), *frame.columns])
        writer.writerows(frame.itertuples(index=True, name=None))
    return rows.getvalue()


def _csv_cell(value: Any) -> Any:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return value


class _Rows(StringIO):
    """A text buffer for at most *most* characters, so that writing a huge table stops early."""

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
    """Return *text* without secrets, encoded as UTF-8."""
    encoded: bytes = whole_characters(redactor.text(text)).encode()
    return encoded
