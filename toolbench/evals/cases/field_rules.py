"""Rules to compare a value that a model sent with the value that a case expects."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose, isfinite
from typing import Any

from toolbench.errors import CaseError, did_you_mean
from toolbench.evals.cases.best_pairs import most_pairs
from toolbench.values import clip

# Tolerance of `approx`, because models round numbers
_RELATIVE = 1e-3
_ABSOLUTE = 1e-9
# Seconds to search a model's text for one pattern
_PATIENCE = 1.0


@dataclass(frozen=True)
class FieldRule:
    """A rule by which one field of a call's arguments is compared."""

    kind: str
    value: Any = None
    """The value that belongs to the rule, such as a pattern or a tolerance; None means the
    default."""

    @classmethod
    def of(cls, rule: Any) -> "FieldRule":
        """Return the rule that *rule* describes: a word, `"approx"`, or with a value, `{"approx": 0.01}`.

        Raises:
            CaseError: If *rule* is not a rule.
        """
        if isinstance(rule, FieldRule):
            return rule
        kind, value = rule, None
        if isinstance(rule, Mapping) and len(rule) == 1:
            [(kind, value)] = rule.items()
        if not isinstance(kind, str) or kind not in RULES:
            words = ", ".join(RULES)
            near = did_you_mean(kind, RULES) if isinstance(kind, str) else ""
            msg = (
                f"{clip(rule)} is not a rule for a field. A rule is one of {words}, or an object "
                f'like {{"approx": 0.01}} or {{"regex": "^Par"}}.{near}'
            )
            raise CaseError(msg)
        field_rule = cls(kind, value)
        field_rule._check()
        return field_rule

    def _check(self) -> None:
        if self.kind == "regex" and self.value is not None:
            _compiled(self.value)
        if self.kind == "approx":
            _tolerances(self.value)
        if self.kind not in TAKE_VALUE and self.value is not None:
            msg = f"The rule {self.kind!r} takes no value, but it got {clip(self.value)}."
            raise CaseError(msg)

    @property
    def needs_expected(self) -> bool:
        """Whether the rule compares with an expected value. "any" and a regex with a pattern do not."""
        return self.kind != "any" and not (self.kind == "regex" and self.value)

    @property
    def written(self) -> Any:
        """The rule as JSON data, as in a case."""
        return self.kind if self.value is None else {self.kind: self.value}

    def matches(self, expected: Any, actual: Any) -> bool:
        """Tell whether *actual* fits *expected*, the value in the case, by this rule."""
        return RULES[self.kind](self.value, expected, actual)


EQUAL = FieldRule("equal")


