"""The code that makes the shell run a command, and the records that the shell sends back.

Commands are sent through a pipe, so typed input can never run as a command. At the end of each
command, the shell writes a record to another pipe.

A command can redefine builtins, prompts and traps, so the shell must write records without a
builtin. It evaluates `((...))` with the record inside. A record is not valid arithmetic, so bash
prints it in an error message. Between two commands, the shell's stdout and stderr are /dev/null, to
hide prompts, the output of PROMPT_COMMAND, and the code that `set -v` prints. The DEBUG and ERR
traps are removed after each command, and set again at the beginning of the next.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolbench.tools.terminal.launch import RECORDS, SCREEN, STDERR, STDOUT

SETUP = "set +o history; unset HISTFILE"

# Write a part of a record. The second half makes it succeed, for `set -e` and ERR.
_WRITE = f"((/{{token}}{{part}})) >&{RECORDS} 2>&{RECORDS} || ((1)) >/dev/null 2>&1"
_BEGUN, _STATE, _TRAPS, _OVER = "+", " $? ${!-} ${PWD-}", "=", "-"
# One line, so when bash reports the beginning of a command, it has read the whole command.
_RUN = (
    "\\exec >/dev/null 2>&1; {exports}{begun}; "
    f"{{{{ \\builtin eval '{{command}}' <&{SCREEN}"
    f" {SCREEN}>&- {RECORDS}>&- {STDOUT}>&- {STDERR}>&-; {{state}}; {{keep}}; }}}}"
    f" >&{STDOUT} 2>&{STDERR}\n"
)
# Save the streams, which the command may have changed with `exec`, and the traps. Report jobs that
# have ended, as bash does before a prompt; the first `jobs` discards those that have begun. The
# DEBUG trap is set again last, because it would run while the ERR trap is set.
_KEEP = (
    f"{{{{ \\exec {STDOUT}>&50 {STDERR}>&51; \\builtin jobs -nr; \\builtin jobs -n >&51; "
    f"\\builtin trap -p ERR DEBUG >&{RECORDS}; \\builtin trap - DEBUG ERR; {{traps}}; }}}}"
    " 51>&2 2>/dev/null 50>&1 >&2"
)
# It begins with an empty line, because a broken quote may leave bash's parser inside a word.
_REPORT = (
    f"\n{{state}}; \\builtin type -P python >&{RECORDS} || \\builtin type -P python3 >&{RECORDS}; "
    "{over}\n"
)
# A quote inside quotes
_QUOTE = "'\\''"


@dataclass(frozen=True)
class Ended:
    """The record of the end of a command: its exit code, and the state of the shell after it."""

    exit_code: int
    working_dir: str
    python: str
    job: int
    """The process id of the newest background job; -1 if there is none."""
    traps: str = ""
    """The commands that set the DEBUG and ERR traps again."""


def run(command: str, token: str, variables: Mapping[str, str], traps: str = "") -> str:
    """Return the code that makes the shell run *command*, which may have many lines.

    Args:
        command: The command.
        token: A unique string that the shell writes when the command begins and when it ends. It
            shows that a record belongs to this command.
        variables: The variables to set and export before the command.
        traps: Shell commands that restore the traps of earlier commands.
    """
    words = " ".join(f"{name}={_quoted(text)}" for name, text in variables.items())
    return _RUN.format(
        exports=f"\\builtin export {words}; " if words else "",
        begun=_written(token, _BEGUN),
        command=(traps + command).replace("'", _QUOTE),
        state=_written(token, _STATE),
        keep=_KEEP.format(traps=_written(token, _TRAPS)),
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", _QUOTE) + "'"


def _written(token: str, part: str) -> str:
    """Return the code that makes the shell write *part* of the record with *token*."""
    if part == _STATE:
        # A directory may have any name, so the token is also its end
        part += f"/{token}"
    return _WRITE.format(token=token, part=part)


def report(token: str) -> str:
    """Return the code that makes the shell report the end of the last command, with *token*."""
    return _REPORT.format(state=_written(token, _STATE), over=_written(token, _OVER))


def mark(token: str) -> bytes:
    """Return the bytes to write on the screen after all output of the command with *token*."""
    return b"\x1e" + token.encode() + b"\x1e"


class Records:
    """A parser of the records in the bytes that the shell writes."""

    def __init__(self) -> None:
        """Make a parser without data."""
        self._data = b""

    def write(self, data: bytes) -> None:
        """Add *data*, which the shell wrote."""
        self._data += data

    def begun(self, token: str) -> bool:
        """Tell whether the command with *token* has begun. Before that, no interrupt reaches it."""
        return f"/{token}{_BEGUN}".encode() in self._data

    def take(self, token: str) -> Ended | None:
        """Return the record with *token*, and delete all data that was added before.

        If there is no such record, or if it is incomplete, return None and delete nothing.
        """
        # The shell writes its state twice, because a C-c may cut a record short. The first copy has
        # the exit code of the command.
        key = f"/{token}".encode()
        # Before another part of a record, the token is not the end of a directory
        pattern = rb"%s (\d+) (\d*) ((?:(?!%s).)*)%s(?![+=-]| \d)" % (key, key, key)
        states = list(re.finditer(pattern, self._data, re.DOTALL))
        over = self._data.find(key + _OVER.encode())
        if not states or over < states[0].end():
            return None
        code, job, directory = states[0].groups()
        python = self._before(over, states).partition("\n")[0]
        traps = self._before(self._data.find(key + _TRAPS.encode()), states)
        if not traps.startswith("trap -- "):
            # There is no builtin trap any more, and this is another text
            traps = ""
        self._data = b""
        return Ended(int(code), os.fsdecode(directory), python, int(job or -1), traps)

    def _before(self, end: int, states: Sequence[re.Match[bytes]]) -> str:
        """Return the complete lines before *end* that follow the last of *states*."""
        starts = [state.end() for state in states if state.end() <= end]
        _, _, text = self._data[max(starts, default=end) : end].partition(b"\n")
        return os.fsdecode(text[: text.rfind(b"\n") + 1])
