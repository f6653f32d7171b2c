"""The secrets of all runs and servers so far, to hide them outside runs too."""

from collections.abc import Iterable
from threading import Lock

from toolbench.redaction.matching.secret_search import SHORTEST
from toolbench.redaction.redactor import NO_SECRETS, Redactor

LIMIT = 500
# Characters
ROOM = 500_000


class RememberedSecrets:
    """A list of the newest secrets of all runs and servers; any thread may use the list.

    Very short secrets are left out: they are in too many other texts.
    """

    def __init__(self) -> None:
        """Make an empty list."""
        self._lock = Lock()
        self.forget()

    def forget(self) -> None:
        """Forget all secrets."""
        self._newest: list[str] = []
        self.redactor = NO_SECRETS
        """The redactor of all remembered secrets."""

    def add(self, secrets: Iterable[str]) -> None:
        """Add *secrets* to the list; if the list is full, the oldest secrets are dropped."""
        with self._lock:
            known = self.redactor.secrets
            new = [s for s in secrets if s not in known and SHORTEST <= len(s) <= ROOM]
            if new:
                self._newest = [*self._newest, *new][-LIMIT:]
                while sum(map(len, self._newest)) > ROOM:
                    del self._newest[0]
                self.redactor = Redactor(self._newest)


remembered = RememberedSecrets()
"""The remembered secrets of this process."""
