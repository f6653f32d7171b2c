"""The language of all filters: those for runs, tables, reports, messages and logs.

    tool:lend method:tools/call error ms>500 "not found"

A row is shown if all terms hold. A term is a word or a quoted phrase in the row's text, or a
condition on one of its keys. If rows have a state, `error`, `failed` and `ok` are conditions on the
state. The page implements the same language (`frontend/src/rowfilter.ts`), for tables without a
kernel.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import eq, ge, gt, le, lt
from typing import Any

from toolbench.display.caps import shorten
from toolbench.display.cells import is_missing
from toolbench.display.escape import on_one_line
from toolbench.errors import FilterError, did_you_mean
from toolbench.values import number_in, str_of
from toolbench.wording import listed

LANGUAGE = 'words, "a phrase", error, key:text, key=1, key>5'
"""The filter language, in one line."""
PLACEHOLDER = f"Filter: {LANGUAGE}"
"""The placeholder of an empty filter field."""
STATE = "state"
"""The key of a row's state."""
STATES = {
    "ok": re.compile(r"(ok|succeeded|passed)\b"),
    "error": re.compile(r"(error|failed)\b"),
    "failed": re.compile(r"(error|failed)\b"),
}
"""For each state that a filter can name, the pattern that begins the state of matching rows."""
# Characters of a filter, and of a term in a message
_LONGEST, _SHOWN = 1_000, 60
# Keys in a message
_MOST = 30
_TERM = re.compile(r'"([^"]*)"|((?:[^\s"]|"[^"]*")+)')
_CONDITION = re.compile(r"(.+?)(:|!=|>=|<=|=|>|<)(.*)", re.DOTALL)
# Not `12:30`
_KEY = re.compile(r"[^\W\d][\w.-]*")
SIGNS: dict[str, Callable[[Any, Any], Any]] = {"=": eq, ">": gt, "<": lt, ">=": ge, "<=": le}
"""The comparison function of each sign. Its first argument is the value of the row."""
_FROM_RIGHT: dict[str, Callable[[Any, Any], Any]] = {"=": eq, ">": lt, "<": gt, ">=": le, "<=": ge}
_DIGITS = frozenset("0123456789-.")
# A duration as `wording.duration` writes it
_TIME = re.compile(r"(?:([\d,]+) min )?(\d+(?:\.\d+)?) (ms|s)", re.ASCII)
_UNITS = {"ms": 0.001, "s": 1}


def help_line(keys: Iterable[str]) -> str:
    """Return a line of help that explains filters, and names the *keys* of the rows."""
    return f"{LANGUAGE}; keys: {', '.join(keys)}"


@dataclass(frozen=True)
class Term:
    """One term of a filter."""

    key: str
    """The key whose value is compared; empty for a word that the text of a row must contain."""
    sign: str
    """`:` (contains), `=`, `!=`, `>`, `<`, `>=` or `<=`."""
    value: str
    """The text that a row's value is compared with, in lower case."""
    order: Sequence[str] = ()
    """The values of the key from lowest to highest, if its values are ordered words."""

    @cached_property
    def limit(self) -> int | float | None:
        """The value as a number; None if the value is not a number."""
        return number_in(self.value)

    @cached_property
    def equal(self) -> "Term":
        """The same term with the sign `=`. A term with `!=` holds if this one does not."""
        return replace(self, sign="=")

    @cached_property
    def fits_text(self) -> Callable[[str], Any]:
        """A function that tells whether a lower-case string fits the term.

        The sign must be neither `:` nor `!=`.
        """
        if self.key == STATE and self.value in STATES and self.sign == "=":
            return STATES[self.value].match
        return partial(_FROM_RIGHT[self.sign], self.value)

    def fits(self, own: object, cell: str) -> bool:
        """Tell whether the term holds for one value of a row.

        Values are compared as numbers if the term's value is a number, otherwise as strings.

        Args:
            own: The value that the row has for the key of the term.
            cell: The same value as lower-case text.
        """
        if self.sign == "!=":
            return not self.equal.fits(own, cell)
        if self.sign == ":":
            return self.value in cell
        if self.value in self.order and cell in self.order:
            ranks = self.order.index(cell), self.order.index(self.value)
            return bool(SIGNS[self.sign](*ranks))
        if self.limit is None:
            # Missing values have no order
            return bool(self.fits_text(cell)) and (self.sign == "=" or not is_missing(own))
        number = number_of(own, cell)
        if number is None:
            return self.sign == "=" and cell == self.value
        return bool(SIGNS[self.sign](number, self.limit))


