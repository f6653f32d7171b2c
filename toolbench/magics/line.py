"""Read the line of a magic: its words, the JSON inside it, and its secrets.

A mistake in a line raises an error whose message is a single line.
"""

import keyword
import math
import re
import shlex
from collections.abc import Callable, Container, Iterator, Sequence
from functools import wraps
from json import JSONDecodeError, JSONDecoder
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core import error
from IPython.core.magic import Magics

from toolbench.errors import BodyError, FilterError, ToolNotFoundError
from toolbench.magics.call_arguments import WordError
from toolbench.redaction.detect import secrets_in_words
from toolbench.redaction.names import is_secret_argument
from toolbench.redaction.redactor import Redactor

if TYPE_CHECKING:
    from toolbench.magics.catalog import Catalog

_VALUE = re.compile(r"(?:^|(?<=\s))[\w.\-]+=(?=[\[{])")
# A broken value, followed by text that cannot be the next word of the line
_GOES_ON = re.compile(r"\S+\s+(?!-|\{|[\w.\-]+=)\S")
# A quotation, or a backslash with what it escapes; or one that escapes nothing
_BACKSLASH = re.compile(r"""'[^']*'?|"(?:\\.|[^"\\])*"?|\\[\s'"\\]|(?P<bare>\\)""", re.DOTALL)

_PHRASE = re.compile(r"""'[^']*'|"[^"]*\"""")


def words_with_quotes(line: str) -> list[str]:
    """Split *line* into words like `split`, but keep double quotes, because filters need them.

    Raises:
        UsageError: If a quotation is not closed.
    """
    return split(_PHRASE.sub(_quoted, line))


def _quoted(match: re.Match[str]) -> str:
    if match[0].startswith("'"):
        return match[0]
    return shlex.quote(match[0])


def quote_json(line: str) -> str:
    """Return *line* with quotes around words such as `key=[...]` and `key={...}`.

    Without the quotes, `split` would cut the JSON values at their blanks.

    Raises:
        UsageError: If a value is not valid JSON, so that its end cannot be found.
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
    """Cut the JSON object with all arguments out of *line*.

    A value such as `key={...}` does not count as this object.

    Returns:
        The line without the object, and the object. If there is no object, the line and None.
    """
    start = _start_of_json(line)
    if start is None:
        return line, None
    end = _end_of_json(line, start)
    # Broken JSON: the caller reads it and raises
    if end is None:
        end = line.rfind("}", start) + 1 or len(line)
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
    if start < 0:
        return None
    return start + 1


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
    """The line of a magic is not valid.

    This error makes the cell fail, so papermill and nbclient report it. In contrast, IPython's own
    usage errors are only printed to stderr.
    """

    def _render_traceback_(self) -> list[str]:
        """Return only the message for IPython to show, because a traceback would not help."""
        return [f"UsageError: {self}"]


def with_whole_lists(words: Sequence[str], options: Container[str]) -> list[str]:
    """Join words that belong to the same list of names, such as `add,` and `split`.

    A user may write a list with blanks after the commas, as in `--tools add, split`. The line was
    split at these blanks.

    Args:
        words: The words of the line.
        options: The options whose value is a list of names.
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
    """Return the names in *text*, which are separated by commas and perhaps blanks.

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
    """Return the number in *text*, which says how many things to show.

    Raises:
        UsageError: If *text* is not a whole number above 0.
    """
    if not text.isdecimal() or int(text) == 0:
        msg = f"Write a whole number above 0 for how many, such as 5, not {text!r}."
        raise UsageError(msg)
    return int(text)


def split(line: str) -> list[str]:
    r"""Split *line* into words like a shell, except for backslashes.

    Outside of quotes, a backslash escapes only a blank, a quote or a backslash. Before any other
    character, the backslash is kept, as in `C:\Users\ada` or `\d+`.

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


class NotebookMagics(Magics):
    """Magics that use the tools and the variables of a notebook."""

    shell: Any

    def __init__(self, shell: Any, catalog: "Catalog") -> None:
        """Prepare the magics for *shell*; *catalog* has the tools."""
        super().__init__(shell)
        self.catalog = catalog
        self.namespace: dict[str, Any] = shell.user_ns


_Magic = TypeVar("_Magic", bound=Callable[..., Any])
_MEMBER = re.compile(
    r"""["']?(?P<name>[\w.-]+)["']?\s*[:=]\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)"""
)


class HelpWanted(Exception):  # noqa: N818 - no error: the line asks for help
    """A line has `--help`. The message is the help text, which the magic prints.

    argparse itself would print the text and exit.
    """


def answers_in_cell(magic: _Magic) -> _Magic:
    """Decorate *magic* so that its strings are printed, and secrets in its errors are masked.

    Secrets are, for example, a token in a command, the password in a URL, or an argument named
    `password`. They are masked because Jupyter saves error messages with the notebook.
    """

    @wraps(magic)
    def answering(self: Any, line: str, *cell: Any) -> Any:
        try:
            result = magic(self, line, *cell)
        except HelpWanted as help_text:
            result = str(help_text)
        except (UsageError, BodyError, FilterError, ToolNotFoundError) as error:
            known = list(_secrets_in(line))
            for body in cell:
                known += _members(body or "")
            sentence = Redactor(known).sentence(str(error))
            if isinstance(error, WordError):
                raise UsageError(sentence) from None
            error.args = (sentence,)
            raise error from None
        if isinstance(result, str):
            print(result)  # noqa: T201 - in the cell that asked
            return None
        return result

    return answering  # type: ignore[return-value]  # it takes the same arguments


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
    """Yield the values in *text* whose names mean that they are secrets.

    *text* may be JSON that is not valid.
    """
    for match in _MEMBER.finditer(text):
        if is_secret_argument(match["name"]):
            yield match["value"]
