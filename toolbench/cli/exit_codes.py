"""The exit codes of `toolbench`: one table for all commands, their help and the documents."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit code of a command, which says how the command ended."""

    OK = 0
    FAILED = 1
    USAGE = 2
    CONNECTION = 3
    REFUSED = 4
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.OK: "success",
    ExitCode.FAILED: "a tool or a server answered with an error, or a check failed",
    ExitCode.USAGE: "the command or its input is invalid: an unknown name, wrong arguments, a file",
    ExitCode.CONNECTION: "a server cannot be reached, or the connection broke",
    ExitCode.REFUSED: "not run: consent or the approval of a configuration is missing",
    ExitCode.INTERRUPTED: "interrupted by Ctrl+C",
}
"""What each code means."""


def table() -> str:
    """Return the table of the codes as lines of Markdown."""
    lines = [f"- {code.value}: {meaning}" for code, meaning in MEANINGS.items()]
    return "\n".join(lines)
