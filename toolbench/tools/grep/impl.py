"""The executor of grep: it lists files, selects some with ripgrep, and matches their lines."""

from collections.abc import Callable
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from toolbench.core.executor import ToolExecutor
from toolbench.tools.failure_sentence import RunError, readable
from toolbench.tools.files.paths import working_dir_of
from toolbench.tools.grep.definition import GrepAction, GrepObservation
from toolbench.tools.grep.line_pattern import LinePattern
from toolbench.tools.grep.ripgrep import Ripgrep
from toolbench.tools.search.folder_walk import Walk
from toolbench.tools.search.globs import names_hidden, path_regex
from toolbench.tools.search.interrupts import Interrupts, interrupted
from toolbench.tools.search.kernel_files import is_of_the_kernel
from toolbench.tools.search.newest import CAP, newest_first, report
from toolbench.tools.search.place import place_of


class GrepExecutor(ToolExecutor[GrepAction, GrepObservation]):
    """The executor of grep; any number of calls can run at the same time."""

    def __init__(self, conv_state: Any = None, *, working_dir: str | Path | None = None) -> None:
        """Make an executor; *working_dir* is the directory for calls without a path.

        If *working_dir* is None, it is the working directory of *conv_state*; if both are None, the
        current directory.
        """
        self.working_dir = working_dir_of(conv_state, working_dir)
        self._interrupts = Interrupts()
        self._ripgrep = Ripgrep()

    def __call__(self, action: GrepAction, conversation: Any = None) -> GrepObservation:
        """Return the files that have a line in which the pattern of *action* matches."""
        try:
            return self._search(action)
        except RunError as failure:
            return GrepObservation.from_text(
                str(failure),
                is_error=True,
                pattern=readable(action.pattern),
                search_path=readable(str(action.path or self.working_dir)),
                include_pattern=action.include and readable(action.include),
            )

    def interrupt(self) -> None:
        """Stop the running searches."""
        self._interrupts.add()
        self._ripgrep.stop()

    def _search(self, action: GrepAction) -> GrepObservation:
        stopped = self._interrupts.since_now()
        line_pattern = LinePattern(action.pattern, stopped)
        place = place_of(action.path, self.working_dir)
        walk = None if place.is_file() else _walk(place, action.include, stopped)
        matches = self._matching_files(line_pattern, place, walk, action.include, stopped)
        if stopped():
            raise interrupted()
        where = readable(str(place))
        of = f", in files that match {action.include!r}" if action.include else ""
        more = f"[More files match than these {CAP}: narrow pattern, path or include.]"
        text = report(
            matches[:CAP],
            none=f"No line matches {action.pattern!r} in {where}{of}.",
            ignored="" if walk is None else walk.remark("To search one, give it as path."),
            more=more if len(matches) > CAP else "",
            directories=0 if walk is None else walk.unreadable,
            unread=line_pattern.unread,
        )
        return GrepObservation.from_text(
            text,
            matches=[readable(file) for file in matches[:CAP]],
            pattern=readable(action.pattern),
            search_path=where,
            include_pattern=action.include and readable(action.include),
            truncated=len(matches) > CAP,
        )

    def _matching_files(
        self,
        line_pattern: LinePattern,
        place: Path,
        walk: Walk | None,
        include: str | None,
        stopped: Callable[[], bool],
    ) -> list[str]:
        """Return the newest matching files of *walk*; without a walk, *place* itself if it matches.

        At most `CAP` + 1 files are returned. If there are more than `CAP`, the caller knows that it
        cannot show all matching files.
        """
        if walk is None:
            return [path for path in (str(place),) if line_pattern.accepts(path)]
        with self._ripgrep.beside(walk, line_pattern.needed, include) as narrowed:
            files = list(walk)
            likely = narrowed()
        if likely is None:
            going_on = takewhile(lambda _: not stopped(), files)
            matching = (f for f in going_on if line_pattern.accepts(walk.prefix + f))
            ordered = newest_first(walk.prefix, matching)
        else:
            paths = newest_first(walk.prefix, likely.intersection(files))
            ordered = filter(line_pattern.accepts, takewhile(lambda _: not stopped(), paths))
        return list(islice(ordered, CAP + 1))


def _walk(place: Path, include: str | None, stopped: Callable[[], bool]) -> Walk:
    _check_searchable(place)
    return Walk(
        place,
        place,
        only_path=path_regex(include) if include else None,
        hidden=names_hidden(include or ""),
        links=False,
        stopped=stopped,
    )


def _check_searchable(place: Path) -> None:
    """Check that *place* is a directory, and not a directory of the operating system's kernel.

    Raises:
        RunError: If it is not a directory, or is a directory of the kernel.
    """
    if not place.is_dir():
        msg = f"{readable(str(place))} is neither a regular file nor a directory: only those are searched."
        raise RunError(msg)
    if is_of_the_kernel(place):
        msg = (
            f"{readable(str(place))} is a directory of the kernel: some of its files never end, "
            "and some change by being read. Give the one file to search as path."
        )
        raise RunError(msg)
