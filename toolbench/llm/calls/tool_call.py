"""One tool call of a model, read into an action or an error.

The messages of the errors help the model to correct the call.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolbench.core.schema import Action, Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ArgumentsError, Problem, ToolNotFoundError, did_you_mean
from toolbench.jsonschema.types import Json
from toolbench.llm.answers import respond
from toolbench.llm.calls.repairs import Repair
from toolbench.llm.providers import Provider
from toolbench.redaction.detect import hide
from toolbench.runs.perform import perform
from toolbench.runs.run import Source, run_here
from toolbench.values import clip

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
        number = "1 problem"
        if len(self.problems) != 1:
            number = f"{len(self.problems)} problems"
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


CallError = FunctionCallValidationError | FunctionCallNotExistsError


@dataclass(frozen=True)
class CallMetadata:
    """Facts about the message that a call is from."""

    provider: Provider
    sent_name: str
    """The name that the model used."""
    index: int = 0
    """The place of the call in its message, from 0."""
    total: int = 1
    """The number of calls in the message."""
    response_id: str | None = None
    model: str | None = None
    finish: str | None = None
    """The reason why the model stopped, as a word of the provider; a call may be cut off."""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A call: either an `action` that is ready to run, or an `error`."""

    id: str | None
    """The provider's id for the call, which its answer must carry; Gemini may send none."""
    name: str
    """The tool's own name; if there is no such tool, the name that the model used."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """The arguments after the repairs, under the tool's own names; empty if not readable."""
    tool: ToolDefinition[Any, Any] | None = field(default=None, repr=False)
    action: Action | None = field(default=None, repr=False)
    error: CallError | None = None
    repairs: tuple[Repair, ...] = ()
    """All repairs that were made to the call."""
    thought: str = ""
    """The model's text and thinking; only the first call of a message has this text."""
    security_risk: SecurityRisk | None = None
    """The model's rating of the call, if the model was asked for a rating."""
    summary: str | None = None
    """The purpose of the call in the model's words, if the model was asked for it."""
    metadata: CallMetadata

    @property
    def observation(self) -> Observation | None:
        """The error as an observation; None if the call can be run."""
        if self.error is None:
            return None
        return Observation.from_text(str(self.error), is_error=True)

    def run(self, conversation: Any = None, *, source: Source = "model") -> Observation:
        """Run the call and return its observation; the run is in `history()`, like any other run.

        A call with an `error` is not run: its observation is the error.

        Args:
            conversation: Passed to the executor with the action.
            source: The origin of the run, for the history.

        Raises:
            NotImplementedError: If the tool has no executor.
        """
        if self.tool is None or self.action is None:
            return self.observation or Observation()
        self.tool.as_executable()
        return perform(
            run_here(self.tool, self.action, source, conversation, risk=self.security_risk)
        )

    def answer(self, observation: Observation | None = None) -> Json:
        """Return the message that answers the call, like `respond`.

        Args:
            observation: The result of the call; a call with an `error` needs none.

        Raises:
            ValueError: If the call has neither an error nor an observation.
        """
        return respond(self, observation)

    def __repr__(self) -> str:
        schema: Json = {}
        if self.tool:
            schema = self.tool.input_schema
        text = clip(hide(self.arguments, schema), 200)
        state = "ready"
        if self.error:
            state = "error"
        if self.repairs:
            state += f", {len(self.repairs)} repaired"
        return f"<ToolCall {self.name} {text} {state}>"
