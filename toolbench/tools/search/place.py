"""Find the directory where a search begins, from the path and the pattern that a model sent."""

import os
from pathlib import Path
from typing import NamedTuple

from toolbench.tools.failure_sentence import RunError, readable
from toolbench.tools.search.globs import is_magic
from toolbench.values import clip


class Pattern(NamedTuple):
    """A glob pattern in two parts: a directory, and the pattern below this directory."""

    directory: str
    rest: str


def split_pattern(pattern: str) -> Pattern:
    """Split *pattern* before its first name with a wildcard: `src/*.py` becomes `src` and `./*.py`."""
    pattern = os.path.expanduser(pattern)  # noqa: PTH111 - Path's method raises for ~nobody
    *above, name = pattern.split("/")
    names = next((n for n, part in enumerate(above) if is_magic(part)), len(above))
    if not names:
        return Pattern("", pattern or "**")
    rest = "/".join([*above[names:], name or "**"])
    return Pattern("/".join(above[:names]) or "/", f"./{rest}")


def place_of(path: str | None, working_dir: Path) -> Path:
    """Return the absolute path of *path* without links; of *working_dir* if *path* is None or empty.

    Raises:
        RunError: If *path* does not exist.
    """
    path_text = os.path.expanduser(path or ".")  # noqa: PTH111 - Path's method raises for ~nobody
    candidate = working_dir / path_text
    if not os.path.exists(candidate):  # noqa: PTH110 - Path's method raises for a path that is too long
        begin = readable(str(working_dir))
        place = path if path is not None else begin
        msg = (
            f"{place!r} is not a valid directory: there is no such path. Give an absolute one; "
            f"without a path the search begins in {begin!r}."
        )
        raise RunError(msg)
    return resolved(candidate)


def resolved(path: Path) -> Path:
    """Return the absolute path of *path* without links; *path* need not exist.

    Raises:
        RunError: If *path* is too long, has a circle of links, or has an invalid character.
    """
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        name = readable(clip(str(path)))
        msg = f"{name} cannot be searched ({readable(clip(str(error)))}). Check the path."
        raise RunError(msg) from None


def check_working_dir(working_dir: Path) -> None:
    """Check that *working_dir* is a directory. A call that gives no path searches there.

    Raises:
        ValueError: If it is not a directory. The OpenHands SDK raises the same error.
    """
    if not os.path.isdir(working_dir):  # noqa: PTH112 - Path's method raises, as above
        msg = (
            f"{readable(str(working_dir))!r} is not a valid directory to search. Create it, "
            "or give another working_dir."
        )
        raise ValueError(msg)
