"""Which arguments are secrets, and how they look when written down."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

HIDDEN = "••••••"

_NAMES = re.compile(
    r"(^|_)(password|passwd|passphrase|secret|token|"
    r"(api|access|private|secret|signing|encryption)_?key|credentials?|authorization)$",
    re.IGNORECASE,
)
# where a listing goes on, and what stands in a text
_NO_SECRETS = re.compile(
    r"(^|_)(next|previous|prev|page|pagination|continuation|continue|cursor|resume|sync|"
    r"start|end|first|last|stop|bos|eos|pad|sep|cls|mask|unk)_token$",
    re.IGNORECASE,
)


def is_secret(name: str, schema: Any) -> bool:
    """Tell whether the property *name* with *schema* holds a secret, by what either says.

    `format: password` and `writeOnly` say so, and names such as `api_key` or `githubToken`
    do when they hold text.
    """
    if isinstance(schema, Mapping):
        if schema.get("format") == "password" or schema.get("writeOnly") is True:
            return True
        kinds = schema.get("type", "string")
        if "string" not in (kinds if isinstance(kinds, list) else [kinds]):
            return False
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_")
    return bool(_NAMES.search(snake)) and not _NO_SECRETS.search(snake)


def hide(arguments: Any, schema: Any) -> Any:
    """Return a copy of *arguments* in which what *schema* calls secret is hidden.

    References, alternatives, items and the values of maps are followed, so that
    `SecretStr | None` is as secret as `SecretStr`.
    """
    return _hide(arguments, "", [schema], schema)


def _hide(value: Any, name: str, schemas: list[Any], root: Any) -> Any:
    if value is None:
        return None
    known = [s for schema in schemas for s in _alternatives(schema, root, set())]
    if any(is_secret(name, schema) for schema in known or [{}]):
        return HIDDEN
    if isinstance(value, Mapping):
        return {
            key: _hide(item, str(key), list(_of_key(known, key)), root)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _hide(item, "", list(_of_item(known, place)), root)
            for place, item in enumerate(value)
        ]
    return value


def _alternatives(
    schema: Any, root: Any, seen: set[int]
) -> Iterator[Mapping[str, Any]]:
    """Give *schema*, what it refers to, and the parts it is put together from."""
    if not isinstance(schema, Mapping) or id(schema) in seen:
        return
    seen.add(id(schema))
    yield schema
    if "$ref" in schema:
        yield from _alternatives(_target(root, schema["$ref"]), root, seen)
    for key in ("allOf", "anyOf", "oneOf"):
        for part in _sequence(schema, key):
            yield from _alternatives(part, root, seen)


def _target(root: Any, reference: Any) -> Any:
    """Return what a local *reference* of *root* points to; None if nothing."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    here = root
    for step in reference.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(here, Mapping):
            here = here.get(name)
        elif isinstance(here, list) and name.isdecimal() and int(name) < len(here):
            here = here[int(name)]
        else:
            return None
    return here


def _of_key(schemas: Iterable[Mapping[str, Any]], key: Any) -> Iterator[Any]:
    """Give the schemas for the value of *key*; of patterns all, so that none is overlooked."""
    for schema in schemas:
        declared = _mapping(schema, "properties")
        if key in declared:
            yield declared[key]
        else:
            yield from _mapping(schema, "patternProperties").values()
            yield schema.get("additionalProperties")


def _of_item(schemas: Iterable[Mapping[str, Any]], place: int) -> Iterator[Any]:
    for schema in schemas:
        first = _sequence(schema, "prefixItems")
        yield first[place] if place < len(first) else schema.get("items")


def _mapping(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}


def _sequence(schema: Mapping[str, Any], key: str) -> list[Any]:
    found = schema.get(key)
    return found if isinstance(found, list) else []
