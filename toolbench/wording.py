"""Words: numbers of things in words, and the words that a name is made of."""

import re

_BETWEEN_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def counted(count: int, noun: str) -> str:
    """Return *count* things in words: `1 row`, `1,234 rows`; *noun* takes an s."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def snake_case(name: str) -> str:
    """Return *name*, in camel case, in small letters: `http_server` for `HTTPServer`."""
    return _BETWEEN_WORDS.sub("_", name).lower()


def words_of(name: str) -> list[str]:
    """Return the words of a name in snake, camel, kebab or dotted case, in small letters."""
    return [word for word in re.split(r"[^a-z0-9]+", snake_case(name)) if word]
