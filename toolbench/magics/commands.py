"""Define the commands of magics: their arguments, their help, what Tab offers, and what runs."""

import argparse
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from toolbench.errors import did_you_mean
from toolbench.magics.line import HelpWanted, UsageError, listed_names, with_whole_lists

MOVED = {
    "%tool --dry-run": "NAME.action_from_arguments({...}) in Python",
    "%tool --export": "%tools export NAME... --to DIR",
    "%tool --schema": "%tools schema NAME FORMAT",
    "%tool --sweep": "%tools sweep NAME x=1..5",
    "%tool_history": "%tools history",
    "%tools --lint": "%tools lint",
    "%mcp logout": "%mcp disconnect NAME --forget",
    "%mcp stderr": "%mcp log NAME --stderr",
    "%mcp tools": "%mcp list NAME",
    "%mcp traffic": "%mcp log NAME --traffic",
    "%mcp --errors": "%mcp log NAME --traffic error",
    "%mcp --yes": "--overwrite",
}
"""Lines of earlier versions, as a magic with its command or option, and what to write now."""


def refuse_moved(line: str) -> None:
    """Raise an error if *line* uses syntax of an older version.

    Args:
        line: A magic with one command or option, such as `%tools --lint`.

    Raises:
        UsageError: If *line* uses old syntax. The message shows the new syntax.
    """
    if line in MOVED:
        msg = f"{line} is now {MOVED[line]}."
        raise UsageError(msg)


class Argument:
    """A positional argument or an option of a line, with the parameters of argparse.

    Example:
        `Argument("--timeout", type=seconds, metavar="SECONDS", help="cancel the run after this time")`
    """

    def __init__(self, *names: str, offers: str = "", **settings: Any) -> None:
        """Describe one argument of a line.

        Args:
            names: The name of a positional argument, or all names of an option.
            offers: The kind of names that Tab offers, in addition to `choices`: `tool`, `server`,
                `model`, `source`, `target` or `filter`.
            settings: The arguments of `add_argument`. With `type=listed_names`, the value may have
                blanks next to its commas.
        """
        self.names = names
        self.offers = offers
        self.settings = settings
        if not names[0].startswith("-") and "choices" not in settings:
            # As the documents write the words of a line
            settings.setdefault("metavar", names[0].upper())


class _Option(argparse.Action):
    """An option with a value. Giving it twice is an error; argparse would use the last value."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: Namespace,
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
    """A parser for the line of a magic, or of one command of a magic.

    If a line is not valid, parsing raises a `UsageError`. The attribute `prog` is the magic without
    its percent sign, because argparse uses percent signs in its templates.
    """

    def __init__(
        self,
        prog: str,
        arguments: Iterable[Argument] = (),
        *,
        description: str,
        mark: str = "%",
        examples: Sequence[str] = (),
    ) -> None:
        """Make a parser for lines that begin with *mark* and *prog*: `%` and `tools lint`.

        Args:
            prog: The name of the magic, and of its command if it has commands.
            arguments: The arguments of the line.
            description: What the line does, for its help.
            mark: The sign before the name of the magic: `%`, or `%%` for a cell.
            examples: Example lines, which are shown at the end of the help.
        """
        super().__init__(prog, description=description, allow_abbrev=False)
        self.register("action", None, _Option)
        self.mark = mark
        self.examples = tuple(examples)
        self.lists: list[str] = []
        """The options whose value is a list of names."""
        self.offers: dict[str, str] = {}
        """What Tab offers for each argument, by the argument's name in the parsed options."""
        for argument in arguments:
            action = self.add_argument(*argument.names, **argument.settings)
            self.offers[action.dest] = argument.offers
            if action.type is listed_names:
                self.lists += argument.names

    @property
    def long_options(self) -> list[str]:
        """The options as they are written in full; `--help` is the last."""
        names = [action.option_strings[-1] for action in self._actions if action.option_strings]
        names.append(names.pop(0))
        return names

    @property
    def value_options(self) -> list[str]:
        """The options that take a value, in all their spellings."""
        return [name for name, action in self._option_string_actions.items() if action.nargs != 0]

    def without_options(self, words: Sequence[str]) -> list[str]:
        """Return *words* without the options of this line and their values."""
        rest: list[str] = []
        left = iter(words)
        for word in left:
            if word in self.value_options:
                next(left, None)
            elif word.partition("=")[0] not in self._option_string_actions:
                rest.append(word)
        return rest

    def positional_words(self, words: Sequence[str]) -> list[str]:
        """Return the *words* that are neither options nor values of options."""
        return [word for word in self.without_options(words) if not word.startswith("-")]

    def argument_after(self, words: Sequence[str]) -> argparse.Action | None:
        """Return the argument that the word after *words* belongs to; None if there is none.

        If *words* end with an option that needs a value, this option is returned. Otherwise, the
        next positional argument is returned.
        """
        if words and words[-1] in self.value_options:
            return self._option_string_actions[words[-1]]
        left = [argument for argument in self._actions if not argument.option_strings]
        for _ in self.positional_words(words):
            if left and left[0].nargs not in ("*", "+"):
                del left[0]
        return next(iter(left), None)

    @property
    def usage_line(self) -> str:
        """The usage of the line: `%tools lint [-h] [PATTERN]`."""
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        return f"{self.mark}{usage}"

    def help_text(self) -> str:
        """Return the help text of the line."""
        text = self.format_help().replace("usage: ", f"usage: {self.mark}", 1)
        return with_examples(text, self.examples)

    def error(self, message: str) -> NoReturn:
        """Raise a UsageError with *message* and the usage of the line."""
        msg = f"{message}. Usage: {self.usage_line}"
        raise UsageError(msg)

    def print_help(self, file: Any = None) -> NoReturn:
        """Raise `HelpWanted` with the help text, which ends parsing, because of `--help`."""
        raise HelpWanted(self.help_text())

    def parse_words(self, words: Sequence[str]) -> Namespace:
        """Parse the words of a line. Options may come before, between or after other words.

        Raises:
            UsageError: If the line is wrong.
            HelpWanted: If the line asks for help.
        """
        known, magic = self._option_string_actions, self.prog.partition(" ")[0]
        for word in words:
            option = word.partition("=")[0]
            if option in known or option == "--" or not option.startswith("--"):
                continue
            old = f"%{magic} {option}"
            now = MOVED.get(old, "")
            # The new option may be one of other commands only
            if not now.startswith("-") or now in known:
                refuse_moved(old)
            # Dashes alone make no two options alike
            near = did_you_mean(option[2:], [name[2:] for name in self.long_options])
            line, near = f"{self.mark}{self.prog}", near.replace(" '", " '--")
            msg = f"{line} has no option {option!r}.{near} {line} --help lists them all."
            raise UsageError(msg)
        return self.parse_intermixed_args(with_whole_lists(words, self.lists))


