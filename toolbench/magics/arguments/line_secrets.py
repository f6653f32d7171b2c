"""Hide the secrets of a magic's line in the error that the magic raises about the line."""

import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from toolbench.magics.parsers import split
from toolbench.magics.usage_error import UsageError
from toolbench.redaction.detect import secrets_in_words
from toolbench.redaction.names import is_secret_argument
from toolbench.redaction.redactor import Redactor

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
