"""Read the value of a `key=value` word, or show one for it."""

import json
import os
from pathlib import Path
from typing import Any

from toolbench.jsonschema.describe import example_values
from toolbench.jsonschema.node import Node
from toolbench.jsonschema.words import FORMAT_EXAMPLES, TEXTS
from toolbench.redaction.detect import is_secret
from toolbench.values import base64_of


def value_of(text: str, node: Node) -> Any:
    """Return the value that *text* has for *node*: *text* itself where it takes text, else JSON if it can be."""
    if node.is_text:
        return None if text == "null" and node.takes_null else text
    try:
        return json.loads(text)
    except ValueError:
        return text


def names_file(text: str, node: Node) -> bool:
    """Tell whether *text*, such as `@photo.png`, names a file whose content is the value for *node*."""
    return node.is_bytes and text.startswith("@")


def content_of(text: str) -> str:
    """Return the base64 of the file that *text* names, beside the notebook unless its path is absolute.

    Raises:
        OSError: If the file cannot be read.
    """
    return base64_of((notebook_folder() / Path(text[1:]).expanduser()).read_bytes())


def notebook_folder() -> Path:
    """Return the folder of the notebook, wherever `%cd` led since; the current one if no server says."""
    folder = Path(os.environ.get("JPY_SESSION_NAME", "")).parent
    return folder if folder.is_absolute() and folder.is_dir() else Path.cwd()


def list_of(text: str, node: Node) -> list[Any] | None:
    """Return the values in *text*, between commas, as a list for *node*; None if they do not fit it.

    *text* may have the brackets and the quotes of a list of Python.
    """
    items = node.items
    if node.type != "array" or (items is not None and items.format in FORMAT_EXAMPLES):
        # Whether a text has its format is not known
        return None
    if text[:1] == "[" and text[-1:] == "]":
        text = text[1:-1]
    # Parts of parts
    if any(character in text for character in "[]{}"):
        return None
    texts = [part.strip().strip("\"'") for part in text.split(",")]
    items = node.items
    values = [part if items is None else value_of(part, items) for part in texts if part]
    return values if values and node.fits(values) else None


def example_of(name: str, node: Node) -> Any:
    """Return a value of the argument *name*, with parts as *node* has them."""
    if not is_secret(name, node):
        return example_values(node)[0]
    return list(TEXTS) if node.type == "array" else TEXTS[0]
