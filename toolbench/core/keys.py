"""The keys of a JSON object, each once: Python's own reading keeps the last and says nothing."""

from typing import Any

from toolbench.core.validation import clip


def each_once(
    pairs: list[tuple[str, Any]], error: type[ValueError] = ValueError
) -> dict[str, Any]:
    """Return the object of *pairs*: an `object_pairs_hook` of `json`.

    Raises:
        error: If a key stands there twice.
    """
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        msg = f"the key {clip(twice)} stands there twice"
        raise error(msg)
    return value
