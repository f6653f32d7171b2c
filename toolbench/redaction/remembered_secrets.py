"""The secrets of all runs and servers so far, to hide them outside runs too."""

from collections.abc import Iterable
from threading import Lock

from toolbench.redaction.matching.secret_search import SHORTEST, WORD
from toolbench.redaction.redactor import NO_SECRETS, Redactor

LIMIT = 500
# Characters
ROOM = 500_000


class RememberedSecrets:
    """A list of the newest secrets of all runs and servers; any thread may use the list.

    Short secrets, which are in too many other texts, are remembered only until the cell ends, for
    tracebacks and what comes from processes: there is no sign of the run that these belong to.
    """

    def __init__(self) -> None:
        """Make an empty list."""
        self._lock = Lock()
        self.forget()

    def forget(self) -> None:
        """Forget all secrets."""
        self._newest: list[str] = []
        self._short: list[str] = []
        self.redactor = NO_SECRETS
        """The redactor of all remembered secrets but short ones."""
        self.redactor_of_cell = NO_SECRETS
        """The redactor of all remembered secrets, and of the short ones of this cell."""

    def add(self, secrets: Iterable[str]) -> None:
        """Add *secrets* to the list; if the list is full, the oldest secrets are dropped."""
        with self._lock:
            known = self.redactor_of_cell.secrets
            new = [s for s in secrets if s not in known and SHORTEST <= len(s) <= ROOM]
            if not new:
                return
            long = [s for s in new if len(s) >= WORD]
            self._short = [*self._short, *(s for s in new if len(s) < WORD)][-LIMIT:]
            if long:
                self._newest = [*self._newest, *long][-LIMIT:]
                while sum(map(len, self._newest)) > ROOM:
                    del self._newest[0]
                self.redactor = Redactor(self._newest)
            self._renew()

    def end_cell(self) -> None:
        """Forget the short secrets."""
        with self._lock:
            self._short = []
            self._renew()

    def _renew(self) -> None:
        self.redactor_of_cell = self.redactor.including(self._short)


remembered = RememberedSecrets()
"""The remembered secrets of this process."""
