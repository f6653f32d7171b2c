"""Parse the line of a magic: its options, by argparse, and the JSON inside it.

A mistake raises an error of one line and does not end the kernel.
"""

import argparse
import keyword
import math
import re
import shlex
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import wraps
from json import JSONDecodeError, JSONDecoder
from typing import Any, NoReturn, TypeVar

from IPython.core import error

from toolbench.errors import did_you_mean
from toolbench.redaction.detect import secrets_in_words
from toolbench.redaction.names import is_secret_argument
from toolbench.redaction.redactor import Redactor

_VALUE = re.compile(r"(?:^|(?<=\s))[\w.\-]+=(?=[\[{])")
_NO_COMMAND = re.compile(
    r"argument COMMAND: invalid choice: '(?P<word>[^']*)' \(choose from (?P<known>.*)\)"
)
# A broken value, followed by text that cannot be the next word of the line
_GOES_ON = re.compile(r"\S+\s+(?!-|\{|[\w.\-]+=)\S")
# A quotation, or a backslash with what it escapes; or one that escapes nothing
_BACKSLASH = re.compile(r"""'[^']*'?|"(?:\\.|[^"\\])*"?|\\[\s'"\\]|(?P<bare>\\)""", re.DOTALL)


def quote_json(line: str) -> str:
    """Return *line* with each JSON value in `key=[...]` and `key={...}` quoted as one word.

    Raises:
        UsageError: If such a value is not JSON, and text that is no other word follows it.
    """
    done, rest = [], 0
    for match in _VALUE.finditer(line):
        start, value = match.span()
        if start < rest or _is_quoted(line[rest:start]):
            continue
        end = _end_of_json(line, value)
        if end is not None and line[end : end + 1].strip() == "":
            done += [line[rest:start], shlex.quote(line[start:end])]
            rest = end
        elif end is None and _GOES_ON.match(line, value):
            raise UsageError(_what_is_wrong(line[start : value - 1], line[value:]))
    return "".join([*done, line[rest:]])


def _what_is_wrong(name: str, text: str) -> str:
    reason = "it is too deep"
    try:
        JSONDecoder().raw_decode(text)
    except JSONDecodeError as error:
        reason = f"{error.msg}, at {text[error.pos :][:30]!r}"
    except RecursionError:
        pass
    return f"The value of {name} is not JSON: {reason}."


def cut_json(line: str) -> tuple[str, str | None]:
    """Return *line* without its JSON object, and the object, which is None if there is none.

    A value of `key={...}` is not cut.
    """
    start = _start_of_json(line)
    if start is None:
        return line, None
    end = _end_of_json(line, start)
    # Broken JSON: the caller reads it and raises
    if end is None:
        closing = line.rfind("}")
        end = closing + 1 if closing > start else len(line)
    return f"{line[:start]} {line[end:]}", line[start:end]


def open_json(line: str) -> str | None:
    """Return the JSON object that begins in *line* but does not end; None if there is none."""
    start = _start_of_json(line)
    if start is None or _end_of_json(line, start) is not None:
        return None
    return line[start:]


def _start_of_json(line: str) -> int | None:
    """Return the index of the first `{` after a blank and outside of quotations, or None."""
    start = line.find(" {")
    while start >= 0 and _is_quoted(line[:start]):
        start = line.find(" {", start + 2)
    return None if start < 0 else start + 1


def _end_of_json(line: str, start: int) -> int | None:
    try:
        _, end = JSONDecoder().raw_decode(line, start)
    except (ValueError, RecursionError):
        return None
    return end


def _is_quoted(head: str) -> bool:
    """Tell whether a quotation is still open at the end of *head*."""
    try:
        split(head)
    except UsageError:
        return True
    return False


class UsageError(error.UsageError):
    """A line is wrong. This is an error of its cell, which papermill and nbclient report too.

    What they do not read is stderr, to which IPython writes the usage errors of its own class.
    """

    def _render_traceback_(self) -> list[str]:
        """Return only the message, for IPython: a traceback would not help."""
        return [f"UsageError: {self}"]


class HelpWanted(Exception):  # noqa: N818 - no error: the line asks for help
    """Raised with the help text if a line has `--help`; argparse itself would print and exit."""


