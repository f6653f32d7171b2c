"""Apply the rules of .gitignore files as git does: the last rule that matches decides.

The package pathspec does the same, but takes 2.6 times as long for 20,000 paths (124 ms instead of
47 ms), and its import takes about 120 ms too.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from toolbench.tools.failure_sentence import RunError
from toolbench.tools.files.regular_file import read_regular
from toolbench.tools.search.globs import is_magic, rule_regex

# The worst rules of this size take seconds to compile
_MOST_BYTES = 256 * 1024
_EXTENSION = re.compile(r"\*(\.[^*?\[\\.]+)")


class _Rule(NamedTuple):
    pattern: str
    ignores: bool
    only_directories: bool
    anchored: bool


class _Matcher:
    """Several rules that are tested together. Most rules are names or extensions, and need no regex."""

    def __init__(self, rules: Iterable[_Rule]) -> None:
        names, extensions, name_regexes, path_regexes = set(), set(), [], []
        for rule in rules:
            extension = _EXTENSION.fullmatch(rule.pattern)
            if rule.anchored:
                path_regexes.append(rule_regex(rule.pattern))
            elif extension:
                extensions.add(extension[1])
            elif is_magic(rule.pattern):
                name_regexes.append(rule_regex(rule.pattern))
            else:
                names.add(rule.pattern)
        self._names = frozenset(names)
        self._extensions = frozenset(extensions)
        self._name = re.compile("|".join(name_regexes)) if name_regexes else None
        self._path = re.compile("|".join(path_regexes)) if path_regexes else None

    def matches(self, name: str, path: str) -> bool:
        """Tell whether one of the rules matches *name*, or *path*, which ends with *name*."""
        return (
            name in self._names
            or name[name.rfind(".") :] in self._extensions
            or (self._name is not None and self._name.fullmatch(name) is not None)
            or (self._path is not None and self._path.fullmatch(path) is not None)
        )


class _Run(NamedTuple):
    """Consecutive rules of a .gitignore that have the same effect: they ignore files, or include them."""

    ignores: bool
    files: _Matcher
    directories: _Matcher


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The rules of one .gitignore. They test paths that are relative to a directory, the origin.

    The origin is the directory of the .gitignore, or a directory above it.
    """

    runs: tuple[_Run, ...]
    cut: int
    """The length of the path from the origin to the directory of the .gitignore, in characters."""

    def verdict(self, name: str, path: str, is_directory: bool) -> bool | None:  # noqa: FBT001 - called for every file
        """Return whether the rules ignore *path*, whose last part is *name*; None if no rule matches."""
        for run in self.runs:
            matcher = run.directories if is_directory else run.files
            if matcher.matches(name, path[self.cut :]):
                return run.ignores
        return None


def read_rules(origin: Path, below: str) -> IgnoreFile | None:
    """Return the rules of the .gitignore in the directory *below*, a path relative to *origin*.

    *below* ends with a slash; *below* is empty for *origin* itself. Return None if there is no
    .gitignore, or if it has no rules, is far too large, or is not a file (a pipe, a device).
    """
    try:
        data = read_regular(str(origin / below / ".gitignore"), _MOST_BYTES)
    except OSError:
        return None
    text = data.decode("utf-8-sig", "surrogateescape")
    rules = [rule for line in text.split("\n") if (rule := _rule(line))]
    runs = [_run(ignores, list(run)) for ignores, run in groupby(rules, _ignores)]
    return IgnoreFile(tuple(reversed(runs)), len(below)) if runs else None


def is_ignored(
    rules: Sequence[IgnoreFile],
    name: str,
    path: str,
    is_directory: bool,  # noqa: FBT001 - called for every file
) -> bool:
    """Tell whether *rules* ignore *path*; *name* is the last part of *path*.

    If several of *rules* match, the last of them decides.
    """
    for file in reversed(rules):
        verdict = file.verdict(name, path, is_directory)
        if verdict is not None:
            return verdict
    return False


def origin_of(base: Path, top: Path) -> Path:
    """Return the highest directory whose .gitignore counts in *base*.

    This is the repository of *base*, or else *top*, or else *base* itself.
    """
    above = (base, *base.parents)
    # not Path.exists: it raises for a path that is too long
    repositories = (d for d in above if os.path.exists(d / ".git"))  # noqa: PTH110
    outermost = next(repositories, top)
    return outermost if outermost in above else base


def rules_above(origin: Path, parts: Sequence[str]) -> list[IgnoreFile]:
    """Return the rules of each .gitignore from *origin* down to the parent of a directory.

    *parts* is the path of this directory, relative to *origin*. If the rules ignore the directory
    or a directory above it, return an empty list: the caller wants to search an ignored directory,
    so the rules must not hide its files.
    """
    rules: list[IgnoreFile] = []
    for depth, name in enumerate(parts):
        above = "".join(f"{part}/" for part in parts[:depth])
        own = read_rules(origin, above)
        rules += [own] if own else []
        if is_ignored(rules, name, above + name, True):  # noqa: FBT003 - it is one
            return []
    return rules


def _ignores(rule: _Rule) -> bool:
    return rule.ignores


def _run(ignores: bool, rules: list[_Rule]) -> _Run:  # noqa: FBT001 - the key of the run
    files = [rule for rule in rules if not rule.only_directories]
    return _Run(ignores, _Matcher(files), _Matcher(rules))


def _rule(line: str) -> _Rule | None:
    """Return the rule on *line*; None for a blank line, a comment or a broken pattern."""
    line = line.removesuffix("\r")
    text = re.sub(r"(?<!\\) +$", "", line)
    if not text or text.startswith("#"):
        return None
    pattern = text.removeprefix("!")
    ignores = pattern is text
    pattern, only_directories = pattern.removesuffix("/"), pattern.endswith("/")
    anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    try:
        rule_regex(pattern)
    except RunError:
        return None
    return _Rule(pattern, ignores, only_directories, anchored) if pattern else None
