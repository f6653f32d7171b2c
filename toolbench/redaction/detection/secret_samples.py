"""Remove samples (defaults and examples) that have a secret from a JSON Schema."""

from collections.abc import Iterator
from typing import Any

from toolbench.jsonschema.types import Json
from toolbench.jsonschema.walk import every, mapping, rewritten
from toolbench.redaction.detection.locations import is_secret
from toolbench.redaction.detection.names import is_secret_argument
from toolbench.redaction.detection.secrecy import Secrecy

_SAMPLES = ("default", "examples")
# Of an address, a setting or JSON, which may contain a secret
_SIGNS = frozenset(":={[")


def without_secret_samples(schema: Json) -> Json:
    """Return *schema* without the defaults and examples that have a secret.

    So a model and its provider do not get these secrets. A call without such an argument still uses
    the default: the tool or its server adds the default.
    """
    if not any(_secret_samples(part, schema) for _, part in every(schema)):
        return schema

    def change(part: Json, _: str) -> Json:
        left_out = set(_secret_samples(part, schema))
        if not left_out:
            return part
        properties = {
            name: {k: v for k, v in field.items() if (name, k) not in left_out}
            if isinstance(field, dict)
            else field
            for name, field in mapping(part, "properties").items()
        }
        return {**part, "properties": properties}

    whole: Json = rewritten(schema, change)
    return whole


def _secret_samples(schema: Json, root: Json) -> list[tuple[str, str]]:
    """Return pairs of a property of *schema* and a keyword: the samples of this keyword have a secret."""
    return [
        (name, keyword)
        for name, field in mapping(schema, "properties").items()
        if isinstance(field, dict)
        for keyword in _SAMPLES
        if keyword in field
        and any(_is_secret(name, field, s, root) for s in _samples(field, keyword))
    ]


def _samples(field: Json, keyword: str) -> Iterator[Any]:
    sample = field.get(keyword)
    if keyword == "examples" and isinstance(sample, list):
        yield from sample
    elif sample is not None:
        yield sample


def _is_secret(name: str, field: Json, sample: Any, root: Json) -> bool:
    says_so = is_secret(name, field) or is_secret_argument(name)
    looks_so = isinstance(sample, dict | list) or (
        isinstance(sample, str) and not _SIGNS.isdisjoint(sample)
    )
    if not sample or not (says_so or looks_so):
        return False
    secrecy = Secrecy({"type": "object", "properties": {name: field}}, root)
    return bool(secrecy.secrets_in({name: sample}))
