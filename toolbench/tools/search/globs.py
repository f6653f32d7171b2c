"""Turn glob patterns into regular expressions: `*`, `?`, `[a-z]`, `{a,b}` and `**`."""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from math import inf
from operator import methodcaller

from toolbench.tools.failure_sentence import RunError

_MAGIC = re.compile(r"[*?\[{\\]")
_HIDDEN = re.compile(r"(?:^|[/{,])\.(?![./]|$)")
_TOKEN = re.compile(
    r"""(?P<star>\*+)|(?P<one>\?)|\\(?P<escaped>.)
    |\[(?P<negated>[!^]?)(?P<members>\]?(?:\\.|[^\]\\])*)\]|(?P<plain>[^\[\\])""",
    re.VERBOSE | re.DOTALL,
)
# Special in a set of `re`
_IN_SET = re.compile(r"\\(.)|[\[\]&~|^]", re.DOTALL)
_NOT_HIDDEN = r"(?!\.)"
_MAX_CHOICES = 1_000
_EVERYWHERE = ("", ".", "**")


def is_magic(part: str) -> bool:
    """Tell whether *part*, one name of a path, has wildcards or other special characters."""
    return _MAGIC.search(part) is not None


def names_hidden(pattern: str) -> bool:
    """Tell whether a name in *pattern* begins with a dot."""
    return _HIDDEN.search(pattern) is not None


def deepest(pattern: str) -> float:
    """Return the maximum number of directories in a path that matches *pattern*."""
    if "**" in pattern or "/" not in pattern:
        return inf
    return pattern.removeprefix("./").count("/")


@lru_cache(maxsize=256)
def name_regex(pattern: str) -> re.Pattern[str] | None:
    """Return a regex for names: it matches the name of a file if *pattern* matches the file.

    Return None if the name alone does not decide, because *pattern* has directories or names that
    begin with a dot.

    Raises:
        RunError: If the pattern is not well formed.
    """
    anywhere = pattern.removeprefix("./")
    if names_hidden(pattern) or ("/" in pattern and not anywhere.startswith("**/")):
        return None
    choices = _choices(anywhere.removeprefix("**/"))
    if any(choice in _EVERYWHERE or "/" in choice for choice in choices):
        return None
    return re.compile("|".join(_name(choice, _NOT_HIDDEN) for choice in choices))


@lru_cache(maxsize=256)
def name_test(pattern: str) -> Callable[[str], object] | None:
    """Return a function that tests a name like the regex of `name_regex`; None if there is no regex.

    For a pattern like `**/*.py` the function compares the end of a name, which takes a third of the
    time of a regex. Do not call the function with names that begin with a dot.
    """
    regex = name_regex(pattern)
    if regex is None:
        return None
    choices = _choices(pattern.removeprefix("./").removeprefix("**/"))
    ends = tuple(choice[1:] for choice in choices if choice.startswith("*"))
    if len(ends) < len(choices) or is_magic("".join(ends)):
        return regex.fullmatch
    return methodcaller("endswith", ends)


@lru_cache(maxsize=256)
def path_regex(pattern: str) -> re.Pattern[str]:
    """Return a regex for *pattern*, to be matched against the whole relative path of a file.

    A pattern without a slash matches names at any depth. A wildcard never matches a slash, or a dot
    at the start of a name; `**` between slashes matches any number of directories.

    Raises:
        RunError: If the pattern is not well formed.
    """
    anywhere = "" if "/" in pattern else "**/"
    choices = [(anywhere + choice).split("/") for choice in _choices(pattern)]
    parts = [[p for p in choice if p not in ("", ".")] or ["**"] for choice in choices]
    return re.compile("|".join(_path(choice, _NOT_HIDDEN) for choice in parts))


def rule_regex(pattern: str) -> str:
    """Return a regex for *pattern*, a rule of a .gitignore, to be matched against the whole path.

    In a .gitignore braces are not special, and wildcards also match a dot at the start of a name.

    Raises:
        RunError: If the pattern is not well formed.
    """
    return _path(pattern.split("/"), "")


def _choices(pattern: str) -> list[str]:
    """Return the patterns without braces that *pattern* stands for: `{a,b}.c` stands for `a.c`, `b.c`."""
    depth, cuts, at = 0, [0], 0
    while at < len(pattern):
        match pattern[at]:
            case "\\":
                at += 1
            case "{":
                cuts = cuts if depth else [at]
                depth += 1
            case "," if depth == 1:
                cuts.append(at)
            case "}" if depth == 1:
                ends = pairwise([*cuts, at])
                inner = [pattern[a + 1 : b] + pattern[at + 1 :] for a, b in ends]
                choices = [pattern[: cuts[0]] + c for i in inner for c in _choices(i)]
                if len(choices) > _MAX_CHOICES:
                    msg = f"The braces of {pattern!r} leave too many choices. Use fewer."
                    raise RunError(msg)
                return choices
            case "}" if depth:
                depth -= 1
        at += 1
    if depth:
        raise _malformed(pattern, "a brace is not closed")
    return [pattern]


def _path(parts: list[str], guard: str) -> str:
    """Return a regex for a path of the names *parts*; *guard* comes before a wildcard that begins a name."""
    *above, name = parts
    regex = "".join(
        f"(?:{guard}[^/]++/)*" if part == "**" else f"{_name(part, guard)}/" for part in above
    )
    if name == "**":
        return f"{regex}(?:{guard}[^/]++/)*{guard}[^/]+"
    return regex + _name(name, guard)


def _name(part: str, guard: str) -> str:
    regex, at = "", 0
    while at < len(part):
        token = _TOKEN.match(part, at)
        if token is None:
            raise _malformed(part, "a bracket is not closed, or a backslash ends it")
        is_wildcard = token.lastgroup in ("star", "one", "members")
        regex += guard + _token(token) if at == 0 and is_wildcard else _token(token)
        at = token.end()
    return regex


def _token(token: re.Match[str]) -> str:
    if token["star"]:
        return "[^/]*"
    if token["one"]:
        return "[^/]"
    if token["members"] is None:
        return re.escape(token["escaped"] or token["plain"])
    members = _IN_SET.sub(lambda m: re.escape(m[1] or m[0]), token["members"])
    regex = f"(?!/)[{'^' * bool(token['negated'])}{members}]"
    try:
        re.compile(regex)
    except re.error as error:
        raise _malformed(token.group(), error.msg) from None
    return regex


def _malformed(pattern: str, why: str) -> RunError:
    return RunError(
        f"{pattern!r} is not a valid glob pattern: {why}. Put a backslash before a character "
        "to match it literally."
    )
