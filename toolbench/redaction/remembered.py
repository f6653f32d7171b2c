"""The secrets of the runs and servers so far, for what is told outside of a run."""

from collections.abc import Iterable
from threading import Lock

from toolbench.redaction.matching.secret_search import SHORTEST
from toolbench.redaction.redactor import NO_SECRETS, Redactor

LIMIT = 500
ROOM = 500_000  # characters


class RememberedSecrets:
    """Knows the secrets of all runs and servers; the newest of very many. Any thread may ask.

    Very short ones are left out: they stand in too much that has nothing to do with a run.
    """

    def __init__(self) -> None:
        """Know none yet."""
        self._lock = Lock()
        self.forget()

    def forget(self) -> None:
        """Know none any more."""
        self._newest: list[str] = []
        self.redactor = NO_SECRETS
        """Replaces them."""

    def add(self, secrets: Iterable[str]) -> None:
        """Remember *secrets*."""
        with self._lock:
            known = self.redactor.secrets
            new = [s for s in secrets if s not in known and SHORTEST <= len(s) <= ROOM]
            if new:
                self._newest = [*self._newest, *new][-LIMIT:]
                while sum(map(len, self._newest)) > ROOM:
                    del self._newest[0]
                self.redactor = Redactor(self._newest)


remembered = RememberedSecrets()
"""The secrets of this process."""
