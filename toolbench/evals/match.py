"""Compare a model's calls or a tool's results with what a case or a check expects."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from math import isclose, isfinite
from typing import Any

from toolbench.display.differences import excerpts
from toolbench.errors import CaseError, Path, Problem, did_you_mean
from toolbench.redaction.detect import BY_NAMES
from toolbench.values import DATE_TIME, clip, mapped

# Tolerance of `approx`, because models round numbers
_RELATIVE = 1e-3
_ABSOLUTE = 1e-9
# Characters of strings that are shown whole
_SHORT = 40
# Seconds to search a model's text for one pattern
_PATIENCE = 1.0
# A UUID, a hash, an address in memory
_ID = re.compile(
    r"\b[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b[0-9a-f]{32,128}\b|\b0x[0-9a-f]{6,16}\b"
)
LOOSE = {"times": DATE_TIME, "ids": _ID}
"""Patterns of text that differs from run to run, by the name of the rule that ignores it."""


@dataclass(frozen=True)
class FieldRule:
    """A rule to compare one field: of a call's arguments, or of a result."""

    kind: str
    value: Any = None
    """The value of the rule, such as a pattern or a tolerance; None means the default."""

    @classmethod
    def of(cls, rule: Any) -> "FieldRule":
        """Return the rule that *rule* describes, such as `"approx"` or `{"approx": 0.01}`.

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
        if self.kind == "type" and self.value is not None and self.value not in TYPES:
            msg = f"A type is one of {', '.join(TYPES)}, not {clip(self.value)}."
            raise CaseError(msg)
        if self.kind not in TAKE_VALUE and self.value is not None:
            msg = f"The rule {self.kind!r} takes no value, but it got {clip(self.value)}."
            raise CaseError(msg)

    @property
    def needs_expected(self) -> bool:
        """Whether the rule needs an expected value.

        The rule "any" does not, nor does a regex or type rule that has its own value.
        """
        return self.kind != "any" and not (self.kind in ("regex", "type") and self.value)

    @property
    def written(self) -> Any:
        """The rule as JSON data, in the form that a case has."""
        if self.value is None:
            return self.kind
        return {self.kind: self.value}

    def matches(self, expected: Any, actual: Any) -> bool:
        """Tell whether *actual* fits *expected*, the value in the case, by this rule."""
        return RULES[self.kind](self.value, expected, actual)


EQUAL = FieldRule("equal")


def equal_json(one: Any, other: Any) -> bool:
    """Compare two JSON values as JSON Schema does: 1 equals 1.0, and true is not 1.

    The order of the items of a list matters, but the order of the keys of an object does not.
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
    """Tell whether numbers are equal within *tolerance*, even inside lists and objects."""
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
    """Tell whether the pattern matches in *actual*, a string or a number written as JSON.

    The pattern is the rule's value *pattern*, or *expected* if the rule has no value.
    """
    compiled = _compiled(expected if pattern is None else pattern)
    if isinstance(actual, int | float):
        actual = json.dumps(actual)
    if not isinstance(actual, str):
        return False
    try:
        return compiled.search(actual, timeout=_PATIENCE) is not None
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
    msg = f"A regular expression is a string, not {clip(pattern)}."
    raise CaseError(msg)


def _contains(_: Any, expected: Any, actual: Any) -> bool:
    """Tell whether the string *actual* contains *expected*, or the list *actual* its items."""
    if isinstance(expected, str) and isinstance(actual, str):
        return expected in actual
    items = expected if _is_list(expected) else [expected]
    return _is_list(actual) and _are_in(items, actual)


