"""Order files by when they were changed, and show the first of them."""

import os
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop

from toolbench.tools.failure_sentence import readable

CAP = 100
"""How many files a search returns."""


def newest_first(prefix: str, paths: Iterable[str]) -> Iterator[str]:
    """Yield *paths* behind *prefix*, those changed last first; what is gone is left out."""
    heap = []
    for path in paths:
        whole = prefix + path
        try:
            heap.append((-os.stat(whole).st_mtime_ns, whole))  # noqa: PTH116 - for every hit
        except OSError:
            continue
    heapify(heap)  # a caller who wants a few of many need not wait for the order of all
    while heap:
        yield heappop(heap)[1]


def report(
    files: list[str], *, none: str, more: str, directories: int, unread: int = 0
) -> str:
    """Return what a model reads: *files* a line each, and what it should know of the rest.

    Args:
        files: The files found.
        none: What to say if there are none.
        more: What to say if there are more, else empty.
        directories: How many directories could not be read.
        unread: How many files could not.
    """
    lines = [readable(file) for file in files] or [none]
    lines += [more] if more else []
    if directories:
        lines.append(f"[Directories that could not be read: {directories:,}.]")
    if unread:
        lines.append(f"[Files that could not be read: {unread:,}.]")
    return "\n".join(lines)