def equal_json(one: Any, other: Any) -> bool:
    """Compare two JSON values as JSON Schema does: 1 equals 1.0, and true is not 1.

    The order of the keys of an object does not matter; the order of a list matters.
    Source: JSON Schema 2020-12 Core, 4.2.2 Instance Equality.
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(
            equal_json(value, other[key]) for key, value in one.items()
        )
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(map(equal_json, one, other))
    return type(one) is type(other) and bool(one == other)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


# --- the rules ------------------------------------------------------------------------


def _equal(_: Any, expected: Any, actual: Any) -> bool:
    return equal_json(expected, actual)


def _any(_: Any, expected: Any, actual: Any) -> bool:
    return True


def _approx(tolerance: Any, expected: Any, actual: Any) -> bool:
    """Tell whether numbers, alone or inside lists and objects, are equal within *tolerance*."""
    if _is_number(expected) and _is_number(actual):
        if not (isfinite(expected) and isfinite(actual)):
            return bool(expected == actual)
        relative, absolute = _tolerances(tolerance)
        return isclose(expected, actual, rel_tol=relative, abs_tol=absolute)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return expected.keys() == actual.keys() and all(
            _approx(tolerance, value, actual[key]) for key, value in expected.items()
        )
    if _is_list(expected) and _is_list(actual):
        return len(expected) == len(actual) and all(
            _approx(tolerance, one, other) for one, other in zip(expected, actual, strict=True)
        )
    return equal_json(expected, actual)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _tolerances(value: Any) -> tuple[float, float]:
    """Return the relative and the absolute tolerance in *value*."""
    parts = value if isinstance(value, Mapping) else {"rel": value}
    numbers = [
        default if parts.get(name) is None else parts[name]
        for name, default in (("rel", _RELATIVE), ("abs", _ABSOLUTE))
    ]
    is_known = set(parts) <= {"rel", "abs"}
    if not is_known or not all(_is_number(n) and n >= 0 for n in numbers):
        msg = (
            f"A tolerance is a number of at least 0, which is relative, or an object with "
            f'"rel" and "abs", not {clip(value)}.'
        )
        raise CaseError(msg)
    relative, absolute = numbers
    return float(relative), float(absolute)


def _regex(pattern: Any, expected: Any, actual: Any) -> bool:
    """Tell whether *actual*, a text or a number as JSON text, has a match of the pattern.

    The pattern is *pattern*, the rule's own value, or else *expected*.
    """
    compiled = _compiled(expected if pattern is None else pattern)
    text = actual if isinstance(actual, str) else None
    if text is None and isinstance(actual, int | float):
        text = json.dumps(actual)
    if text is None:
        return False
    try:
        return compiled.search(text, timeout=_PATIENCE) is not None
    except TimeoutError:
        return False


def _compiled(pattern: Any) -> Any:
    if isinstance(pattern, str):
        try:
            import regex  # noqa: PLC0415 - Pyodide has no build of it
        except ImportError:
            msg = (
                "Regular expressions in cases need the package regex, which is not installed here."
            )
            raise CaseError(msg) from None
        try:
            return regex.compile(pattern)
        except regex.error as error:
            msg = f"{clip(pattern)} is not a regular expression: {error}."
            raise CaseError(msg) from None
    msg = f"A regular expression is a text, not {clip(pattern)}."
    raise CaseError(msg)


def _contains(_: Any, expected: Any, actual: Any) -> bool:
    """Tell whether a text contains the expected text, or a list contains the expected items."""
    if isinstance(expected, str) and isinstance(actual, str):
        return expected in actual
    items = expected if _is_list(expected) else [expected]
    return _is_list(actual) and _paired(items, actual, equal_json)


def _subset(_: Any, expected: Any, actual: Any) -> bool:
    """Tell whether *actual* has all keys and items of *expected*, at any depth; it may have more."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return all(
            key in actual and _subset(_, value, actual[key]) for key, value in expected.items()
        )
    if _is_list(expected) and _is_list(actual):
        return _paired(expected, actual, lambda e, a: _subset(_, e, a))
    return equal_json(expected, actual)


def _unordered(_: Any, expected: Any, actual: Any) -> bool:
    """Tell whether two lists have the same items, equally often, in any order."""
    if not (_is_list(expected) and _is_list(actual)):
        return equal_json(expected, actual)
    return len(expected) == len(actual) and _paired(expected, actual, equal_json)


def _paired(
    expected_items: Sequence[Any],
    items: Sequence[Any],
    fits: Callable[[Any, Any], bool],
) -> bool:
    """Tell whether each expected item can get its own fitting item; no item is used twice."""
    partners = most_pairs(
        len(expected_items),
        len(items),
        lambda want, index: fits(expected_items[want], items[index]),
    )
    return len(partners) == len(expected_items)


RULES: Mapping[str, Callable[[Any, Any, Any], bool]] = {
    "equal": _equal,
    "approx": _approx,
    "regex": _regex,
    "any": _any,
    "contains": _contains,
    "subset": _subset,
    "unordered": _unordered,
}
"""The rules by name. Each gets the rule's own value, the expected value and the actual value."""
TAKE_VALUE = frozenset({"approx", "regex"})
"""The rules that may have a value of their own."""


def rules_of(match: Mapping[str, Any]) -> dict[str, FieldRule]:
    """Return the rules of a case's `match`, by field.

    Raises:
        CaseError: If a value is not a rule.
    """
    return {str(field): FieldRule.of(rule) for field, rule in match.items()}
