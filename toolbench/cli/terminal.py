"""What the commands about servers write: one JSON document on stdout, everything else on stderr."""

import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolbench.cli.exit_codes import ExitCode
from toolbench.display.caps import shorten
from toolbench.display.escape import STYLE, on_one_line, visible, visible_json
from toolbench.errors import ConsentError, ServerError, ToolbenchError
from toolbench.values import plain

if TYPE_CHECKING:
    from toolbench.mcp.monitoring.log import ServerLog
    from toolbench.mcp.monitoring.stderr import StderrTail
    from toolbench.mcp.server_session import MCPServerSession

Outcome = tuple[ExitCode, Any]
"""The exit code of a command, and its JSON document (None if it has no document)."""
# Characters of a sentence, and of a line of a server
_LONGEST = 5_000


class CommandError(ToolbenchError):
    """The words or options of a command line are not valid."""


def say(text: str) -> None:
    """Write *text*, which is not trusted, to stderr."""
    sys.stderr.write(f"{shorten(visible(text), _LONGEST)}\n")


def code_of(error: ToolbenchError) -> ExitCode:
    """Return the exit code for *error*."""
    if isinstance(error, ConsentError):
        return ExitCode.REFUSED
    if isinstance(error, ServerError):
        return ExitCode.CONNECTION
    return ExitCode.USAGE


def write_json(document: Any) -> None:
    """Write *document* to stdout.

    Raises:
        CommandError: If stdout cannot be written to.
    """
    if sys.stdout is None:
        msg = "The result was not written: stdout is closed."
        raise CommandError(msg)
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(plain(document), indent=2, ensure_ascii=not is_unicode)
    try:
        sys.stdout.write(f"{visible_json(text)}\n")
        sys.stdout.flush()
    except OSError as error:
        # Python would complain when it flushes at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A closed pipe is no error: its reader has read enough, as `head` does
        if not isinstance(error, BrokenPipeError):
            msg = f"The result was not written: {error.strerror}."
            raise CommandError(msg) from None


class ServerLines:
    """Copies stderr and logs of servers, and the progress of a run, to this process's stderr."""

    def __init__(self, sessions: Sequence["MCPServerSession"]) -> None:
        """Begin with the first line of each of *sessions*."""
        self._sessions = sessions
        self._written: Counter[tuple[str, int]] = Counter()
        self._progress = ""

    def write(self) -> None:
        """Write what is new since the last time."""
        from toolbench.runs.current_run import active_run  # noqa: PLC0415 - loaded by now
        from toolbench.runs.run import Run  # noqa: PLC0415 - the same

        new = []
        for session in self._sessions:
            sources: tuple[StderrTail | ServerLog, ...] = (session.stderr, session.log)
            for kind, lines in enumerate(sources):
                count = lines.total - self._written[session.name, kind]
                self._written[session.name, kind] += count
                if count:
                    new += [(session.name, str(line)) for line in list(lines)[-count:]]
        run = active_run()
        if isinstance(run, Run) and run.progress_view.state.text != self._progress:
            self._progress = run.progress_view.state.text
            new.append((run.tool.name, self._progress))
        for name, line in new:
            if text := on_one_line(STYLE.sub("", line)):
                say(f"{name}: {text}")