class Filter:
    """A filter for rows, such as the rows of a log, parsed from text that the user typed.

    The text contains words, and conditions on keys of the rows, such as `ms>500`.

    Example:
        ```python
        only = Filter("tool:lend error ms>500", ("tool", "state", "ms"))
        shown = [row for row in rows if only.matches(row)]
        ```
    """

    def __init__(
        self, text: str, keys: Iterable[str], orders: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """Parse the filter *text*.

        Args:
            text: What the user typed. An empty string matches every row.
            keys: The keys of the rows, which the filter can use in conditions.
            orders: For each key whose values are ordered words, such as the levels of a log, these
                words from lowest to highest.

        Raises:
            FilterError: If *text* uses a key that the rows do not have.
        """
        self._keys = [plain(key) for key in keys if key]
        self._orders = orders or {}
        self.terms = [self._term(*found) for found in _TERM.findall(text[:_LONGEST])]
        """The terms, all of which must hold."""

    def _term(self, phrase: str, word: str) -> Term:
        condition = _CONDITION.fullmatch(word)
        if condition:
            name, sign, value = condition.groups()
            key = plain(name)
            if key in self._keys:
                value = value.replace('"', "").lower()
                if key == STATE and value in STATES and sign == ":":
                    sign = "="
                return Term(key, sign, value, self._orders.get(key, ()))
            # An address such as `https://...` is not a condition
            if _KEY.fullmatch(name) and not value.startswith("//"):
                raise FilterError(self._unknown(name, word))
        if word.lower() in STATES and STATE in self._keys:
            return Term(STATE, "=", word.lower())
        return Term("", ":", (phrase or word).lower())

    def _unknown(self, name: str, word: str) -> str:
        keys = "These rows have no keys."
        if self._keys:
            keys = f"Keys: {listed(self._keys, _MOST)}."
        near = did_you_mean(name, self._keys)
        shown = shorten(on_one_line(word.replace('"', "")), _SHOWN)
        return (
            f"No key is called {shorten(on_one_line(name), _SHOWN)!r}.{near} {keys} "
            f'To find the text itself, put it in quotes: "{shown}"'
        )

    def matches(self, row: Any) -> bool:
        """Tell whether all terms hold for *row*.

        A word must occur in the text of the row. A condition, such as `ms>500`, must hold for the
        value of its key. If this value is a tuple, the condition must hold for at least one item of
        the tuple; a condition with `!=` must hold for every item.

        Args:
            row: A string or an object. If it is an object, its attribute `searched` is the text of
                the row, and its method `value(key)` returns the value of a key.
        """
        return all(_holds(term, row) for term in self.terms)


def _holds(term: Term, row: Any) -> bool:
    if not term.key:
        text = row
        if not isinstance(row, str):
            text = row.searched
        return term.value in text.lower()
    values = row.value(term.key)
    if not isinstance(values, tuple):
        values = (values,)
    fits = (term.fits(value, _text(value).lower()) for value in values)
    if term.sign == "!=":
        return all(fits)
    return any(fits)


def _text(value: object) -> str:
    if value is None:
        return ""
    return str_of(value)


def number_of(own: object, cell: str) -> int | float | None:
    """Return *own* if it is a number, or the number that its text *cell* states; otherwise None."""
    if isinstance(own, int | float) and not isinstance(own, bool):
        return own
    if cell[:1] not in _DIGITS:
        return None
    time = _TIME.fullmatch(cell)
    if time is None:
        return number_in(cell)
    minutes, rest, unit = time.groups(default="0")
    return 60 * int(minutes.replace(",", "")) + float(rest) * _UNITS[unit]


def plain(name: str) -> str:
    """Return the key for a column called *name*: in lower case, with `_` for spaces."""
    return re.sub(r"\s+", "_", name.strip().lower())


def text_of(words: Sequence[str]) -> str:
    """Return *words* as the text of a filter, with quotes around each word that contains spaces."""
    terms = []
    for word in words:
        if '"' not in word and len(word.split()) > 1:
            word = f'"{word}"'
        terms.append(word)
    return " ".join(terms)
