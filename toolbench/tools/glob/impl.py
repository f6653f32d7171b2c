"""The executor of glob: find files whose paths match a pattern, and return the newest ones."""

import os
from pathlib import Path
from typing import Any

from toolbench.tools.failure_sentence import RunError, readable
from toolbench.tools.glob.definition import GlobAction, GlobObservation
from toolbench.tools.search.globs import Glob, split
from toolbench.tools.search.search_executor import MOST_FILES, SearchExecutor, report, resolved


class GlobExecutor(SearchExecutor[GlobAction, GlobObservation]):
    """The executor of glob; any number of calls can run at the same time."""

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

    def _search(self, action: GlobAction) -> GlobObservation:
        directory, rest = split(action.pattern)
        glob = Glob(rest)
        top = self.place(action.path)
        if Path(directory).is_absolute():
            top = resolved(Path(directory))
        # Path's method raises for a path that is too long
        if not os.path.isdir(top):  # noqa: PTH112
            msg = f"{readable(str(top))} is not a valid directory. Give a directory as path."
            raise RunError(msg)
        base = resolved(top / directory)
        text = f"No file in {readable(str(top))} matches {action.pattern!r}."
        files: list[str] = []
        is_cut = False
        if os.path.isdir(base):  # noqa: PTH112
            found = self.find(base, glob)
            files = [readable(file) for file in found.files[:MOST_FILES]]
            is_cut = len(found.files) > MOST_FILES
            more = f"[There are more than these {MOST_FILES}: narrow the pattern to see others.]"
            text = report(found, none=text, more=more)
        return GlobObservation.from_text(
            text,
            files=files,
            pattern=readable(action.pattern),
            search_path=readable(str(top)),
            truncated=is_cut,
        )
