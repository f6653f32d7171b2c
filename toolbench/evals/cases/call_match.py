"""Compare the calls of one answer with the calls that a case expects, field by field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from toolbench.errors import Path, Problem
from toolbench.evals.cases.best_pairs import most_pairs
from toolbench.evals.cases.field_rules import EQUAL, FieldRule
from toolbench.redaction.detect import BY_NAMES
from toolbench.values import clip

# Up to this number of calls of one tool, every order is tried
_MOST = 5

_ABSENT: Any = object()


@dataclass(frozen=True)
class ExpectedCall:
    """A call that a case expects."""

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
    """A call that a model sent, with the parts to compare."""

    name: str
    arguments: Mapping[str, Any]
    defaults: Mapping[str, Any]
    """The defaults of the tool's arguments: an argument left out counts as its default."""
    is_valid: bool = True
    """Whether the arguments are valid, perhaps after a repair."""


def misfits(
    expected: ExpectedCall, sent: SentCall, rules: Mapping[str, FieldRule]
) -> list[Problem]:
    """Return the fields of *sent* that differ from *expected*, each with the expected value.

    Args:
        expected: The call that the case expects.
        sent: The call of the same tool that the model sent.
        rules: How fields are compared, by their paths: `total`, `guest.name`, `items[0]`,
            and `items[]` for every item. A field without a rule must be equal JSON. A field that
            was not sent counts as the default of the argument.
    """
    problems: list[Problem] = []
    names = dict.fromkeys([*expected.arguments, *sent.arguments])
    for name in names:
        value = expected.arguments.get(name, _ABSENT)
        actual = sent.arguments.get(name, _ABSENT)
        rule = _rule((name,), rules)
        if rule is not None and rule.kind == "any":
            continue
        if value is _ABSENT and rule is None and "*" in rules:
            continue
        default = sent.defaults.get(name, _ABSENT)
        actual = default if actual is _ABSENT else actual
        if value is _ABSENT and (rule is None or rule.needs_expected):
            value = default
        problems += _differences(value, actual, (name,), rules)
    missing = [
        Problem((field,), f"should match {clip(rule.value)}, and was not sent")
        for field, rule in rules.items()
        if rule.kind == "regex" and rule.value and field.isidentifier()
        if field not in names and field not in sent.defaults
    ]
    return problems + missing


def _differences(
    value: Any, actual: Any, path: Path, rules: Mapping[str, FieldRule]
) -> list[Problem]:
    rule = _rule(path, rules)
    if actual is _ABSENT or (value is _ABSENT and (rule or EQUAL).needs_expected):
        return [Problem(path, _sentence(rule, value, actual))]
    if rule is None and _has_rules_below(path, rules):
        inner = _inside(value, actual, path, rules)
        if inner is not None:
            return inner
    if (rule or EQUAL).matches(value, actual):
        return []
    return [Problem(path, _sentence(rule, value, actual))]


def _inside(
    value: Any, actual: Any, path: Path, rules: Mapping[str, FieldRule]
) -> list[Problem] | None:
    """Return the differences inside two objects, or inside two lists of equal length.

    Return None if *value* and *actual* are neither.
    """
    steps: list[Any]
    if isinstance(value, Mapping) and isinstance(actual, Mapping):
        steps = list(dict.fromkeys([*value, *actual]))
        pairs = [(value.get(s, _ABSENT), actual.get(s, _ABSENT)) for s in steps]
    elif isinstance(value, list) and isinstance(actual, list):
        if len(value) != len(actual):
            return None
        steps = list(range(len(value)))
        pairs = list(zip(value, actual, strict=True))
    else:
        return None
    problems: list[Problem] = []
    for step, (one, other) in zip(steps, pairs, strict=True):
        here = (*path, step)
        rule = _rule(here, rules)
        if rule is None or rule.kind != "any":
            problems += _differences(one, other, here, rules)
    return problems


def _rule(path: Path, rules: Mapping[str, FieldRule]) -> FieldRule | None:
    exact = Problem(path, "").where
    return rules.get(exact) or rules.get(_pattern(path))


def _pattern(path: Path) -> str:
    """Return *path* without the indexes of lists: `items[].price`."""
    parts = ("[]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def _has_rules_below(path: Path, rules: Mapping[str, FieldRule]) -> bool:
    heads = {Problem(path, "").where, _pattern(path)}
    return any(field.startswith((f"{head}.", f"{head}[")) for field in rules for head in heads)


def _sentence(rule: FieldRule | None, target: Any, actual: Any) -> str:
    sent = "was not sent" if actual is _ABSENT else f"{clip(actual)} was sent"
    if target is _ABSENT and (rule is None or rule.needs_expected):
        return f"nothing was expected, and {sent}"
    if rule is None or rule.kind == "equal":
        return f"{clip(target)} was expected, and {sent}"
    value = rule.value if target is _ABSENT else target
    return f"{clip(value)} was expected ({rule.kind}), and {sent}"


def paired(
    expected: Sequence[ExpectedCall],
    sent: Sequence[SentCall],
    rules: Mapping[str, FieldRule],
) -> list[tuple[ExpectedCall, SentCall, list[Problem]]]:
    """Pair expected and sent calls of the same tool so that few fields differ.

    The order of the calls of one answer does not matter: they run at the same time. A call
    without a partner is in no pair.
    """
    pairs: list[tuple[ExpectedCall, SentCall, list[Problem]]] = []
    for name in dict.fromkeys(call.name for call in expected):
        calls_of_name = [call for call in expected if call.name == name]
        got = [call for call in sent if call.name == name]
        table = {
            (i, j): misfits(one, other, rules)
            for i, one in enumerate(calls_of_name)
            for j, other in enumerate(got)
        }
        for i, j in _best(len(calls_of_name), len(got), table):
            pairs.append((calls_of_name[i], got[j], table[i, j]))
    return pairs


def _best(
    rows: int, columns: int, table: Mapping[tuple[int, int], list[Problem]]
) -> list[tuple[int, int]]:
    """Return pairs (row, column) with the fewest differences; *table* has the differences of each pair.

    Rows are expected calls, and columns are sent calls. If there are many calls, first make as many
    pairs without a difference as possible. Then pair each remaining call with the most similar call
    that is still free.
    """
    if max(rows, columns) > _MOST:
        return _most_right(rows, columns, table)
    many = max(rows, columns)
    orders = permutations(range(many))
    candidates = [
        [(i, j) for i, j in enumerate(order) if i < rows and j < columns] for order in orders
    ]
    return min(candidates, key=lambda pairs: sum(len(table[p]) for p in pairs))


def _most_right(
    rows: int, columns: int, table: Mapping[tuple[int, int], list[Problem]]
) -> list[tuple[int, int]]:
    right = most_pairs(rows, columns, lambda i, j: not table[i, j])
    free = [j for j in range(columns) if j not in set(right.values())]
    for i in range(rows):
        if free and i not in right:
            right[i] = min(free, key=lambda j: len(table[i, j]))
            free.remove(right[i])
    return sorted(right.items())
