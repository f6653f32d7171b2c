"""What is wrong with a line is told without the secrets that stand on it."""

import re
import shlex
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from IPython.core.error import UsageError

from toolbench.redaction.detection.names import is_secret_argument
from toolbench.redaction.detection.settings import secrets_in_words
from toolbench.redaction.redactor import Redactor

_Magic = TypeVar("_Magic", bound=Callable[..., Any])
_MEMBER = re.compile(
    r"""["']?(?P<name>[\w.-]+)["']?\s*[:=]\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)"""
)


def hides_secrets(magic: _Magic) -> _Magic:
    """Have the usage errors of *magic* quote its line, and its cell, without secrets.

    A token on a command line, the password of a URL, an argument called `password`: the error
    is saved with the notebook, also where the line is not.
    """

    @wraps(magic)
    def safe(self: Any, line: str, *cell: Any) -> Any:
        try:
            return magic(self, line, *cell)
        except UsageError as error:
            known = [*_secrets_in(line), *(s for c in cell if c for s in _members(c))]
            raise UsageError(Redactor(known).sentence(str(error))) from None

    return safe  # type: ignore[return-value]  # of the same arguments


def _secrets_in(line: str) -> Iterator[str]:
    try:
        words = shlex.split(line)
    except ValueError:  # a quotation that is not closed
        words = line.split()
    for _, secrets in secrets_in_words(words):
        yield from secrets
    yield from _members(line)


def _members(text: str) -> Iterator[str]:
    """Yield the secrets in *text*, which need be no JSON: what is wrong with it is told."""
    for match in _MEMBER.finditer(text):
        if is_secret_argument(match["name"]):
            yield match["value"]
