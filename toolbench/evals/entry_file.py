"""A YAML file with a list of entries, in which changes keep what users wrote by hand."""

import os
import pathlib
from collections.abc import Callable, Mapping
from itertools import takewhile
from textwrap import indent
from typing import Any, NoReturn

import yaml

from toolbench.errors import BodyError, CaseError, Path
from toolbench.files import open_unlinked, write_whole
from toolbench.jsonschema.yaml_text import on_one_line, read_yaml, write_yaml
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.files.locks import file_locks
from toolbench.values import json_text, plain, same_json


class EntryFile:
    """A file of limited size; each change locks it and reads it again, as others may write it."""

    def __init__(self, path: pathlib.Path, largest: int, entry: str) -> None:
        """Use the file *path* of at most *largest* bytes; nothing is read yet.

        *entry* is the word for an entry in messages, such as "check".
        """
        self.path = path
        self._largest = largest
        self._entry = entry

    def text(self) -> str:
        """Return the text of the file; an empty string if there is no file.

        Raises:
            CaseError: If the file cannot be read, is too large, or is not UTF-8.
        """
        data = b""
        try:
            # To open a pipe would wait for a writer
            if self.path.is_fifo():
                self.refuse("it is a pipe, not a file")
            with open(self.path, "rb", opener=open_unlinked) as file:
                data = file.read(self._largest + 1)
        except FileNotFoundError:
            return ""
        except OSError as error:
            self.refuse(error.strerror or type(error).__name__)
        if len(data) > self._largest:
            self.refuse(f"it has more than {self._largest:,} bytes")
        try:
            return data.decode()
        except UnicodeDecodeError:
            # A change would write another character in its place
            self.refuse("it is not UTF-8")

    def data(self, text: str, schema: Any = None, path: tuple[str | None, ...] = ()) -> Any:
        """Return the value of *text*, as `read_yaml` does; None if *text* is empty.

        Raises:
            CaseError: If *text* is not YAML, or contains an alias.
        """
        try:
            # A few lines of aliases could stand for more than memory holds; a scan takes long
            if "*" in text and any(isinstance(each, yaml.AliasToken) for each in yaml.scan(text)):
                self.refuse("it has an alias: write its value instead")
            return plain(read_yaml(text, schema or {}, what="it", path=path))
        except (BodyError, yaml.YAMLError) as error:
            self.refuse(" ".join(str(error).split()).rstrip("."))

    def change(self, changed: Callable[[str], str]) -> None:
        """Replace the text of the file with `changed(text)`, and lock the file while doing so.

        Raises:
            CaseError: If the file cannot be read or written, or would become too large. In this
                case, the file does not change.
        """
        try:
            # What exists can be locked
            os.close(open_unlinked(self.path, os.O_RDWR | os.O_CREAT))
            with file_locks(self.path.resolve()):
                text = changed(self.text())
                if len(text.encode()) > self._largest:
                    self.refuse(f"with this {self._entry} it has more than {self._largest:,} bytes")
                write_whole(self.path, text, is_private=False)
        except RunError as error:
            raise CaseError(str(error)) from None
        except OSError as error:
            msg = f"{self.path.name} cannot be written: {error.strerror}."
            raise CaseError(msg) from None

    def refuse(self, why: str) -> NoReturn:
        """Raise an error which says that the file cannot be used; its message ends with *why*.

        Raises:
            CaseError: Always.
        """
        msg = f"{self.path.name or self.path} cannot be used: {why}."
        raise CaseError(msg) from None


def head_of(text: str) -> str:
    """Return the comment lines at the start of *text*."""
    lines = text.splitlines(keepends=True)
    return "".join(takewhile(lambda line: line.startswith("#"), lines))


def appended(text: str, entry: Mapping[str, Any], is_meant: Callable[[str], bool]) -> str:
    """Append *entry* to the list at the end of *text*; return "" if that is not possible.

    Try different indentations of the entry, until `is_meant(new_text)` is true.
    """
    written = write_yaml([entry])
    for prefix in ("", "  "):
        longer = f"{text.rstrip()}\n{indent(written, prefix)}"
        if is_meant(longer):
            return longer
    return ""


def changed_in(text: str, path: Path, old: Any, new: Any) -> str:
    """Replace the value *old*, at *path* in the YAML *text*, with *new*.

    Return the new text; "" if there is no value at *path*. Only the parts of the value that differ
    are replaced, so all other lines keep their comments.
    """
    if same_json(old, new):
        return text
    steps: list[str | int] = []
    if isinstance(old, Mapping) and isinstance(new, Mapping) and [*old] == [*new]:
        steps = [*new]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        steps = [*range(len(new))]
    if not steps:
        return _replaced(text, path, new)
    for step in steps:
        text = changed_in(text, (*path, step), old[step], new[step])
    return text


def _replaced(text: str, path: Path, value: Any) -> str:
    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    for step in path:
        node = _part(node, step)
    if node is None:
        return ""
    start, end = node.start_mark, node.end_mark
    # A block ends where the next token begins: the comments before that are not of the block
    lines = text[start.index : end.index].splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    old = "".join(lines)
    new = _written(value, text[: start.index].rpartition("\n")[2])
    if old.endswith("\n"):
        new += "\n"
    return text[: start.index] + new + text[start.index + len(old) :]


def _written(value: Any, before: str) -> str:
    """Return *value* as YAML, to be written after *before*, the text before it on its line."""
    margin = len(before) - len(before.lstrip(" -"))
    if isinstance(value, Mapping | list) and value and margin == len(before):
        return indent(write_yaml(value), " " * margin).strip()
    if isinstance(value, str) and "\n" in value:
        if "{" in before or "[" in before:
            return json_text(value)
        return indent(write_yaml([value])[2:], " " * margin).strip()
    # In brackets: alone, it would have the end of a document
    return on_one_line([value])[1:-1]


def _part(node: Any, step: str | int) -> Any:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        return node.value[step]
    if isinstance(node, yaml.MappingNode):
        for name, part in node.value:
            if name.value == step:
                return part
    return None
