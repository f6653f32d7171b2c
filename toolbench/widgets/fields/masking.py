"""Take the secrets out of a JSON value, and put them back in."""

from collections.abc import Iterable, Iterator
from json import dumps
from typing import Any

from toolbench.core.secrecy import HIDDEN, is_secret

Kept = dict[tuple[Any, ...], Any]
_SHORT = 4
_SHOWN = 60  # characters of a value that a sentence shows at most


def mask(value: Any, name: Any = "", schema: Any = None) -> tuple[Any, Kept]:
    """Return *value* with its secrets hidden, and the secrets by their paths."""
    kept: Kept = {}
    return _mask(value, name, schema, (), kept), kept


def _mask(value: Any, name: Any, schema: Any, path: tuple[Any, ...], kept: Kept) -> Any:
    blank = value in ("", [], {}) or isinstance(value, bool | None)
    if not blank and name != "" and is_secret(str(name), schema):
        kept[path] = value
        return HIDDEN
    known = schema.get("properties") if isinstance(schema, dict) else None
    parts = known if isinstance(known, dict) else {}
    if isinstance(value, dict):
        return {
            key: _mask(item, key, parts.get(key), (*path, key), kept)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_mask(item, "", None, (*path, i), kept) for i, item in enumerate(value)]
    return value


def texts(value: Any) -> Iterator[str]:
    """Give the texts and the numbers in *value*, as they might be found elsewhere."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
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
