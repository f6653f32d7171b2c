"""The error of a line that a magic of toolbench cannot read."""

from IPython.core import error


class UsageError(error.UsageError):
    """A line is wrong. This is an error of its cell, which papermill and nbclient report too.

    What they do not read is stderr, to which IPython writes the usage errors of its own class.
    """

    def _render_traceback_(self) -> list[str]:
        """Return only the message, for IPython: a traceback would not help."""
        return [f"UsageError: {self}"]
