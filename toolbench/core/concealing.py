"""Find secrets again where somebody quotes them: in a sentence about what is wrong."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from json import dumps
from typing import Any

from toolbench.core.secrecy import HIDDEN, WRAPPED, Secrecy, opened
from toolbench.errors import Problem

_SHORT = 4
_SHOWN = 60  # characters of a value that a sentence shows at most


def texts(value: Any) -> Iterator[str]:
    """Give the texts and the numbers in *value*, as they might be found elsewhere."""
    todo, seen = [value], set[int]()
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, bytes | bytearray):
            yield part.decode(errors="replace")
        elif isinstance(part, WRAPPED):
            todo.append(part.get_secret_value())
        elif isinstance(part, int | float) and not isinstance(part, bool):
            with suppress(ValueError):  # an integer too long to print is found nowhere
                yield repr(part)
        elif id(part) not in seen:
            seen.add(id(part))
            inside = opened(part)
            if isinstance(inside, dict | list):
                todo += inside.values() if isinstance(inside, dict) else inside


def conceal(sentence: str, secrets: Iterable[str]) -> str:
    """Return *sentence* without *secrets*, also where it shows only the beginning of one."""
    for secret in secrets:
        for text in (
            secret,
            *(dumps(secret, ensure_ascii=x)[1:-1] for x in (False, True)),
        ):
            if len(text) >= _SHORT:
                sentence = sentence.replace(text, HIDDEN)
            for quote in "\"'":  # a short one would be found inside of words
                sentence = sentence.replace(f"{quote}{text}{quote}", HIDDEN)
            for end in range(min(len(text), _SHOWN), _SHORT, -1):
                sentence = sentence.replace(f"{text[:end]}…", f"{HIDDEN}…")
    return sentence


def discreet(
    problems: list[Problem], arguments: Any, secrecy: Secrecy
) -> list[Problem]:
    """Return *problems* of *arguments* without what *secrecy* calls secret among these."""
    if not problems:
        return []
    _, kept = secrecy.hide(arguments)
    secrets = list(texts(list(kept.values())))
    return [Problem(p.path, conceal(p.message, secrets)) for p in problems]
