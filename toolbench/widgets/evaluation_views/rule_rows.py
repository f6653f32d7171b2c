"""The rules to compare the arguments of an expected call, one row for each argument."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ipywidgets as w

from toolbench.errors import CaseError
from toolbench.evals.match import RULES, TAKE_VALUE, FieldRule
from toolbench.widgets.kit.parts import Parts, show_if

_REST = "*"
_LABELS = {"approx": "Tolerance", "regex": "Pattern"}
_TIPS = {
    "approx": "relative, as 0.01; empty: 0.001",
    "regex": "empty: the expected value is the pattern",
}


class RuleRows:
    """The widgets for the rules of one case.

    They are a row for each argument, rows for paths inside arguments, and a checkbox
    for other arguments.
    """

    def __init__(self, parts: Parts, match: Mapping[str, Any], edited: Callable[[], None]) -> None:
        """Show the rules *match* in widgets that *parts* makes; *edited* is called after each change."""
        self._parts, self._edited = parts, edited
        self._rows: dict[str, _RuleRow] = {}
        self._paths: list[_PathRow] = []
        self._match = {path: rule for path, rule in match.items() if path != _REST}
        self._names: tuple[str, ...] = ()
        self._rest = parts.make(
            w.Checkbox,
            "toolbench-remember",
            value=_REST in match,
            description="Other arguments may be sent, too",
            indent=False,
        )
        self._rest.observe(lambda _: edited(), "value")
        self._add = parts.button("Compare a part", tip="Say how a part of an argument is compared")
        self._add.on_click(lambda _: self._add_path("", "approx"))
        self.widget = parts.column()

    def show(self, names: Iterable[str]) -> None:
        """Show a row for each of the arguments *names*. The rules that a person chose before stay."""
        self._names = tuple(dict.fromkeys(names))
        for name in self._names:
            if name not in self._rows:
                rule = self._match.pop(name, "equal")
                row = _RuleRow(self._parts, f"Compare {name}", rule, self._edited)
                self._rows[name] = row
        # The paths inside arguments
        for path in list(self._match):
            self._add_path(path, self._match.pop(path))
        self._arrange()

    def _add_path(self, path: str, rule: Any) -> None:
        self._paths.append(_PathRow(self._parts, path, rule, self._edited))
        self._arrange()

    def _arrange(self) -> None:
        rows = [self._rows[name].widget for name in self._names]
        paths = [row.widget for row in self._paths]
        more = [self._add, self._rest] if self._names else []
        self.widget.children = [*rows, *paths, *more]

    @property
    def match(self) -> dict[str, Any]:
        """The rules, as a dict that the parameter `match` of `Case` accepts.

        Raises:
            CaseError: If a rule cannot be used, or a path is not a part of an argument.
        """
        rules = {name: self._rows[name].rule for name in self._names}
        for row in self._paths:
            if row.path:
                rules[row.path] = row.rule
        if self._rest.value and self._names:
            rules[_REST] = "any"
        return {path: rule for path, rule in rules.items() if rule != "equal"}

    def may_lack(self, name: str) -> bool:
        """Tell whether the argument *name* needs no expected value under its present rule."""
        if self._rest.value:
            return True
        try:
            return name in self._rows and not self._rows[name].needs_value
        except CaseError:
            # The person sees this error when the case is made
            return False


class _RuleRow:
    """A row of widgets to choose one rule, with a field for the rule's value if it takes a value."""

    def __init__(self, parts: Parts, label: str, rule: Any, edited: Callable[[], None]) -> None:
        read = FieldRule.of(rule)
        self._kind = parts.chooser(label, [*RULES])
        self._kind.value = read.kind
        is_text = isinstance(read.value, str) or read.value is None
        text = (read.value or "") if is_text else json.dumps(read.value)
        self._value = parts.make(w.Text, "toolbench-field", value=text)
        self._kind.observe(lambda _: self._changed(edited), "value")
        self._value.observe(lambda _: edited(), "value")
        self._label = label
        self._follow()
        self.widget = parts.row(self._kind, self._value)

    def _changed(self, edited: Callable[[], None]) -> None:
        self._follow()
        edited()

    def _follow(self) -> None:
        kind = self._kind.value
        show_if(self._value, is_shown=kind in TAKE_VALUE)
        about = self._label.removeprefix("Compare ")
        self._value.description = f"{_LABELS.get(kind, 'Value')} of {about}"
        self._value.placeholder = _TIPS.get(kind, "")

    @property
    def rule(self) -> Any:
        kind, text = self._kind.value, self._value.value
        if kind not in TAKE_VALUE or not text:
            return kind
        return {kind: text if kind == "regex" else _number(text)}

    @property
    def needs_value(self) -> bool:
        return FieldRule.of(self.rule).needs_expected


class _PathRow(_RuleRow):
    """A row for a rule that compares a part of an argument. A person types the path of the part."""

    def __init__(self, parts: Parts, path: str, rule: Any, edited: Callable[[], None]) -> None:
        super().__init__(parts, "Compare this part", rule, edited)
        self._path = parts.make(
            w.Text,
            "toolbench-field",
            value=path,
            description="Path of the part",
            placeholder="guest.name, items[].price",
        )
        self._path.observe(lambda _: edited(), "value")
        self.widget = parts.row(self._path, self._kind, self._value)

    @property
    def path(self) -> str:
        text: str = self._path.value
        return text.strip()


def _number(text: str) -> Any:
    """Return the JSON value of *text*, or *text* itself if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text
