"""Match paths with glob patterns: `*`, `?`, `[a-z]`, `{a,b}` and `**`.

ripgrep's own globs are not used, because they also find files that a .gitignore excludes.
"""

import os
import re

from toolbench.tools.failure_sentence import RunError

_MAGIC = re.compile(r"[*?\[{\\]")
_HIDDEN = re.compile(r"(?:^|[/{,])\.(?![./]|$)")
_TOKEN = re.compile(
    r"""(?P<deep>\*\*+/)|(?P<all>\*\*+$)|(?P<star>\*+)|(?P<one>\?)|\\(?P<escaped>.)
    |\[(?P<negated>[!^]?)(?P<members>\]?(?:\\.|[^\]\\])*)\]
    |(?P<open>\{)|(?P<comma>,)|(?P<close>\})|(?P<plain>[^\[\\])""",
    re.VERBOSE | re.DOTALL,
)
# Special in a set of `re`
_IN_SET = re.compile(r"\\(.)|[\[\]&~|^]", re.DOTALL)
_PART = r"[\w.*?-]+"
# Has the same meaning in ripgrep
_SIMPLE = re.compile(rf"(?:{_PART}|\{{{_PART}(?:,{_PART})*\}})+")
_NOT_HIDDEN = r"(?!\.)"
_DIRECTORIES = rf"(?:{_NOT_HIDDEN}[^/]++/)*"


class Glob:
    """A glob pattern for paths relative to a directory.

    A pattern without a slash matches file names at any depth. A wildcard matches neither a slash
    nor a dot at the start of a name. `**` between slashes matches any number of directories.
    """

    def __init__(self, pattern: str) -> None:
        """Compile *pattern*; an empty pattern matches all files that are not hidden.

        Raises:
            RunError: If the pattern is not well formed.
        """
        self.is_hidden = _HIDDEN.search(pattern) is not None
        """Whether a name in the pattern begins with a dot."""
        pattern = pattern or "**"
        if "/" not in pattern:
            pattern = f"**/{pattern}"
        pattern = re.sub(r"^(?:\./+|/+)+", "", pattern)
        if not pattern or pattern.endswith("/"):
            pattern += "**"
        self.depth: int | None = None
        """The most names that a matching path can have; None if there is no limit."""
        if "**" not in pattern:
            self.depth = pattern.count("/") + 1
        name = pattern.rpartition("/")[2]
        self.name: str | None = None
        """A ripgrep glob that the name of every matching file matches; None if there is none."""
        if _SIMPLE.fullmatch(name) and "**" not in name:
            self.name = name
        self._regex = _compiled(pattern)

    def matches(self, path: str) -> bool:
        """Tell whether *path* matches; it must be a relative path with slashes."""
        return self._regex.fullmatch(path) is not None


def split(pattern: str) -> tuple[str, str]:
    """Split *pattern* before its first name with a wildcard: `src/*.py` becomes `src`, `./*.py`."""
    # Path's method raises for ~nobody
    pattern = os.path.expanduser(pattern)  # noqa: PTH111
    *above, name = pattern.split("/")
    if not above:
        return "", pattern
    count = 0
    while count < len(above) and not _MAGIC.search(above[count]):
        count += 1
    directory = "/".join(above[:count])
    if count and not directory:
        directory = "/"
    return directory, "./" + "/".join([*above[count:], name])


def _compiled(pattern: str) -> re.Pattern[str]:
    regex, at, is_start = "", 0, True
    # Of each brace that is open: whether it begins a name
    braces: list[bool] = []
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise _malformed(pattern, "a bracket is not closed, or a backslash ends it")
        at = token.end()
        if token["open"]:
            regex += "(?:"
            braces.append(is_start)
        elif token["close"] and braces:
            regex += ")"
            is_start = braces.pop() and is_start
        elif token["comma"] and braces:
            regex += "|"
            is_start = braces[-1]
        elif is_start and token["deep"]:
            regex += _DIRECTORIES
        elif is_start and token["all"]:
            regex += f"{_DIRECTORIES}{_NOT_HIDDEN}[^/]+"
        else:
            regex += _of_one_name(token, is_start)
            is_start = token.group().endswith("/")
    if braces:
        raise _malformed(pattern, "a brace is not closed")
    try:
        return re.compile(regex, re.DOTALL)
    except re.error as error:
        raise _malformed(pattern, error.msg) from None


def _of_one_name(token: re.Match[str], is_start: bool) -> str:  # noqa: FBT001 - of the translation
    """Return a regular expression for *token*, a part of the pattern without slashes."""
    text = token["escaped"] or token["plain"] or token["comma"] or token["close"]
    if text:
        return re.escape(text)
    guard = ""
    if is_start:
        guard = _NOT_HIDDEN
    if token["one"]:
        return f"{guard}[^/]"
    if token["members"] is None:
        regex = f"{guard}[^/]*"
        if token["deep"]:
            regex += "/"
        return regex
    members = _IN_SET.sub(lambda special: re.escape(special[1] or special[0]), token["members"])
    if token["negated"]:
        members = f"^{members}"
    return f"{guard}(?!/)[{members}]"


def _malformed(pattern: str, why: str) -> RunError:
    return RunError(
        f"{pattern!r} is not a valid glob pattern: {why}. Put a backslash before a character "
        "to match it literally."
    )
