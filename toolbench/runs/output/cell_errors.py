"""Change the errors that IPython shows for a cell.

Secrets of runs are hidden in tracebacks, in which IPython adds colours and cuts long values. An
interrupt of toolbench's work is one line.
"""

import re
import sys
from collections.abc import Callable
from traceback import format_exception
from typing import Any

from toolbench.redaction.matching.cut_secrets import CUTS
from toolbench.redaction.matching.noise import masked
from toolbench.redaction.redactor import Redactor
from toolbench.redaction.remembered_secrets import remembered
from toolbench.runs.output.exception_text import line_of_interrupt
from toolbench.runs.output.screen import Patches

_COLOUR = re.compile(rb"(\x1b\[[0-9;]*[A-Za-z])")


def hidden_in_traceback(redactor: Redactor, text: str) -> str:
    """Return *text*, a part of a traceback, with every secret replaced; colours stay.

    A secret is found even if colours change inside it. A beginning or end of a secret next to an
    ellipsis is found too.
    """
    pieces = _COLOUR.split(text.encode(errors="surrogatepass"))
    spans = redactor.spans(b"".join(pieces[::2]), cuts=CUTS)
    if not spans:
        return text
    return masked(pieces, spans).decode(errors="surrogatepass")


class CellErrors:
    """A filter of the errors that one shell shows.

    Tracebacks quote lines of source, and with `%xmode Verbose` also the values of variables.
    """

    def __init__(self, shell: Any) -> None:
        """Prepare for the IPython shell *shell*; only `begin` changes the shell."""
        self._shell = shell
        self._patches = Patches()

    def begin(self) -> None:
        """Change every error that the shell shows from now on."""
        # IPython's own method for subclasses that show the traceback elsewhere
        self._patches.put(self._shell, "_showtraceback", _showing)
        # IPython prints an exception group itself, without a call of that method
        self._patches.put(self._shell, "showtraceback", _showing_groups)

    def end(self) -> None:
        """Let the shell show errors as before."""
        self._patches.take_away()


def _showing(show: Callable[..., None]) -> Callable[..., None]:
    def show_without_secrets(kind: Any, error: Any, parts: list[str]) -> None:
        line = line_of_interrupt(error)
        if line is not None:
            parts = [line]
        redactor = remembered.redactor_of_cell
        if redactor:
            parts = [hidden_in_traceback(redactor, part) for part in parts]
            message = hidden_in_traceback(redactor, str(error))
            if message != str(error):
                # A kernel sends it beside the traceback, and the notebook keeps it
                error = Exception(message)
        show(kind, error, parts)

    return show_without_secrets


def _showing_groups(show: Callable[..., None]) -> Callable[..., None]:
    def show_groups_without_secrets(exc_tuple: Any = None, *args: Any, **options: Any) -> None:
        error = (exc_tuple or sys.exc_info())[1]
        redactor = remembered.redactor_of_cell
        if redactor and _is_group(error):
            text = "".join(format_exception(error))
            hidden = hidden_in_traceback(redactor, text)
            if hidden != text:
                sys.stderr.write(hidden)
                return
        show(exc_tuple, *args, **options)

    return show_groups_without_secrets


def _is_group(error: BaseException | None) -> bool:
    """Tell whether *error*, or an error that it followed, is a group."""
    while error is not None and not isinstance(error, BaseExceptionGroup):
        error = error.__context__
    return error is not None
