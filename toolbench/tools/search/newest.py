"""Order files by when they were changed, and show the first of them."""

import os
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop

from toolbench.tools.failure import readable

CAP = 100
"""How many files a search returns."""


def newest_first(paths: Iterable[str]) -> Iterator[str]:
    """Yield *paths*, those changed last first; what is gone by now is left out."""
    heap = list(_dated(paths))
    heapify(heap)  # a caller who wants a few of many need not wait for the order of all
    while heap:
        yield heappop(heap)[1]


def _dated(paths: Iterable[str]) -> Iterator[tuple[int, str]]:
    for path in paths:
        try:
            yield -os.stat(path).st_mtime_ns, path  # noqa: PTH116 - called for every hit
        except OSError:
            continue


def report(files: list[str], *, none: str, more: str, unreadable: int) -> str:
    """Return what a model reads: *files* a line each, and what it should know of the rest.

    Args:
        files: The files found.
        none: What to say if there are none.
        more: What to say if there are more, else empty.
        unreadable: How many directories could not be read.
    """
    lines = [readable(file) for file in files] or [none]
    lines += [more] if more else []
    if unreadable:
        lines.append(f"[Directories that could not be read: {unreadable:,}.]")
    return "\n".join(lines)