class _Option(argparse.Action):
    """An option with a value. The same option twice is an error; argparse would ignore the first."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Store *values*, the value of the option.

        Raises:
            UsageError: If the option was given before, or if its value is empty.
        """
        if option_string is not None:
            if getattr(namespace, self.dest, self.default) != self.default:
                parser.error(f"{option_string} is there twice: leave one out")
            if values == "":
                parser.error(f"{option_string} has no value: add a value, or leave the option out")
        setattr(namespace, self.dest, values)


class LineParser(argparse.ArgumentParser):
    """A parser for the line of a magic. A wrong line raises a UsageError.

    The attribute `prog` has no percent sign, because argparse uses this sign for
    formats.
    """

    def __init__(
        self, *args: Any, mark: str = "%", examples: Sequence[str] = (), **kwargs: Any
    ) -> None:
        """Make a parser for a magic that begins with *mark*; the help text ends with *examples*."""
        self.lists: list[str] = []
        """The options whose value is a list of names."""
        super().__init__(*args, **kwargs)
        self.register("action", None, _Option)
        self.mark = mark
        self.examples = tuple(examples)

    def add_list(self, option: str, help_text: str) -> None:
        """Add *option*, whose value is a list of names with commas between them."""
        self.lists.append(option)
        self.add_argument(option, metavar="A,B", type=listed_names, help=help_text)

    @property
    def commands(self) -> Mapping[str, "LineParser"]:
        """The parsers of the sub-commands by their names; empty if there are none."""
        for argument in self._actions:
            if isinstance(argument, argparse._SubParsersAction):
                return argument.choices
        return {}

    @property
    def long_options(self) -> list[str]:
        """The options as they are written in full; `--help` is the last."""
        names = [action.option_strings[-1] for action in self._actions if action.option_strings]
        names.append(names.pop(0))
        return names

    @property
    def value_options(self) -> list[str]:
        """The options that have a value, in all their writings."""
        return [name for name, action in self._option_string_actions.items() if action.nargs != 0]

    def positional_words(self, words: Sequence[str]) -> list[str]:
        """Return those of *words* that are neither options nor values of options."""
        found: list[str] = []
        is_value = False
        for word in words:
            if is_value:
                is_value = False
            elif word in self.value_options:
                is_value = True
            elif not word.startswith("-"):
                found.append(word)
        return found

    def argument_after(self, words: Sequence[str]) -> argparse.Action | None:
        """Return the argument to which the next word after *words* belongs; None if there is none.

        It is the option before that has no value yet, or else a positional argument.
        """
        if words and words[-1] in self.value_options:
            return self._option_string_actions[words[-1]]
        left = [argument for argument in self._actions if not argument.option_strings]
        for _ in self.positional_words(words):
            if left and left[0].nargs != "*":
                del left[0]
        return next(iter(left), None)

    def help_text(self) -> str:
        """Return the help text of the magic, which is also the docstring of the magic."""
        text = self.format_help().replace("usage: ", f"usage: {self.mark}", 1)
        if not self.examples:
            return text
        return "\n".join([text, "examples:", *(f"  {line}" for line in self.examples), ""])

    def error(self, message: str) -> NoReturn:
        """Raise a UsageError with *message* and the usage of the magic.

        A wrong sub-command gets a similar one instead, because the usage lists all of them.
        """
        if match := _NO_COMMAND.match(message):
            near = did_you_mean(match["word"], re.findall(r"[\w-]+", match["known"]))
            if near:
                line = f"{self.mark}{self.prog}"
                msg = (
                    f"{line} has no command {match['word']!r}.{near} {line} --help lists them all."
                )
                raise UsageError(msg)
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        msg = f"{message}. Usage: {self.mark}{usage}"
        raise UsageError(msg)

    def print_help(self, file: Any = None) -> NoReturn:
        """Stop parsing and raise the help text, because the line has `--help`."""
        raise HelpWanted(self.help_text())

    def parse_line(self, line: str) -> argparse.Namespace:
        """Return the options in *line*, whose words are those of `split`; options may stand anywhere."""
        words = with_whole_lists(split(line), self.lists)
        # argparse cannot mix these two
        if self._subparsers is not None:
            return self.parse_args(words)
        return self.parse_intermixed_args(words)


