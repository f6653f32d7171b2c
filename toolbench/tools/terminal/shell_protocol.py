"""The texts that are sent to the shell to run a command, and the records that the shell sends back.

Commands are sent through a pipe, so typed input can never run as a command. At the end of each
command, the shell writes a record to another pipe. It also prints a random mark on the screen: when
the mark arrives, all output of the command has arrived.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from toolbench.tools.terminal.launch import RECORDS, SCREEN

SETUP = "set +o history; unset HISTFILE; PROMPT_COMMAND='{ PS1= PS2=; } 2>/dev/null'"

# One line, so when bash reports the beginning of a command, it has read the whole command.
_RUN = (
    "{{ {exports}\\builtin printf '%s\\0' {begun} >&{records}; }} 2>/dev/null; "
    "eval '{command}' <&{screen} {records}>&- {screen}>&-\n"
)
# It begins with an empty line, because a broken quote may leave bash's parser inside a word.
_REPORT = (
    '\n{{ \\builtin printf \'%s\\0\' {token} "$?" "$PWD" "${{!-}}" >&{records}; '
    "type -P python >&{records} || type -P python3 >&{records} || :; "
    "\\builtin printf '\\0' >&{records}; "
    "\\builtin printf '\\036%s\\036' {token} >&{screen}; }} 2>/dev/null\n"
)
# Is written before the token of a command that begins
_BEGUN = "+"
# A quote inside quotes
_QUOTE = "'\\''"
# A record after its token: exit code, directory, newest background job, python.
_REST = rb"\0(\d+)\0([^\0]*)\0(\d*)\0([^\0]*)\0"


@dataclass(frozen=True)
class Ended:
    """The record of the end of a command: its exit code, and the state of the shell after it."""

    exit_code: int
    working_dir: str
    python: str
    job: int
    """The process id of the newest background job; -1 if there is none."""


def run(command: str, token: str, variables: Mapping[str, str]) -> str:
    """Return the text that makes the shell run *command*, which may have many lines.

    Args:
        command: The command.
        token: The token that the shell writes when the command begins; see `Records.begun`.
        variables: The variables to set and export before the command.
    """
    words = " ".join(f"{name}={_quoted(text)}" for name, text in variables.items())
    return _RUN.format(
        exports=f"\\builtin export {words}; " if words else "",
        begun=_BEGUN + token,
        command=command.replace("'", _QUOTE),
        records=RECORDS,
        screen=SCREEN,
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", _QUOTE) + "'"


def report(token: str) -> str:
    """Return the text that makes the shell write the record of the last command's end, with *token*."""
    return _REPORT.format(token=token, records=RECORDS, screen=SCREEN)


def mark(token: str) -> bytes:
    """Return the bytes that the shell prints after all output of the command with *token*."""
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
        """Tell whether the command with *token* has begun; only then does an interrupt reach it."""
        return f"{_BEGUN}{token}\0".encode() in self._data

    def take(self, token: str) -> Ended | None:
        """Return the newest complete record with *token*, and drop all data so far.

        If there is no such record, return None and drop nothing. A C-c may cut a record, so a
        record is recognised by its token, and not by counting parts.
        """
        of_token = rb"(?<!\%s)(?=%s%s)" % (_BEGUN.encode(), token.encode(), _REST)
        if not (records := list(re.finditer(of_token, self._data))):
            return None
        self._data = b""
        code, directory, job, python = records[-1].groups()
        which = os.fsdecode(python.partition(b"\n")[0])
        return Ended(int(code), os.fsdecode(directory), which, int(job or -1))
