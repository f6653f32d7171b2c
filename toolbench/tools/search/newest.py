"""Sort files by the time of their last change, and list the newest files."""

import os
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop
from math import inf

from toolbench.tools.failure_sentence import readable
from toolbench.tools.search.folder_walk import DirectoryFiles

CAP = 100
"""The most files that a search returns."""
# Paths are sorted when there are 8 times as many as needed
_SORTED_TIMES = 8


def newest(prefix: str, directories: Iterable[DirectoryFiles], most: int) -> list[str]:
    """Return the first *most* paths of `newest_first`; only few other paths are kept in memory."""
    latest: list[tuple[int, str]] = []
    oldest = -inf
    for directory, files in directories:
        for file in files:
            try:
                changed = file.stat().st_mtime_ns
            except OSError:
                continue
            if changed < oldest:
                continue
            latest.append((-changed, directory + file.name))
            if len(latest) >= _SORTED_TIMES * most:
                latest.sort()
                del latest[most:]
                oldest = -latest[-1][0]
    return [prefix + path for _, path in sorted(latest)[:most]]


def newest_first(prefix: str, paths: Iterable[str]) -> Iterator[str]:
    """Yield *prefix* + path for each of *paths*; the file with the latest change comes first.

    Files that were removed meanwhile are skipped.
    """
    heap = []
    for path in paths:
        whole = prefix + path
        try:
            heap.append((-os.stat(whole).st_mtime_ns, whole))  # noqa: PTH116 - for every hit
        except OSError:
            continue
    # For a few of many files, no need to sort all
    heapify(heap)
    while heap:
        yield heappop(heap)[1]


def report(
    files: list[str],
    *,
    none: str,
    ignored: str,
    more: str,
    directories: int,
    unread: int = 0,
) -> str:
    """Return the text for a model: the paths *files*, one per line, and remarks about other files.

    Args:
        files: The matching files.
        none: The text to return if *files* is empty.
        ignored: A remark about ignored files, for the same case; empty if there are none.
        more: A remark that there are more files; empty if there are no more.
        directories: The number of directories that could not be read.
        unread: The number of files that could not be read.
    """
    lines = [readable(file) for file in files] or [none, *([ignored] if ignored else [])]
    lines += [more] if more else []
    if directories:
        lines.append(f"[Directories that could not be read: {directories:,}.]")
    if unread:
        lines.append(f"[Files that could not be read: {unread:,}.]")
    return "\n".join(lines)