def with_whole_lists(words: Sequence[str], options: Container[str]) -> list[str]:
    """Return *words* with the value of each of *options*, a list of names, as one word.

    People write a blank after a comma, or before it, and a shell would split the value there.
    """
    whole: list[str] = []
    is_value = False
    for word in words:
        name, _, value = word.partition("=")
        goes_on = is_value and not word.startswith("-")
        if goes_on and (whole[-1].endswith(",") or word.startswith(",")):
            whole[-1] += word
            continue
        is_value = bool(whole) and whole[-1] in options
        is_value = is_value or (name in options and bool(value))
        whole.append(word)
    return whole


def parsed(parser: LineParser, line: str) -> argparse.Namespace | None:
    """Return the options of *line*. If *line* has `--help`, print the help text and return None."""
    try:
        return parser.parse_line(line)
    except HelpWanted as help_text:
        print(help_text)  # noqa: T201 - in the cell that asked
        return None


def variable(text: str) -> str:
    """Return *text* if it can be the name of a variable.

    Raises:
        UsageError: If *text* cannot be the name of a variable.
    """
    if not text.isidentifier() or keyword.iskeyword(text):
        msg = f"{text!r} cannot be the name of a variable: choose another name."
        raise UsageError(msg)
    return text


def listed_names(text: str) -> list[str]:
    """Return the names in *text*, which has commas between them, and perhaps blanks.

    Raises:
        UsageError: If there are only commas and blanks.
    """
    parts = [part for name in text.split(",") if (part := name.strip())]
    if text and not parts:
        msg = f"{text!r} has no name: write names with commas between them, as in a,b."
        raise UsageError(msg)
    return parts


def seconds(text: str) -> float:
    """Return the time limit in *text*, in seconds.

    Raises:
        UsageError: If *text* is not a number above 0.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        msg = f"--timeout takes seconds above 0, as in --timeout 300, not {text!r}."
        raise UsageError(msg)
    return value


def count(text: str) -> int:
    """Return the number in *text*, a number of things to show.

    Raises:
        UsageError: If *text* is not a whole number above 0.
    """
    if not text.isdecimal() or int(text) == 0:
        msg = f"Write a whole number above 0 for how many, as in %tool_history 5, not {text!r}."
        raise UsageError(msg)
    return int(text)


def split(line: str) -> list[str]:
    r"""Return the words of *line*, split as a shell would do, but for backslashes.

    A backslash outside of quotes escapes only a blank, a quote or a backslash. Before anything else
    it stands for itself, as in `C:\Users\ada` or `\d+`.

    Raises:
        UsageError: If a quotation is not closed.
    """
    try:
        return shlex.split(_BACKSLASH.sub(_kept, line))
    except ValueError as error:
        msg = f"{error} in {line!r}: close the quotation, or write the arguments as JSON."
        raise UsageError(msg) from None


def _kept(match: re.Match[str]) -> str:
    return r"\\" if match["bare"] else match[0]


_Magic = TypeVar("_Magic", bound=Callable[..., Any])
_MEMBER = re.compile(
    r"""["']?(?P<name>[\w.-]+)["']?\s*[:=]\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)"""
)


def hides_secrets(magic: _Magic) -> _Magic:
    """A decorator: hide the secrets of the line and the cell in the usage errors of *magic*.

    Examples: a token in a command, the password of a URL, an argument called
    `password`. The error is saved with the notebook, even if the line is not.
    """

    @wraps(magic)
    def safe(self: Any, line: str, *cell: Any) -> Any:
        try:
            return magic(self, line, *cell)
        except UsageError as error:
            known = [*_secrets_in(line), *(s for c in cell if c for s in _members(c))]
            raise UsageError(Redactor(known).sentence(str(error))) from None

    return safe  # type: ignore[return-value]  # it takes the same arguments


def _secrets_in(line: str) -> Iterator[str]:
    try:
        words = split(line)
    except UsageError:
        # A quotation that is not closed
        words = line.split()
    for _, secrets in secrets_in_words(words):
        yield from secrets
    yield from _members(line)


def _members(text: str) -> Iterator[str]:
    """Yield the values in *text*, which may be broken JSON, whose names say that they are secrets."""
    for match in _MEMBER.finditer(text):
        if is_secret_argument(match["name"]):
            yield match["value"]
