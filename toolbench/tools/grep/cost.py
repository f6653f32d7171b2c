"""How long Python's engine, which tries every way to match, may take with a pattern."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, inf

_NESTED = re.compile(r"\)\s*[*+{]|\\[1-9]|\(\?P=")  # or a repeat of what is captured


@dataclass(frozen=True, slots=True)
class Cost:
    """What in a pattern makes for more than one way to match."""

    repeats: int
    """Each may try every length at every place."""
    choices: int = 0
    """Each doubles the ways."""
    is_nested: bool = False
    """Whether what repeats can match in several ways itself: no limit to speak of."""
    crosses: bool = False
    """Whether a repeat may go on over a line end."""

    def steps(self, length: int) -> float:
        """Return about how many steps a search takes at worst, in a line of so many characters."""
        if self.is_nested:
            return inf
        return comb(length + self.repeats, self.repeats + 1) << self.choices


def guessed(pattern: str) -> Cost:
    """Return at least what *pattern*, of which not all is understood, costs."""
    choices = len(re.findall(r"(?<!\()\?|\|", pattern))
    is_nested = _NESTED.search(pattern) is not None
    return Cost(len(re.findall(r"[*+{]", pattern)), choices, is_nested)


def cost_of(tokens: Sequence[re.Match[str]], regexes: Sequence[str]) -> Cost:
    """Return what a pattern costs.

    Args:
        tokens: What it consists of, as `translate` reads them.
        regexes: What each token is on bytes.
    """
    repeated = [
        at for at, after in enumerate(tokens[1:]) if _is_repeat(after["quantifier"])
    ]
    unsure = [at for at in repeated if not _is_sure(at, tokens, regexes)]
    choices, is_nested = _choices(tokens)
    crosses = any(
        tokens[at].lastgroup != "dot" and ord("\n") in _bytes(tokens[at], regexes[at])
        for at in repeated
    )
    return Cost(len(unsure) + bool(repeated), choices, is_nested, crosses)


def _is_repeat(quantifier: str | None) -> bool:
    """Whether it stands for several lengths; `?` is a choice, and `{3}` neither."""
    return quantifier is not None and not re.match(r"\?|\{\d+\}", quantifier)


def _choices(tokens: Sequence[re.Match[str]]) -> tuple[int, bool]:
    choices, is_nested = 0, False
    varied = [False]  # for each open group: whether there are several ways through it
    after_varied = False
    for token in tokens:
        kind, quantifier = token.lastgroup, token["quantifier"] or ""
        is_choice = quantifier[:1] == "?" or (kind == "bar" and len(varied) > 1)
        choices += is_choice
        is_nested |= after_varied and quantifier[:1] not in ("", "?")
        after_varied = False
        if kind == "open":
            varied.append(False)
        elif kind == "close" and len(varied) > 1:
            after_varied = varied.pop()
        varied[-1] |= after_varied or is_choice or _is_repeat(token["quantifier"])
    return choices, is_nested


def _is_sure(at: int, tokens: Sequence[re.Match[str]], regexes: Sequence[str]) -> bool:
    """Whether the repeat of the token at *at* ends in one place, wherever it begins."""
    own = _bytes(tokens[at], regexes[at])
    for n in range(at + 2, len(tokens)):
        if tokens[n]["quantifier"]:
            continue
        if own & _bytes(tokens[n], regexes[n]):
            return False
        after = tokens[n + 1]["quantifier"] if n + 1 < len(tokens) else None
        if after is None or not re.match(r"[*?]|\{0|\{,", after):
            return True
    return True


def _bytes(token: re.Match[str], regex: str) -> frozenset[int]:
    """What *token* may begin with, or anything if it is no single character; ASCII will do."""
    is_single = token.lastgroup in ("kind", "dot", "members", "char")
    return _matched(regex) if is_single else frozenset(range(128))


@cache
def _matched(regex: str) -> frozenset[int]:
    try:
        first = re.compile(regex.encode(), re.IGNORECASE)
    except re.error:
        return frozenset(range(128))
    return frozenset(byte for byte in range(128) if first.match(bytes([byte])))
