"""argparse for magics: a mistake is one line in the notebook, never the end of the kernel."""

import argparse
import keyword
import math
import shlex
from collections.abc import Sequence
from typing import Any, NoReturn

from IPython.core.error import UsageError


class HelpWanted(Exception):  # noqa: N818 - no error: the line asks for help
    """Raised by `--help`, in place of what argparse does: print, and exit."""


class _Option(argparse.Action):
    """An option with a value. A second one would take the place of the first in silence."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep *values*, if they are the first.

        Raises:
            UsageError: If they are not, or if they are empty.
        """
        if option_string is not None:
            if getattr(namespace, self.dest, self.default) != self.default:
                parser.error(f"{option_string} stands there twice: leave one out")
            if values == "":
                parser.error(
                    f"{option_string} has no value: give it one or leave it out"
                )
        setattr(namespace, self.dest, values)


class LineParser(argparse.ArgumentParser):
    """Parses the line of a magic; what it raises is a UsageError.

    Its `prog` has no percent sign: argparse formats with those.
    """

    def __init__(
        self, *args: Any, mark: str = "%", examples: Sequence[str] = (), **kwargs: Any
    ) -> None:
        """Parse for a magic that is called with *mark*, as in *examples*; the rest is argparse's."""
        super().__init__(*args, **kwargs)
        self.register("action", None, _Option)
        self.mark = mark
        self.examples = tuple(examples)

    def help_text(self) -> str:
        """Return the help, as the docstring of the magic."""
        text = self.format_help().replace("usage: ", f"usage: {self.mark}", 1)
        if not self.examples:
            return text
        return "\n".join(
            [text, "examples:", *(f"  {line}" for line in self.examples), ""]
        )

    def error(self, message: str) -> NoReturn:
        """Raise *message* and how the magic is used."""
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        msg = f"{message}. Usage: {self.mark}{usage}"
        raise UsageError(msg)

    def print_help(self, file: Any = None) -> NoReturn:
        """Stop parsing: `--help` was asked for."""
        raise HelpWanted(self.help_text())

    def parse_line(self, line: str) -> argparse.Namespace:
        """Parse *line*, quoted as in a shell; options may stand anywhere."""
        words = split(line)
        if self._subparsers is not None:  # argparse cannot mix these two
            return self.parse_args(words)
        return self.parse_intermixed_args(words)


def parsed(parser: LineParser, line: str) -> argparse.Namespace | None:
    """Return what *line* says; None after help was asked for and printed."""
    try:
        return parser.parse_line(line)
    except HelpWanted as help_text:
        print(help_text)  # noqa: T201 - in the cell that asked
        return None


def variable(text: str) -> str:
    """Read the name of a variable.

    Raises:
        UsageError: If Python has no variables of that name.
    """
    if not text.isidentifier() or keyword.iskeyword(text):
        msg = f"{text!r} cannot be the name of a variable: take another."
        raise UsageError(msg)
    return text


def seconds(text: str) -> float:
    """Read a time limit.

    Raises:
        UsageError: If it is no number above 0.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        msg = f"A timeout is a number of seconds above 0, not {text!r}."
        raise UsageError(msg)
    return value


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
