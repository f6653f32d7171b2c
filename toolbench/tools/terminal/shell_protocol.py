"""What is said to the shell to have a command run, and how it answers.

Commands travel through a pipe, so that what is typed can never run as a command. A record of
how each ended comes back through another, and a random mark on the screen tells that all the
output before it has arrived.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from toolbench.tools.terminal.launch import RECORDS, SCREEN

SETUP = "set +o history; unset HISTFILE; PROMPT_COMMAND='{ PS1= PS2=; } 2>/dev/null'"

# One line to bash's parser, so it has read all of the command when it says that it begins.
_RUN = (
    "{{ {exports}\\builtin printf '%s\\0' {begun} >&{records}; }} 2>/dev/null; "
    "eval '{command}' <&{screen} {records}>&- {screen}>&-\n"
)
# The empty line: a broken quote leaves bash's parser in the middle of a word.
_REPORT = (
    '\n{{ \\builtin printf \'%s\\0\' {token} "$?" "$PWD" "${{!-}}" >&{records}; '
    "type -P python >&{records} || type -P python3 >&{records} || :; "
    "\\builtin printf '\\0' >&{records}; "
    "\\builtin printf '\\036%s\\036' {token} >&{screen}; }} 2>/dev/null\n"
)
_BEGUN = "+"  # before the token of a command that begins
_QUOTE = "'\\''"  # a quote inside quotes
# Of a record after its token: exit code, directory, newest background job, python.
_REST = rb"\0(\d+)\0([^\0]*)\0(\d*)\0([^\0]*)\0"


@dataclass(frozen=True)
class Ended:
    """How a command ended, and where that leaves the shell."""

    exit_code: int
    working_dir: str
    python: str
    job: int
    """The process id of the newest background job; -1 if there is none."""


def run(command: str, token: str, variables: Mapping[str, str]) -> str:
    """Return what has the shell run *command*, of any length and any number of lines.

    Args:
        command: What to run.
        token: Under which it reports that the command begins; see `Records.begun`.
        variables: What to set and export before.
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

    def begun(self, token: str) -> bool:
        """Tell whether the command of *token* has begun: an interrupt hits it from then on."""
        return f"{_BEGUN}{token}\0".encode() in self._data

    def take(self, token: str) -> Ended | None:
        """Return the newest record of *token* if one is complete; then forget all there was.

        A C-c cuts records short, so one is found by its token and not by counting parts.
        """
        of_token = rb"(?<!\%s)(?=%s%s)" % (_BEGUN.encode(), token.encode(), _REST)
        if not (records := list(re.finditer(of_token, self._data))):
            return None
        self._data = b""
        code, directory, job, python = records[-1].groups()
        which = os.fsdecode(python.partition(b"\n")[0])
        return Ended(int(code), os.fsdecode(directory), which, int(job or -1))
