"""The field for a filter in the language of `toolbench.display.filter`."""

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as w

from toolbench.display.escape import Html
from toolbench.display.filter import PLACEHOLDER, Filter, help_line
from toolbench.display.page import notice
from toolbench.errors import FilterError
from toolbench.widgets.kit.parts import Parts, put


class FilterField:
    """A field in which the user types a filter for rows.

    If the filter is not valid, the error is shown below the field, and no row matches.
    """

    def __init__(
        self,
        parts: Parts,
        label: str,
        keys: Sequence[str],
        *,
        orders: Mapping[str, Sequence[str]] | None = None,
        value: str = "",
    ) -> None:
        """Make the field with the initial text *value*. For *keys* and *orders* see `Filter`."""
        self._keys, self._orders = keys, orders
        self._problem = parts.html()
        self.text: Any = parts.make(
            w.Text,
            "toolbench-field",
            description=label,
            placeholder=PLACEHOLDER,
            tooltip=help_line(keys),
            value=value,
        )
        """The field itself, which the caller observes."""
        field = parts.row(self.text, kind="toolbench-filters")
        self.widget = parts.column(field, self._problem)
        self._filter: Filter | None = None
        self._read()
        # Registered before the observers of the caller
        self.text.observe(lambda _: self._read(), "value")

    def _read(self) -> None:
        problem = Html("")
        try:
            self._filter = Filter(self.text.value, self._keys, self._orders)
        except FilterError as error:
            self._filter, problem = None, notice(str(error), "warning")
        put(self._problem, problem)

    def matches(self, row: Any) -> bool:
        """Tell whether *row* matches the text; see `Filter.matches`."""
        return self._filter is not None and self._filter.matches(row)
