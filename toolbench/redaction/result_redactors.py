"""What to hide of results that a caller has as they are, where they are shown."""

from collections.abc import Callable
from typing import Any
from weakref import ref

from toolbench.redaction.redactor import Redactor


class Results:
    """Knows by which redactor a result is shown, for as long as there is that object."""

    def __init__(self) -> None:
        """Know none yet."""
        self._known: dict[int, tuple[ref[Any], Redactor]] = {}  # by the ids of results

    def __len__(self) -> int:
        """How many results are known."""
        return len(self._known)

    def show(self, result: Any, redactor: Redactor) -> None:
        """Have *result* shown without what *redactor* knows."""
        if redactor:
            more = redactor.including(self.redactor_of(result).secrets)
            self._known[id(result)] = ref(result, self._forgetting(id(result))), more

    def forget(self, result: Any) -> None:
        """Have *result* shown as it is: it holds nothing that is to be hidden."""
        self._known.pop(id(result), None)

    def redactor_of(self, result: Any) -> Redactor:
        """Return what hides secrets where *result* is shown."""
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
