"""Take the secrets out of a JSON value, and put them back in."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from json import dumps
from typing import Any

from toolbench.core.secrecy import HIDDEN, is_secret
from toolbench.widgets.fields.match import has_type
from toolbench.widgets.fields.view import SchemaView

Kept = dict[tuple[Any, ...], Any]
_SHORT = 4
_SHOWN = 60  # characters of a value that a sentence shows at most


def mask(view: SchemaView, value: Any, name: Any, schema: Any) -> tuple[Any, Kept]:
    """Return *value* with its secrets hidden, and the secrets by their paths.

    Secret is what *schema*, a part of *view*, calls so at any depth, and what stands under
    a name that says so. Where the schema has a secret inside but describes no such value,
    nobody can tell which part of it is the secret: all of it is hidden.
    """
    masker = _Masker(view)
    return masker.mask(value, name, [schema], ()), masker.kept


class _Masker:
    """Walks a value beside the schemas that may describe it: a union has several."""

    def __init__(self, view: SchemaView) -> None:
        self._view = view
        self.kept: Kept = {}

    def mask(
        self, value: Any, name: Any, schemas: list[Any], path: tuple[Any, ...]
    ) -> Any:
        if value in ("", [], {}) or isinstance(value, bool | None):
            return value
        known = list(self._alternatives(schemas, set()))
        if any(is_secret(str(name), schema) for schema in known or [{}]):
            return self._hide(value, path)
        apt = [
            schema
            for schema in known
            if "anyOf" not in schema and has_type(schema.get("type"), value)
        ]
        if not apt and self._have_secrets(known, set()):
            return self._hide(value, path)
        if isinstance(value, dict):
            return {
                key: self.mask(item, key, list(_of_key(apt, key)), (*path, key))
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [
                self.mask(item, "", list(_of_item(apt, i)), (*path, i))
                for i, item in enumerate(value)
            ]
        return value

    def _hide(self, value: Any, path: tuple[Any, ...]) -> str:
        self.kept[path] = value
        return HIDDEN

    def _alternatives(
        self, schemas: Iterable[Any], seen: set[int]
    ) -> Iterator[dict[str, Any]]:
        """Give *schemas* simplified, and the alternatives of those that are unions."""
        for schema in schemas:
            node = self._view.node(schema).schema
            if id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            yield from self._alternatives(_list(node, "anyOf"), seen)

    def _have_secrets(self, schemas: Iterable[Any], seen: set[int]) -> bool:
        return any(
            is_secret(name, inner) or self._have_secrets([inner], seen)
            for schema in self._alternatives(schemas, seen)
            for name, inner in _inside(schema)
        )


def _of_key(schemas: Iterable[dict[str, Any]], key: Any) -> Iterator[Any]:
    """Give the schemas for the value of *key*; of patterns all, so that none is overlooked."""
    for schema in schemas:
        declared = _dict(schema, "properties")
        if key in declared:
            yield declared[key]
        else:
            yield from _dict(schema, "patternProperties").values()
            yield schema.get("additionalProperties", True)


def _of_item(schemas: Iterable[dict[str, Any]], place: int) -> Iterator[Any]:
    """Give the schemas for an item; one too many may be any of them, misplaced."""
    for schema in schemas:
        first = _list(schema, "prefixItems")
        if place < len(first):
            yield first[place]
        elif "items" in schema:
            yield schema["items"]
        else:
            yield from first


def _inside(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give the schemas of all parts a value may have, with the names of those that have one."""
    yield from _dict(schema, "properties").items()
    parts = [*_dict(schema, "patternProperties").values()]
    parts += _list(schema, "prefixItems")
    parts += [schema.get("additionalProperties", True), schema.get("items", True)]
    yield from (("", part) for part in parts)


def _dict(schema: dict[str, Any], key: str) -> dict[str, Any]:
    found = schema.get(key)
    return found if isinstance(found, dict) else {}


def _list(schema: dict[str, Any], key: str) -> list[Any]:
    found = schema.get(key)
    return found if isinstance(found, list) else []


def texts(value: Any) -> Iterator[str]:
    """Give the texts and the numbers in *value*, as they might be found elsewhere."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(ValueError):  # an integer too long to print is found nowhere
            yield repr(value)


def conceal(sentence: str, secrets: Iterable[str]) -> str:
    """Return *sentence* without *secrets*, also where it shows only the beginning of one."""
    for secret in secrets:
        for text in (
            secret,
            *(dumps(secret, ensure_ascii=x)[1:-1] for x in (False, True)),
        ):
            if len(text) >= _SHORT:
                sentence = sentence.replace(text, HIDDEN)
            for quote in "\"'":  # a short one would be found inside of words
                sentence = sentence.replace(f"{quote}{text}{quote}", HIDDEN)
            for end in range(min(len(text), _SHOWN), _SHORT, -1):
                sentence = sentence.replace(f"{text[:end]}…", f"{HIDDEN}…")
    return sentence


def unmask(value: Any, kept: Kept, path: tuple[Any, ...] = ()) -> Any:
    """Return *value* with the secrets that were *kept* back in their places."""
    if not kept:
        return value
    if isinstance(value, str):
        return kept.get(path, value) if value == HIDDEN else value
    if isinstance(value, dict):
        return {k: unmask(item, kept, (*path, k)) for k, item in value.items()}
    if isinstance(value, list):
        return [unmask(item, kept, (*path, i)) for i, item in enumerate(value)]
    return value


def hidden_in(value: Any, masked: Any, path: tuple[Any, ...] = ()) -> Kept:
    """Return the secrets that *masked* hides of *value*, by their paths."""
    if isinstance(masked, str):
        return {path: value} if masked == HIDDEN != value else {}
    pairs: list[tuple[Any, Any, Any]] = []
    if isinstance(value, dict) and isinstance(masked, dict):
        pairs = [(key, item, masked.get(key)) for key, item in value.items()]
    elif isinstance(value, list) and isinstance(masked, list):
        both = zip(value, masked, strict=False)
        pairs = [(i, left, right) for i, (left, right) in enumerate(both)]
    kept: Kept = {}
    for step, item, other in pairs:
        kept |= hidden_in(item, other, (*path, step))
    return kept
