"""The executor of grep: find files with a line that matches, and return the newest ones."""

import re
from typing import Any

from toolbench.tools.failure_sentence import RunError, readable
from toolbench.tools.grep.definition import GrepAction, GrepObservation
from toolbench.tools.search.globs import Glob
from toolbench.tools.search.search_executor import MOST_FILES, SearchExecutor, report

# Where `n` after a backslash is no line end: after another backslash, or in a set
_NO_LINE_END = re.compile(r"\\[^n]|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)

# What no program takes as an argument
_NO_TEXT = re.compile(r"[\0\ud800-\udfff]")


class GrepExecutor(SearchExecutor[GrepAction, GrepObservation]):
    """The executor of grep; any number of calls can run at the same time."""

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

    def _search(self, action: GrepAction) -> GrepObservation:
        if re.search(r"\n|\\n", _NO_LINE_END.sub("", action.pattern)):
            msg = (
                f"{action.pattern!r} spans several lines, but lines are searched one by one. "
                "Search for a part within one line."
            )
            raise RunError(msg)
        if _NO_TEXT.search(action.pattern):
            msg = (
                f"{action.pattern!r} has a NUL or half a character, which no line of text has. "
                "Search for other characters."
            )
            raise RunError(msg)
        glob = Glob(action.include or "")
        place = self.place(action.path)
        where = readable(str(place))
        if not place.is_dir() and not place.is_file():
            msg = f"{where} is neither a regular file nor a directory: only those are searched."
            raise RunError(msg)
        found = self.find(place, glob, action.pattern)
        none = f"No line matches {action.pattern!r} in {where}"
        if action.include:
            none += f", in files that match {action.include!r}"
        more = f"[More files match than these {MOST_FILES}: narrow pattern, path or include.]"
        return GrepObservation.from_text(
            report(found, none=f"{none}.", more=more),
            matches=[readable(file) for file in found.files[:MOST_FILES]],
            pattern=readable(action.pattern),
            search_path=where,
            include_pattern=action.include and readable(action.include),
            truncated=len(found.files) > MOST_FILES,
        )
