"""Recognize what an older server writes to stderr about `server/discover`, and put one sentence in its place."""

import re

REMARK = (
    "[toolbench] This server does not know server/discover, by which toolbench asks for the newer "
    "protocol; its warning about that is left out. It is no error."
)
ENDED = (
    "[toolbench] The process ended before it had answered server/discover, by which toolbench asks for "
    "the newer protocol. Some older servers do; it is started again in the older protocol."
)

_BEGIN = re.compile(
    r"Failed to validate request: \d|ValidationError: \d+ validation errors for ClientRequest"
)
_QUESTION = "input_value='server/discover'"
_BODY = re.compile(
    r"""
    \s{25}.*                                    # a wrapped line, by rich
    | [A-Z]\w+Request(\.[\w\[\],-]+)*           # the place of an error
    | \s+\S.*\[type=\w+,\ input_value=.*        # the error there
    | \s+For\ further\ information\ visit\ .*
    """,
    re.VERBOSE,
)
# Lines until the warning has named the request
_MOST = 8

Line = tuple[str, int]
"""A line, and its size before it was cut."""


class ProbeWarningFilter:
    """Lets lines of stderr pass, but not the warning about our own `server/discover`.

    Python servers with an SDK below version 2 write it at each start: about a hundred lines of
    pydantic, which look like a failure.
    """

    def __init__(self) -> None:
        """Begin outside of such a warning."""
        self._waiting: list[Line] = []
        self._is_inside = False

    def passed(self, line: Line) -> list[Line]:
        """Return the lines to show now that *line* was written: it, none, or also earlier lines."""
        text = line[0]
        if self._is_inside:
            if _BODY.fullmatch(text):
                return []
            self._is_inside = False
        if not self._waiting and not _BEGIN.search(text):
            return [line]
        if self._waiting and not _BODY.fullmatch(text):
            return [*self.rest(), *self.passed(line)]
        self._waiting.append(line)
        if _QUESTION in text:
            self._waiting, self._is_inside = [], True
            return [(REMARK, len(REMARK))]
        return self.rest() if len(self._waiting) >= _MOST else []

    def rest(self) -> list[Line]:
        """Return the lines that still wait, because no more lines will come."""
        lines, self._waiting = self._waiting, []
        return lines
