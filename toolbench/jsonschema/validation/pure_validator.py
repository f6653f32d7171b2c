"""Check values against a JSON Schema in pure Python: where jsonschema-rs has no build (Pyodide).

The results are the same as those of jsonschema-rs; this is tested with the corpus of real tools.
Two things differ: a pattern can take long, and a pattern that Python cannot read is not checked.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from json import dumps, loads
from typing import Any

from toolbench.errors import Path, Problem, SchemaError
from toolbench.jsonschema.refs import MISSING, follow
from toolbench.jsonschema.validation.misfits import DEEPEST, UNIONS, Misfit
from toolbench.jsonschema.validation.problems import SCHEMA_LIMITS, problems_of
from toolbench.jsonschema.walk import REFERENCES, every

_KINDS: Mapping[str | None, tuple[str, str]] = {
    **{keyword: (kind, fact) for kind, (keyword, fact) in SCHEMA_LIMITS.items()},
    "type": ("Type", "types"),
    "enum": ("Enum", "options"),
    "const": ("Constant", "expected_value"),
    "uniqueItems": ("UniqueItems", ""),
    "anyOf": ("AnyOf", "context"),
    "oneOf": ("OneOfNotValid", "context"),
    None: ("FalseSchema", ""),
}
"""For each keyword: the kind of error in jsonschema-rs, and the detail that has the keyword's value."""
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
"""The types in the order in which jsonschema-rs names them."""


class PureValidator:
    """A validator in pure Python, with the methods `is_valid` and `problems`."""

    def __init__(self, schema: Any, root: str, part: str) -> None:
        """Make a validator for *schema*, or only for the subschema under its key *part*.

        Args:
            schema: The schema.
            root: The base URI of *schema*, for its references; empty if it has none.
            part: The key of the subschema; empty for the whole *schema*.

        Raises:
            SchemaError: If *schema* is not a valid JSON Schema, or refers to another document.
        """
        from jsonschema import (  # noqa: PLC0415 - only for foreign schemas
            Draft202012Validator,
            RefResolver,
            exceptions,
            validators,
        )

        kind: Any = Draft202012Validator
        if isinstance(schema, Mapping):
            kind = validators.validator_for(schema, Draft202012Validator)
        try:
            kind.check_schema(schema)
        except exceptions.SchemaError as error:
            where = "/".join(map(str, error.absolute_path))
            raise _invalid(error.message, where) from error
        _check_references(schema)
        kind = validators.extend(kind, _changed())
        resolver = RefResolver(root, schema, handlers=_Refused())
        entry = {"$ref": f"{root}#/{part}"} if part else schema
        self._validator: Any = kind(entry, resolver=resolver)

    def is_valid(self, value: Any) -> bool:
        """Tell whether *value* fits.

        Raises:
            ValueError: If *value* is not JSON.
        """
        return next(self._validator.iter_errors(_as_json(value)), None) is None

    def problems(self, value: Any) -> list[Problem]:
        """List all problems of *value*, each with its path.

        Raises:
            ValueError: If *value* is not JSON.
        """
        errors = self._validator.iter_errors(_as_json(value))
        return [one for error in errors for one in problems_of(_misfit(error))]


class _Refused(dict[str, Any]):
    """A table of functions that fetch other documents: for each address, a function that refuses."""

    def __contains__(self, scheme: object) -> bool:
        return True

    def __getitem__(self, scheme: str) -> Any:
        return _refuse


def _refuse(uri: str) -> Any:
    reason = f"references to other documents are not followed ({uri})"
    raise _invalid(reason)


def _invalid(reason: str, where: str = "") -> SchemaError:
    place = f" at {where}" if where else ""
    return SchemaError(f"The JSON Schema is not valid{place}: {reason}.")


