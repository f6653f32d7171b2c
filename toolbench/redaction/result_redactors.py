"""The redactors for views of results: a caller gets the real result, but its views hide secrets."""

from collections.abc import Callable
from typing import Any
from weakref import ref

from toolbench.redaction.redactor import Redactor


class Results:
    """A table of the redactor for each result, for as long as the result exists."""

    def __init__(self) -> None:
        """Start without results."""
        self._known: dict[int, tuple[ref[Any], Redactor]] = {}  # by the ids of results

    def __len__(self) -> int:
        """Return the number of results."""
        return len(self._known)

    def show(self, result: Any, redactor: Redactor) -> None:
        """Hide the secrets of *redactor* wherever *result* is shown."""
        if redactor:
            more = redactor.including(self.redactor_of(result).secrets)
            self._known[id(result)] = ref(result, self._forgetting(id(result))), more

    def forget(self, result: Any) -> None:
        """Show *result* unchanged: it has no secrets."""
        self._known.pop(id(result), None)

    def redactor_of(self, result: Any) -> Redactor:
        """Return the redactor for the views of *result*."""
        there, redactor = self._known.get(id(result), (None, _NOTHING))
        return redactor if there is not None and there() is result else _NOTHING

    def _forgetting(self, key: int) -> Callable[[Any], None]:
        known = self._known

        def forget(value: Any) -> None:
            if key in known and known[key][0] is value:
                del known[key]

        return forget


_NOTHING = Redactor()
results = Results()
"""The results of this process."""
