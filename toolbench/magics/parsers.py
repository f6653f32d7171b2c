"""argparse for magics: a mistake is one line in the notebook, never the end of the kernel."""

import argparse
import shlex
from typing import NoReturn

from IPython.core.error import UsageError


class HelpWanted(Exception):  # noqa: N818 - no error: somebody asked for help
    """Raised in place of argparse's exit after `--help`."""


class LineParser(argparse.ArgumentParser):
    """Parses the line of a magic; what it raises is a UsageError.

    Its `prog` has no percent sign: argparse formats with those.
    """

    def help_text(self) -> str:
        """Return the help, as the docstring of the magic."""
        return self.format_help().replace("usage: ", "usage: %", 1)

    def error(self, message: str) -> NoReturn:
        """Raise *message* and how the magic is used."""
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        msg = f"{message}. Usage: %{usage}"
        raise UsageError(msg)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Stop parsing: `--help` was asked for."""
        raise HelpWanted(message or self.help_text())

    def parse_line(self, line: str) -> argparse.Namespace:
        """Parse *line*, quoted as in a shell; options may stand anywhere."""
        words = split(line)
        if self._subparsers is not None:  # argparse cannot mix these two
            return self.parse_args(words)
        return self.parse_intermixed_args(words)


def split(line: str) -> list[str]:
    """Split *line* as a shell would.

    Raises:
        UsageError: If a quotation is not closed.
    """
    try:
        return shlex.split(line)
    except ValueError as error:
        msg = (
            f"{error} in {line!r}: close the quotation, or write the arguments as JSON."
        )
        raise UsageError(msg) from None