def _check_references(schema: Any) -> None:
    """Check that each reference in *schema* has a target there; jsonschema-rs checks this too."""
    for _, part in every(schema):
        for keyword in REFERENCES:
            address = part.get(keyword)
            if not isinstance(address, str) or keyword == "$recursiveRef":
                continue
            if follow(schema, address) is MISSING and not _is_meta(address):
                _refuse(address)


def _is_meta(address: str) -> bool:
    return address.startswith(("http://json-schema.org/", "https://json-schema.org/"))


def _as_json(value: Any) -> Any:
    text = dumps(value, ensure_ascii=False)
    # A lone surrogate is not JSON
    text.encode()
    return loads(text)


# --- patterns: as ECMA 262 reads them -----------------------------------------------

_END = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> "re.Pattern[str] | None":
    """Return *pattern* compiled for Python; None if Python cannot read it.

    `$` matches only at the end of the text, not before a final line end. Digits are ASCII.
    """
    try:
        return re.compile(_END.sub(lambda m: r"\Z" if m[0] == "$" else m[0], pattern), re.ASCII)
    except (re.error, OverflowError, RecursionError):
        return None


def _fits(pattern: str, text: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is None or compiled.search(text) is not None


def _changed() -> dict[str, Callable[..., Iterable[Any]]]:
    from jsonschema import ValidationError  # noqa: PLC0415 - see above

    def pattern(_: Any, demand: str, value: Any, __: Any) -> Iterator[Any]:
        if isinstance(value, str) and not _fits(demand, value):
            yield ValidationError(f"{value!r} does not match {demand!r}")

    def pattern_properties(validator: Any, demand: Any, value: Any, __: Any) -> Iterator[Any]:
        for regex, schema in demand.items() if isinstance(value, dict) else ():
            for name in [name for name in value if _fits(regex, name)]:
                yield from validator.descend(value[name], schema, path=name, schema_path=regex)

    def additional(validator: Any, demand: Any, value: Any, schema: Any) -> Any:
        extra = _extra(value, schema) if isinstance(value, dict) else []
        if isinstance(demand, Mapping):
            for name in extra:
                yield from validator.descend(value[name], demand, path=name)
        elif demand is False and extra:
            yield ValidationError(f"{extra} were unexpected")

    return {
        "pattern": pattern,
        "patternProperties": pattern_properties,
        "additionalProperties": additional,
    }


def _extra(value: dict[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """Return the keys of *value* that *schema* neither declares nor matches by a pattern."""
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    return [
        name for name in value if name not in known and not any(_fits(p, name) for p in patterns)
    ]


# --- problems -----------------------------------------------------------------------


def _misfit(error: Any) -> Misfit:
    path: Path = tuple(error.absolute_path)
    keyword, demand, value = error.validator, error.validator_value, error.instance
    kind, fact = _KINDS.get(keyword, (str(keyword), ""))
    facts: dict[str, Any] = {fact: demand} if fact else {}
    if keyword == "type":
        types = [demand] if isinstance(demand, str) else demand
        facts = {fact: sorted(types, key=_TYPES.index)}
    elif keyword == "oneOf" and not error.context:
        kind = "OneOfMultipleValid"
    elif keyword == "required":
        name = next(n for n in demand if error.message.startswith(f"{n!r} is"))
        kind, facts = "Required", {"property": name}
    elif keyword == "additionalProperties":
        names = _extra(value, error.schema)
        kind, facts = "AdditionalProperties", {"unexpected": names}
    elif keyword == "unevaluatedProperties":
        names = [name for name in value if repr(name) in error.message]
        kind, facts = "UnevaluatedProperties", {"unexpected": names}
    if "unexpected" in facts:
        facts["known"] = list(error.schema.get("properties", {}))
    if kind in UNIONS and len(path) <= DEEPEST:
        branches: list[list[Misfit]] = [[] for _ in demand]
        for inner in error.context:
            branches[inner.schema_path[0]].append(_misfit(inner))
        facts["branches"] = branches
    return Misfit(kind, facts, path, value, error.message)