def with_examples(help_text: str, examples: Sequence[str]) -> str:
    """Return *help_text* with *examples* below; the magic uses this as its docstring."""
    if not examples:
        return help_text
    return "\n".join([help_text, "examples:", *(f"  {line}" for line in examples), ""])


@dataclass(frozen=True)
class Command:
    """A command of a magic, such as `connect` of `%mcp`."""

    help: str
    run: Callable[[Any, Namespace], Any]
    """The function that runs the command. It gets the magics and the options of the line.

    If it returns a string, the string is printed. Any other result is displayed.
    """
    arguments: Sequence[Argument] = ()


class Family:
    """A magic that has commands, such as `%mcp connect` and `%mcp list`."""

    def __init__(
        self,
        name: str,
        commands: Mapping[str, Command],
        *,
        description: str,
        default: str,
        takes_other_words: bool = False,
        examples: Sequence[str] = (),
    ) -> None:
        """Describe the magic *name*.

        Args:
            name: The name of the magic.
            commands: The commands of the magic, by name.
            description: What the magic is for.
            default: The command for a line that names no command.
            takes_other_words: Whether *default* also gets lines whose first word is not a command.
            examples: Example lines.
        """
        self.name = name
        self.commands = commands
        self.description = description
        self.default = default
        self.takes_other_words = takes_other_words
        self.examples = tuple(examples)

    @cached_property
    def parsers(self) -> dict[str, LineParser]:
        """The parser of each command; made when a line is parsed, not by `%load_ext`."""
        return {
            word: LineParser(f"{self.name} {word}", command.arguments, description=command.help)
            for word, command in self.commands.items()
        }

    def help_text(self) -> str:
        """Return the help text of the magic, which is also the docstring of the magic."""
        lines = [f"usage: %{self.name} [-h] COMMAND ...", "", self.description, "", "commands:"]
        for word, command in self.commands.items():
            lines.append(f"    {word:<12}{command.help}")
        lines += ["", "options:", "  -h, --help  show this, or after a command what it takes", ""]
        return with_examples("\n".join(lines), self.examples)

    def command_of(self, words: Sequence[str]) -> tuple[str, Sequence[str]]:
        """Split a line into its command and the remaining words.

        *words* is the line, already split. If the line does not begin with a command, the default
        command and all words are returned.

        Raises:
            UsageError: If there is no such command.
            HelpWanted: If the line asks for help about all commands.
        """
        first = next(iter(words), self.default)
        if first in self.commands:
            return first, words[1:]
        if first in ("-h", "--help"):
            raise HelpWanted(self.help_text())
        refuse_moved(f"%{self.name} {first}")
        others = self.parsers[self.default].positional_words(words)
        wrong = next(iter(others), first)
        near = did_you_mean(wrong, self.commands)
        # One word is for the default command. Of several, the first was to be a command if it is like one
        if self.takes_other_words and not (near and len(others) > 1):
            return self.default, words
        if wrong in self.commands:
            msg = f"The command comes first, before its options: %{self.name} {wrong} ..."
            raise UsageError(msg)
        msg = f"%{self.name} has no command {wrong!r}.{near} %{self.name} --help lists them all."
        raise UsageError(msg)

    def run(self, magics: Any, words: Sequence[str], **more: Any) -> Any:
        """Run the command in *words*, and return what the cell shows.

        Args:
            magics: The magics object, which the function of the command gets first.
            words: The words of the line.
            more: Additional options for the function of the command, by name.
        """
        command, rest = self.command_of(words)
        options = self.parsers[command].parse_words(rest)
        vars(options).update(more)
        return self.commands[command].run(magics, options)


OVERWRITE = Argument(
    "--overwrite", action="store_true", help="replace a file that has other content"
)
"""The option `--overwrite`, for lines that write a file whose name the user gives."""
SERVER = Argument("name", offers="server", help="the server")
"""The argument with the name of a server, for lines of `%mcp`."""


def filter_words(help_line: str) -> Argument:
    """Return an `Argument` for a filter at the end of a line, with *help_line* as its help."""
    return Argument(
        "filter", nargs="*", default=[], offers="filter", metavar="FILTER", help=help_line
    )


def check_overwrite(options: Namespace, option: str) -> None:
    """Check that a line with `--overwrite` also names a file to overwrite.

    Args:
        options: The parsed line.
        option: The option that names the file, such as `--to`.

    Raises:
        UsageError: If the line has `--overwrite` without *option*.
    """
    file = getattr(options, option.removeprefix("--").replace("-", "_"))
    if options.overwrite and file is None:
        msg = f"--overwrite replaces a file: add {option} FILE."
        raise UsageError(msg)
