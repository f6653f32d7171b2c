"""What is said to the shell to have a command run, and how it answers.

Commands travel through a pipe, so that what is typed can never run as a command. A record of
how each ended comes back through another, and a random mark on the screen tells that all the
output before it has arrived.
"""

import os
from dataclasses import dataclass

from toolbench.tools.terminal.launch import RECORDS, SCREEN

SETUP = "set +o history; unset HISTFILE; PROMPT_COMMAND='{ PS1= PS2=; } 2>/dev/null'"

_RUN = "eval '{command}' <&{screen} {records}>&- {screen}>&-\n"
# The empty line: a broken quote leaves bash's parser in the middle of a word.
_REPORT = (
    '\n{{ \\builtin printf \'%s\\0\' {token} "$?" "$PWD" "${{!-}}" >&{records}; '
    "type -P python >&{records} || type -P python3 >&{records} || :; "
    "\\builtin printf '\\0' >&{records}; "
    "\\builtin printf '\\036%s\\036' {token} >&{screen}; }} 2>/dev/null\n"
)
_PARTS = 5  # of a record: token, exit code, directory, newest background job, python


@dataclass(frozen=True)
class Ended:
    """How a command ended, and where that leaves the shell."""

    exit_code: int
    working_dir: str
    python: str
    job: int
    """The process id of the newest background job; -1 if there is none."""


def run(command: str) -> str:
    """Return what has the shell run *command*, of any length and any number of lines."""
    quoted = command.replace("'", "'\\''")
    return _RUN.format(command=quoted, records=RECORDS, screen=SCREEN)


def report(token: str) -> str:
    """Return what has the shell report, under *token*, how the last command ended."""
    return _REPORT.format(token=token, records=RECORDS, screen=SCREEN)


def mark(token: str) -> bytes:
    """Return what the screen shows after all the output of the command of *token*."""
    return b"\x1e" + token.encode() + b"\x1e"


class Records:
    """The records of a shell, as their bytes come in."""

    def __init__(self) -> None:
        """Nothing has come yet."""
        self._data = b""

    def write(self, data: bytes) -> None:
        """Take in what came."""
        self._data += data

    def take(self, token: str) -> Ended | None:
        """Return the record of *token* if it is complete; those before it are forgotten."""
        *parts, _ = self._data.split(b"\0")
        for at in range(0, len(parts) - _PARTS + 1, _PARTS):
            of, code, directory, job, python = parts[at : at + _PARTS]
            if of == token.encode():
                self._data = b""
                where, which = os.fsdecode(directory), os.fsdecode(python.strip())
                return Ended(int(code), where, which, int(job or -1))
        return None