def _subset(_: Any, expected: Any, actual: Any) -> bool:
    """Tell whether *actual* has all keys and items of *expected* at any depth; it may have more."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return all(
            key in actual and _subset(_, value, actual[key]) for key, value in expected.items()
        )
    if _is_list(expected) and _is_list(actual):
        return _fit_in(expected, actual)
    return equal_json(expected, actual)


def _unordered(_: Any, expected: Any, actual: Any) -> bool:
    """Tell whether two lists have the same items, each the same number of times, in any order."""
    if not (_is_list(expected) and _is_list(actual)):
        return equal_json(expected, actual)
    return len(expected) == len(actual) and _are_in(expected, actual)


def _are_in(expected: Sequence[Any], items: Sequence[Any]) -> bool:
    """Tell whether *items* contains each of the *expected* items, at least as many times."""
    left = list(items)
    for want in expected:
        for place, item in enumerate(left):
            if equal_json(want, item):
                del left[place]
                break
        else:
            return False
    return True


def _fit_in(expected: Sequence[Any], items: Sequence[Any]) -> bool:
    """Tell whether each item of *expected* is a subset of a different item of *items*.

    Source: Kuhn's algorithm for matchings in bipartite graphs.
    """
    fitting = []
    for want in expected:
        fitting.append([n for n, item in enumerate(items) if _subset(None, want, item)])
    owner: dict[int, int] = {}
    return all(_has_place(place, fitting, owner, set()) for place in range(len(expected)))


def _has_place(
    place: int, fitting: Sequence[Sequence[int]], owner: dict[int, int], tried: set[int]
) -> bool:
    """Assign a fitting item to the expected item at *place*, and reassign others if necessary."""
    for number in fitting[place]:
        if number not in owner:
            owner[number] = place
            return True
    for number in fitting[place]:
        if number in tried:
            continue
        tried.add(number)
        if _has_place(owner[number], fitting, owner, tried):
            owner[number] = place
            return True
    return False


def _type(wanted: Any, expected: Any, actual: Any) -> bool:
    """Tell whether *actual* has the type *wanted*; if this is None, the type of *expected*."""
    if wanted is None:
        return _type_of(expected) == _type_of(actual)
    return wanted == _type_of(actual) or (wanted == "number" and _type_of(actual) == "integer")


def _type_of(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return "integer"
    return next((name for name, kinds in TYPES.items() if isinstance(value, kinds)), "")


TYPES: Mapping[str, type | tuple[type, ...]] = {
    "null": type(None),
    "boolean": bool,
    "integer": int,
    "number": float,
    "string": str,
    "array": (list, tuple),
    "object": Mapping,
}
"""The Python types of each JSON Schema type; a bool counts as a boolean, not as a number."""


def _times(_: Any, expected: Any, actual: Any) -> bool:
    return equal_json(loosened(expected, ["times"]), loosened(actual, ["times"]))


def _ids(_: Any, expected: Any, actual: Any) -> bool:
    return equal_json(loosened(expected, ["ids"]), loosened(actual, ["ids"]))


def loosened(value: Any, names: Iterable[str]) -> Any:
    """Replace times and ids in *value* with `<times>` and `<ids>`; *names* says which of them."""

    def loose(part: Any) -> Any:
        if isinstance(part, str):
            for name in names:
                part = LOOSE[name].sub(f"<{name}>", part)
        return part

    return mapped(value, loose)


RULES: Mapping[str, Callable[[Any, Any, Any], bool]] = {
    "equal": _equal,
    "approx": _approx,
    "regex": _regex,
    "any": _any,
    "contains": _contains,
    "subset": _subset,
    "unordered": _unordered,
    "type": _type,
    "times": _times,
    "ids": _ids,
}
"""The functions of the rules: they get the rule's value, the expected and the actual value."""
TAKE_VALUE = frozenset({"approx", "regex", "type"})
"""The rules that may have a value, as in `{"approx": 0.01}`."""


def rules_of(match: Mapping[str, Any]) -> dict[str, FieldRule]:
    """Return the rules in *match*, which is the `match` of a case, by field.

    Raises:
        CaseError: If a value is not a rule.
    """
    return {str(field): FieldRule.of(rule) for field, rule in match.items()}


ABSENT: Any = object()
"""Stands for a value that does not exist."""


@dataclass(frozen=True)
class ExpectedCall:
    """A call that a case expects.

    Examples:
        >>> from toolbench.evals import Case, ExpectedCall
        >>> case = Case("Is it raining in Oslo?", ExpectedCall("weather", {"city": "Oslo"}))
        >>> case.to_dict()["expect"]
        [{'name': 'weather', 'arguments': {'city': 'Oslo'}}]
    """

    name: str
    arguments: Mapping[str, Any]

    def __repr__(self) -> str:
        arguments = BY_NAMES.hide(self.arguments)[0]
        return f"ExpectedCall(name={self.name!r}, arguments={arguments!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return the call, JSON-ready."""
        return {"name": self.name, "arguments": dict(self.arguments)}


@dataclass(frozen=True)
class SentCall:
    """A call that a model sent, in the form in which it is compared."""

    name: str
    arguments: Mapping[str, Any]
    defaults: Mapping[str, Any]
    """The defaults of the tool's arguments; an omitted argument counts as its default."""


