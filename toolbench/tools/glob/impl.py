"""The executor of glob: it walks through the directories once, and returns the newest matches."""

import os
from pathlib import Path
from time import monotonic
from typing import Any

from toolbench.core.executor import ToolExecutor
from toolbench.tools.failure_sentence import RunError, readable
from toolbench.tools.files.paths import working_dir_of
from toolbench.tools.glob.definition import GlobAction, GlobObservation
from toolbench.tools.search.folder_walk import Walk
from toolbench.tools.search.globs import (
    deepest,
    name_test,
    names_hidden,
    path_regex,
)
from toolbench.tools.search.interrupts import Interrupts, interrupted
from toolbench.tools.search.newest import CAP, newest, report
from toolbench.tools.search.place import place_of, resolved, split_pattern

MOST_SECONDS = 20.0
"""The longest time of one search."""


class GlobExecutor(ToolExecutor[GlobAction, GlobObservation]):
    """The executor of glob; any number of calls can run at the same time."""

    def __init__(self, conv_state: Any = None, *, working_dir: str | Path | None = None) -> None:
        """Make an executor; *working_dir* is the directory for calls without a path.

        If *working_dir* is None, it is the working directory of *conv_state*; if both are None, the
        current directory.
        """
        self.working_dir = working_dir_of(conv_state, working_dir)
        self._interrupts = Interrupts()

    def __call__(self, action: GlobAction, conversation: Any = None) -> GlobObservation:
        """Return the files that match the pattern of *action*."""
        try:
            return self._search(action)
        except RunError as failure:
            return GlobObservation.from_text(
                str(failure),
                is_error=True,
                pattern=readable(action.pattern),
                search_path=readable(str(action.path or self.working_dir)),
            )

    def is_parallel_safe(self) -> bool:
        """Return True: any number of calls can run at the same time. Source: OpenHands SDK."""
        return True

    def interrupt(self) -> None:
        """Stop the running searches."""
        self._interrupts.add()

    def _search(self, action: GlobAction) -> GlobObservation:
        pattern = split_pattern(action.pattern)
        top = place_of(action.path, self.working_dir)
        if Path(pattern.directory).is_absolute():
            top = resolved(Path(pattern.directory))
        if not os.path.isdir(top):  # noqa: PTH112 - Path's method raises for a path that is too long
            msg = f"{readable(str(top))} is not a valid directory. Give a directory as path."
            raise RunError(msg)
        base = resolved(top / pattern.directory)
        stopped = self._interrupts.since_now()
        end = monotonic() + MOST_SECONDS
        walk = Walk(
            base,
            top,
            only_path=path_regex(pattern.rest),
            only_name=name_test(pattern.rest),
            hidden=names_hidden(pattern.rest),
            deepest=deepest(pattern.rest),
            stopped=lambda: stopped() or monotonic() > end,
        )
        matches = newest(walk.prefix, walk.by_directory(), CAP + 1)
        if stopped():
            raise interrupted()
        more = ""
        if len(matches) > CAP:
            more = f"[There are more than these {CAP}: narrow the pattern to see others.]"
        is_unfinished = monotonic() > end
        if is_unfinished:
            more = (
                f"[The search was stopped after {MOST_SECONDS:g} s, so there may be more files: "
                "search a smaller directory.]"
            )
        text = report(
            matches[:CAP],
            none=f"No file in {readable(str(top))} matches {action.pattern!r}.",
            ignored=walk.remark("To search a folder of them, give it as path."),
            more=more,
            directories=walk.unreadable,
        )
        return GlobObservation.from_text(
            text,
            files=[readable(file) for file in matches[:CAP]],
            pattern=readable(action.pattern),
            search_path=readable(str(top)),
            truncated=len(matches) > CAP or is_unfinished,
        )
