"""What the commands about servers write: one JSON document on stdout, everything else on stderr."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from toolbench.cli.exit_codes import ExitCode
from toolbench.display.caps import shorten
from toolbench.display.escape import STYLE, on_one_line, visible, visible_json
from toolbench.errors import ConsentError, ServerError, ToolbenchError
from toolbench.redaction.detect import secrets_in_words
from toolbench.redaction.redactor import Redactor
from toolbench.values import plain

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession
    from toolbench.runs.run import Run

Outcome = tuple[ExitCode, Any]
"""How a command ended, and its JSON document; None if it has none."""
# Characters of a sentence, and of a line of a server
_LONGEST = 5_000


class CommandError(ToolbenchError):
    """The line of a command cannot be used."""


def say(text: str) -> None:
    """Write *text*, which is not trusted, to stderr."""
    sys.stderr.write(f"{shorten(visible(text), _LONGEST)}\n")


def answer_with(work: Callable[[], Outcome], words: Sequence[str]) -> ExitCode:
    """Do *work*, write its document to stdout, and return its exit code.

    A `ToolbenchError` becomes a sentence on stderr, in which secrets of *words*, the line, are hidden.
    """
    try:
        # `input` too asks on stderr then: stdout may be a pipe to jq
        with redirect_stdout(sys.stderr):
            code, document = work()
    except ToolbenchError as error:
        known: list[str] = []
        for _, secrets in secrets_in_words(words):
            known += secrets
        say(Redactor(known).sentence(str(error)))
        return code_of(error)
    if document is not None:
        _write_json(document)
    return code


def code_of(error: ToolbenchError) -> ExitCode:
    """Return the exit code for *error*."""
    if isinstance(error, ConsentError):
        return ExitCode.REFUSED
    if isinstance(error, ServerError):
        return ExitCode.CONNECTION
    return ExitCode.USAGE


def _write_json(document: Any) -> None:
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(plain(document), indent=2, ensure_ascii=not is_unicode)
    try:
        sys.stdout.write(f"{visible_json(text)}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Its reader has read enough, as `head` does; Python would complain when it flushes at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class ServerLines:
    """Writes to stderr what servers write to theirs, their logs, and the progress of a run.

    Call it in the main thread, now and then: it writes what is new.
    """

    def __init__(self, sessions: Iterable["MCPServerSession"]) -> None:
        """Begin with the first line of *sessions*."""
        self._sessions = list(sessions)
        self._run: Run | None = None
        self._progress = ""
        self._written: dict[tuple[str, str], int] = {}

    def __call__(self) -> None:
        """Write the new lines."""
        for session in self._sessions:
            for kind, lines in (("stderr", session.stderr), ("log", session.log)):
                before = self._written.get((session.name, kind), 0)
                total = self._written[session.name, kind] = lines.total
                for line in list(lines)[before - total :] if total > before else ():
                    self._say(session.name, str(line))
        if self._run is not None and self._run.progress_view.state.text != self._progress:
            self._progress = self._run.progress_view.state.text
            self._say(self._run.tool.name, self._progress)

    def follow(self, run: "Run") -> None:
        """Write the progress of *run* too, from now on."""
        self._run = run

    def _say(self, name: str, line: str) -> None:
        if line := on_one_line(STYLE.sub("", line)):
            say(f"{name}: {line}")
