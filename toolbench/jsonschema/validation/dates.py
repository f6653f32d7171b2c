"""Find texts that are certainly no dates, though their schema says `format: date`."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from toolbench.errors import Path, Problem
from toolbench.jsonschema.normal import Node
from toolbench.jsonschema.validation.formats import DEEPEST, format_of, named_texts
from toolbench.jsonschema.validation.problems import NO_DATE
from toolbench.jsonschema.walk import every
from toolbench.values import clip

_NUMBERS = re.compile(r"\s*\d{1,4}\s*([./-])\s*\d{1,2}\s*\1\s*\d{1,4}\s*")


def has_dates(schema: Any) -> bool:
    """Tell whether a part of *schema* has the format `date`."""
    return any(part.get("format") == "date" for _, part in every(schema))


def date_problems(node: Node, value: Any, path: Path = ()) -> Iterator[Problem]:
    """Yield a problem for each text in *value* that is written as a date, but not as JSON Schema writes it.

    `1.12.2026` and `2026-02-30` are such texts. `format` is only an annotation, and a server may know
    other texts, such as `today` or `2026-12`: they are no problem. Nor is any text if the schema asks for
    another notation: by a pattern, or by a value, a default or an example.

    Args:
        node: The node for *value*.
        value: A JSON value.
        path: The path of *value* itself.
    """
    if isinstance(value, str):
        if _is_other_notation(value) and _is_iso_date(node):
            yield Problem(path, f"{NO_DATE}, not {clip(value)}")
    elif len(path) < DEEPEST and isinstance(value, Mapping | list):
        steps = value.items() if isinstance(value, Mapping) else enumerate(value)
        for step, item in steps:
            yield from date_problems(node.at(step), item, (*path, step))


def _is_other_notation(text: str) -> bool:
    if not _NUMBERS.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return True
    return False


def _is_iso_date(node: Node) -> bool:
    """Tell whether each text that fits *node* is a date in ISO notation.

    A pattern, or a value in another notation that the schema itself names, asks for another notation.
    """
    return format_of(node) == "date" and not any(map(_is_other_notation, named_texts(node)))
