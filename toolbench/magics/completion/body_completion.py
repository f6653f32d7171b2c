"""Complete the arguments of a call that are written as JSON or YAML."""

from collections.abc import Callable
from json import dumps
from typing import Any

from IPython.core.completer import SimpleCompletion, SimpleMatcherResult

from toolbench.errors import BodyError
from toolbench.jsonschema.node import read
from toolbench.magics.completion.cursor import Place, place_in_json, place_in_yaml


def offer_in_json(schema: Any, text: str, rest: str) -> SimpleMatcherResult | None:
    """Offer the continuations of *text*, the beginning of a JSON object.

    Args:
        schema: The schema of the arguments.
        text: The text before the cursor.
        rest: The text after the cursor.

    Returns:
        The completions; None if nothing can be inserted here.
    """
    place = place_in_json(text)
    return _offer(place, schema, rest, _json) if place else None


def offer_in_yaml(schema: Any, text: str, rest: str) -> SimpleMatcherResult | None:
    """Offer the continuations of *text*, the beginning of a YAML block; see `offer_in_json`."""
    place = place_in_yaml(text)
    return _offer(place, schema, rest, _yaml) if place else None


def _offer(
    place: Place, schema: Any, rest: str, write: Callable[[Any, str], str]
) -> SimpleMatcherResult:
    here = read(schema).at(*place.path)
    quote = place.typed[:1] if place.typed[:1] in ('"', "'") else ""
    # The editor closed it
    is_closed = bool(quote) and rest.startswith(quote)
    if place.kind == "name":
        words = [name for name in here.names if name not in place.present]
        kind, end = "param", "" if is_closed else ": "
    else:
        words, kind, end = here.choices, "value", ""
    offers = []
    for word in words:
        text = write(word, quote)
        if text.startswith(place.typed) or text.lstrip("\"'").startswith(place.typed):
            text = text.removesuffix(quote) if is_closed else text
            offers.append(text + end)
    return offered(offers, place.typed, kind)


def offered(texts: list[str], typed: str, kind: str) -> SimpleMatcherResult:
    """Return *texts* as IPython's completions of type *kind*, which replace *typed*."""
    return {
        "completions": [SimpleCompletion(text=text, type=kind) for text in texts],
        "suppress": bool(texts),
        "matched_fragment": typed,
    }


def _json(word: Any, quote: str) -> str:
    return dumps(word, ensure_ascii=False)


def _yaml(word: Any, quote: str) -> str:
    if not isinstance(word, str) or quote == '"':
        return dumps(word, ensure_ascii=False)
    if quote:
        return "'" + word.replace("'", "''") + "'"
    return word if _reads_as_itself(word) else dumps(word, ensure_ascii=False)


def _reads_as_itself(word: str) -> bool:
    from toolbench.magics.arguments.yaml_body import (  # noqa: PLC0415 - heavy: PyYAML
        read_yaml,
    )

    try:
        return bool(read_yaml(f"- {word}", {}) == [word])
    except BodyError:
        return False
