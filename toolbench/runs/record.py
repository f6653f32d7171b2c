"""What is kept of a run: enough to read, compare and repeat it, never a secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json, to_jsonable_python

from toolbench.core.content import TextContent
from toolbench.core.schema import Observation
from toolbench.core.secrecy import hide
from toolbench.core.tool import ToolDefinition

if TYPE_CHECKING:
    from toolbench.runs.run import Run

LIMIT = 1_000_000  # bytes of one observation that are kept


@dataclass(frozen=True, repr=False)
class RunRecord:
    """A run, after it ended."""

    id: int
    tool: str
    arguments: Mapping[str, Any]
    """As they were sent; what the schema calls secret is hidden."""
    observation: Observation
    state: str
    seconds: float
    source: str
    started: datetime
    decision: str = ""
    """What the policy said, for runs from a button or a magic."""
    traceback: str = ""
    definition: ToolDefinition[Any, Any] | None = field(default=None, compare=False)

    @classmethod
    def of(cls, run: "Run") -> "RunRecord":
        """Return the record of *run*."""
        arguments = hide(run.arguments, run.tool.input_schema)
        secrets = getattr(getattr(run.conversation, "state", None), "secrets", None)
        if secrets:
            arguments = secrets.mask_json(to_jsonable_python(arguments, fallback=str))
        return cls(
            id=run.id,
            tool=run.tool.name,
            arguments=arguments,
            observation=shortened(run.observation or Observation()),
            state=run.state,
            seconds=run.seconds,
            source=run.source,
            started=run.started,
            decision=run.decision,
            traceback=run.traceback,
            definition=run.tool,
        )

    def rerun(self) -> Observation:
        """Run the same tool with the same arguments again; secrets are not known any more.

        Raises:
            LookupError: If the record was read from a file: the tool is not known.
        """
        if self.definition is None:
            msg = f"Run {self.id} was read from a file: run {self.tool} by hand."
            raise LookupError(msg)
        from toolbench.runs.engine import (  # noqa: PLC0415 - the engine writes records
            run_tool,
        )

        return run_tool(self.definition.latest(), self.arguments)

    def to_dict(self) -> dict[str, Any]:
        """Return the record, JSON-ready."""
        return {
            "id": self.id,
            "tool": self.tool,
            "arguments": to_jsonable_python(self.arguments, fallback=str),
            "observation": self.observation.to_dict(),
            "state": self.state,
            "seconds": round(self.seconds, 6),
            "source": self.source,
            "started": self.started.isoformat(),
            "decision": self.decision,
        }

    def __repr__(self) -> str:
        took = f"{self.seconds:.2f} s"
        return f"<Run {self.id}: {self.tool} from {self.source}, {self.state}, {took}>"


def shortened(observation: Observation) -> Observation:
    """Return *observation*, or a note in its place if it is too large to keep."""
    if observation.model_fields_set <= {"content", "is_error"} and all(
        isinstance(c, TextContent) and len(c.text) * 4 < LIMIT
        for c in observation.content
    ):
        return observation  # most are small: no need to measure
    size = len(to_json(observation, fallback=str))
    if size <= LIMIT:
        return observation
    head = observation.text[: LIMIT // 100]
    note = f"{head}\n… {size:,} bytes were returned; history keeps only the start."
    return Observation.from_text(note, is_error=observation.is_error)
