"""Hide the secrets of runs in the tracebacks that IPython shows for a cell."""

from collections.abc import Callable
from typing import Any

from toolbench.redaction.remembered_secrets import remembered
from toolbench.redaction.tracebacks import hidden_in_traceback
from toolbench.runs.output.patches import Patches


class CellErrors:
    """A filter that hides secrets in the tracebacks that one shell shows.

    Tracebacks quote lines of source, and with `%xmode Verbose` also the values of variables.
    """

    def __init__(self, shell: Any) -> None:
        """Prepare for *shell*; `begin` changes it."""
        self._shell = shell
        self._patches = Patches()

    def begin(self) -> None:
        """Hide secrets in every error that the shell shows from now on."""
        # IPython's own place for "put the traceback on a different place"
        self._patches.put(self._shell, "_showtraceback", _showing)

    def end(self) -> None:
        """Let the shell show errors as before."""
        self._patches.take_away()


def _showing(show: Callable[..., None]) -> Callable[..., None]:
    def show_without_secrets(kind: Any, error: Any, parts: list[str]) -> None:
        redactor = remembered.redactor
        if redactor:
            parts = [hidden_in_traceback(redactor, part) for part in parts]
        show(kind, error, parts)

    return show_without_secrets
