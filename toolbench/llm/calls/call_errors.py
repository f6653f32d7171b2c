"""The errors of a model's tool call; their messages help the model to correct the call."""

from collections.abc import Iterable, Sequence

from toolbench.errors import (
    ArgumentsError,
    Problem,
    ToolNotFoundError,
    did_you_mean,
)

# Names listed when a tool does not exist
_MAX_NAMES = 20


class FunctionCallValidationError(ArgumentsError):
    """The arguments of a call are not readable or not valid; `problems` lists each fault.

    Source: OpenHands, `FunctionCallValidationError`.
    """

    def __init__(self, tool: str, problems: Sequence[Problem]) -> None:
        """Make the error. *tool* is the name that the model used, and *problems* are the faults."""
        super().__init__(tool, problems)

    def __str__(self) -> str:
        count = len(self.problems)
        number = "1 problem" if count == 1 else f"{count} problems"
        lines = "".join(f"\n- {problem}" for problem in self.problems)
        return (
            f"The call of {self.tool!r} was not run, {number} with its arguments:{lines}"
            "\nCorrect this and send the whole call again."
        )


class FunctionCallNotExistsError(ToolNotFoundError):
    """A model called a tool that was not offered to it.

    Source: OpenHands, `FunctionCallNotExistsError`.
    """

    def __init__(self, name: str, known: Iterable[str]) -> None:
        """Make the error; its message suggests the name in *known* that is most like *name*."""
        self.name = name
        self.known = tuple(known)
        super().__init__(str(self))

    def __str__(self) -> str:
        near = did_you_mean(self.name, self.known)
        names = ", ".join(self.known[:_MAX_NAMES]) or "none"
        more = len(self.known) - _MAX_NAMES
        if more > 0:
            names += f" and {more} more"
        return f"There is no tool called {self.name!r}.{near} The tools are: {names}."
