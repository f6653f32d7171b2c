"""Find the values of a template's variables in a URI that was made from the template."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from urllib.parse import unquote

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
# Operators of RFC 6570 whose values may hold a slash
_SLASHES = "+#/"


def values_in(uri: str, template: str) -> Iterator[dict[str, str]]:
    """Yield possible values in *uri* for the variables in the path of *template*.

    *uri* is read from the left and from the right. The two readings differ if a value contains the
    text between two variables. If *uri* does not match, the function yields nothing. The time is
    linear in the length of the texts.
    """
    path, question, _ = template.partition("{?")
    if question and "?" not in path:
        uri = re.split(r"[?#]", uri, maxsplit=1)[0]
    pieces = _EXPRESSION.split(path)
    literals, expressions = _flat(pieces[::2], pieces[1::2])
    for values in _readings(uri, literals):
        pairs = list(zip(expressions, values, strict=True))
        if all("/" not in value or _may_hold_slash(name) for name, value in pairs):
            yield {_bare(name): unquote(value) for name, value in pairs}


def _flat(literals: Sequence[str], expressions: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the texts between variables, and the variables; `{a,b}` counts as two variables."""
    texts, names = [literals[0]], []
    for expression, after in zip(expressions, literals[1:], strict=True):
        operator = expression[:1] if expression[:1] in "+#./;&" else ""
        separator = operator if operator in ("/", ".", ";", "&") else ","
        if operator not in ("", "+"):
            texts[-1] += operator
        for name in expression.removeprefix(operator).split(","):
            names.append(f"{operator}{name}")
            texts.append(separator)
        texts[-1] = after
    return texts, names


def _readings(uri: str, literals: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts between the *literals* in *uri*, read from the left and from the right."""
    from_left = _between(uri, literals)
    if from_left is None:
        return
    yield from_left
    backwards = _between(uri[::-1], [text[::-1] for text in reversed(literals)])
    if backwards is not None:
        yield [text[::-1] for text in reversed(backwards)]


def _between(uri: str, literals: Sequence[str]) -> list[str] | None:
    first, last = literals[0], literals[-1]
    if not uri.startswith(first) or not uri.endswith(last):
        return None
    ends = [(0, len(first))]
    for text in literals[1:-1]:
        at = uri.find(text, ends[-1][1])
        if at < 0:
            return None
        ends.append((at, at + len(text)))
    if len(literals) > 1:
        ends.append((len(uri) - len(last), len(uri)))
    return [uri[end:start] for (_, end), (start, _) in pairwise(ends)]


def _may_hold_slash(name: str) -> bool:
    return name[:1] in _SLASHES or name.endswith("*")


def _bare(name: str) -> str:
    return name.lstrip("+#./;&").rstrip("*").partition(":")[0]