def misfits(
    expected: ExpectedCall, sent: SentCall, rules: Mapping[str, FieldRule]
) -> list[Problem]:
    """Return a problem for each field of *sent* that differs from *expected*.

    Args:
        expected: The call that the case expects.
        sent: The call of the same tool that the model sent.
        rules: The rules for comparing fields, by the path of the field. A path is, for example,
            `total`, `guest.name`, `items[0]`, or `items[]` for every item of a list. A field
            without a rule must have an equal JSON value. An argument that was not sent is compared
            by its default.
    """
    comparison = Comparison(rules)
    problems: list[Problem] = []
    names = dict.fromkeys([*expected.arguments, *sent.arguments])
    for name in names:
        value = expected.arguments.get(name, ABSENT)
        actual = sent.arguments.get(name, ABSENT)
        rule = comparison.rule_of((name,))
        if rule is not None and rule.kind == "any":
            continue
        if value is ABSENT and rule is None and "*" in rules:
            continue
        default = sent.defaults.get(name, ABSENT)
        actual = default if actual is ABSENT else actual
        if value is ABSENT and (rule is None or rule.needs_expected):
            value = default
        problems += comparison.differences(value, actual, (name,))
    missing = [
        Problem((field,), f"should match {clip(rule.value)}, and was not sent")
        for field, rule in rules.items()
        if rule.kind == "regex" and rule.value and field.isidentifier()
        if field not in names and field not in sent.defaults
    ]
    return problems + missing


def result_differences(expected: Any, actual: Any, rules: Mapping[str, FieldRule]) -> list[Problem]:
    """Return a problem for each place where the result *actual* differs from *expected*.

    Args:
        expected: The expected result. If it is `ABSENT`, only places with a rule are compared.
        actual: The result, as JSON data.
        rules: The rules for comparing places, by the path of the place, as in `misfits`. The rule
            `*` applies to every place without a rule of its own. If this rule is `subset`, *actual*
            may have more keys than *expected*.
    """
    rest = rules.get("*", EQUAL)
    if expected is ABSENT:
        rest = FieldRule("any")
    comparison = Comparison(rules, rest, verb="returned", is_by_place=True)
    problems = comparison.differences(expected, actual, ())
    for path, rule in rules.items():
        # An item of a list may be missing because the list is empty
        if path not in ("*", *comparison.met) and "[" not in path and rule.kind != "any":
            problems.append(Problem((path,), "there is a rule for it, and it was not returned"))
    return problems


# Of these, a difference is that of one part
_BY_PART = frozenset({"equal", "approx", "subset", "type", "times", "ids"})


@dataclass(frozen=True)
class Comparison:
    """Compares two JSON values, in which each place may have its own rule."""

    rules: Mapping[str, FieldRule]
    rest: FieldRule = EQUAL
    """The rule for all places that are not in `rules`."""
    verb: str = "sent"
    """What was done with the actual value, for messages: "sent" or "returned"."""
    is_by_place: bool = False
    """Whether each differing part of a value is reported; otherwise, only the whole value is."""
    met: set[str] = field(default_factory=set)
    """The paths of the rules that were used."""

    def differences(self, value: Any, actual: Any, path: Path) -> list[Problem]:
        """Return how *actual*, at *path*, differs from *value*; both may be `ABSENT`."""
        rule = self.rule_of(path)
        used = rule or self.rest
        if actual is ABSENT or (value is ABSENT and used.needs_expected):
            return [Problem(path, self._sentence(rule, value, actual))]
        is_open = self.is_by_place and self.rest.kind in _BY_PART
        if rule is None and (is_open or self._has_rules_below(path)):
            inner = self._inside(value, actual, path)
            if inner is not None:
                return inner
        if used.matches(value, actual):
            return []
        return [Problem(path, self._sentence(used, value, actual))]

    def _inside(self, value: Any, actual: Any, path: Path) -> list[Problem] | None:
        """Return the differences inside two objects, or inside two lists of equal length.

        For any other two values, return None.
        """
        if isinstance(actual, Mapping) and (value is ABSENT or isinstance(value, Mapping)):
            return self._in_objects({} if value is ABSENT else value, actual, path)
        if not isinstance(actual, list):
            return None
        if value is ABSENT:
            value = [ABSENT] * len(actual)
        if not isinstance(value, list) or len(value) != len(actual):
            return None
        # The items of a subset may stand anywhere
        if self.rest.kind == "subset" and not self._has_rules_below(path):
            return None
        problems: list[Problem] = []
        for step, (one, other) in enumerate(zip(value, actual, strict=True)):
            problems += self._at(one, other, (*path, step))
        return problems

    def _in_objects(
        self, value: Mapping[str, Any], actual: Mapping[str, Any], path: Path
    ) -> list[Problem]:
        problems: list[Problem] = []
        for step in dict.fromkeys([*value, *actual]):
            here = (*path, step)
            is_extra = step not in value and self.rest.kind in ("subset", "any")
            if is_extra and self.rule_of(here) is None and not self._has_rules_below(here):
                continue
            problems += self._at(value.get(step, ABSENT), actual.get(step, ABSENT), here)
        return problems

    def _at(self, value: Any, actual: Any, path: Path) -> list[Problem]:
        rule = self.rule_of(path)
        if rule is not None and rule.kind == "any":
            return []
        return self.differences(value, actual, path)

    def rule_of(self, path: Path) -> FieldRule | None:
        """Return the rule for the place *path*; None if `rules` has no rule for it."""
        for field_name in (Problem(path, "").where, _pattern(path)):
            if field_name in self.rules:
                self.met.add(field_name)
                return self.rules[field_name]
        return None

    def _has_rules_below(self, path: Path) -> bool:
        if not path:
            return any(name != "*" for name in self.rules)
        heads = {Problem(path, "").where, _pattern(path)}
        return any(
            name.startswith((f"{head}.", f"{head}[")) for name in self.rules for head in heads
        )

    def _sentence(self, rule: FieldRule | None, target: Any, actual: Any) -> str:
        returned = f"was not {self.verb}"
        if actual is not ABSENT:
            returned = f"{clip(actual)} was {self.verb}"
        if target is ABSENT and (rule is None or rule.needs_expected):
            return f"nothing was expected, and {returned}"
        if rule is None or rule.kind == "equal":
            if isinstance(target, str) and isinstance(actual, str):
                target, actual, line = _first_difference(target, actual)
                return f"{line}{clip(target)} was expected, and {clip(actual)} was {self.verb}"
            return f"{clip(target)} was expected, and {returned}"
        value = rule.value if target is ABSENT else target
        return f"{clip(value)} was expected ({rule.kind}), and {returned}"


def _first_difference(expected: str, actual: str) -> tuple[str, str, str]:
    """Return excerpts of the first line in which two strings differ, and the line's number as text.

    Short strings are returned whole, with "" as the number.
    """
    pairs = zip_longest(expected.splitlines(), actual.splitlines(), fillvalue="")
    for number, (one, other) in enumerate(pairs, 1):
        if one != other and max(len(expected), len(actual)) > _SHORT:
            one, other = excerpts(one, other, _SHORT // 2)
            return one, other, f"line {number}: "
    return expected, actual, ""


def _pattern(path: Path) -> str:
    """Return *path* without the indexes of lists: `items[].price`."""
    pattern = ""
    for part in path:
        if isinstance(part, int):
            pattern += "[]"
        else:
            pattern += f".{part}"
    return pattern.removeprefix(".")


def paired(
    expected: Sequence[ExpectedCall],
    sent: Sequence[SentCall],
    rules: Mapping[str, FieldRule],
) -> list[tuple[ExpectedCall, SentCall, list[Problem]]]:
    """Pair expected and sent calls of the same tool, so that they differ as little as possible.

    The two calls with the fewest differences are paired first. A call may remain without a partner.
    The order of calls in an answer does not matter, because they run at the same time.
    """
    candidates: list[tuple[int, int, int, int, list[Problem]]] = []
    for place, call in enumerate(expected):
        found: list[tuple[int, list[Problem]]] = []
        for number, other in enumerate(sent):
            if other.name == call.name:
                found.append((number, misfits(call, other, rules)))
        # Of equal pairs, that of the expected call comes first which fewer sent calls fit
        choices = sum(not differences for _, differences in found)
        for number, differences in found:
            candidates.append((len(differences), choices, place, number, differences))
    candidates.sort(key=lambda candidate: candidate[:4])
    partners: dict[int, tuple[int, list[Problem]]] = {}
    taken: set[int] = set()
    for _, _, place, number, differences in candidates:
        if place not in partners and number not in taken:
            partners[place] = number, differences
            taken.add(number)
    pairs = []
    for place, (number, differences) in sorted(partners.items()):
        pairs.append((expected[place], sent[number], differences))
    return pairs
