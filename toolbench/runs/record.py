"""What is kept of a run: enough to read, compare and repeat it, never a secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json, to_jsonable_python

from toolbench.core.content import TextContent
from toolbench.core.registry import default_registry, resolve_one
from toolbench.core.results import ResultObservation
from toolbench.core.schema import Observation
from toolbench.core.secrecy import HIDDEN
from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html
from toolbench.display.objects import call_html, call_text
from toolbench.errors import ToolbenchError

if TYPE_CHECKING:
    from toolbench.runs.run import Run, Source

LIMIT = 1_000_000  # bytes of one observation, and of one text among the arguments
SHOWN = 20_000  # characters of a result: displays of records are saved in notebooks
_NOT_KEPT = "characters, not kept"


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
    conversation: Any = field(default=None, compare=False)
    """What the executor was given beside its action."""
    size: int = field(default=0, compare=False)
    """About how many bytes it keeps in memory."""

    @classmethod
    def of(cls, run: "Run") -> "RunRecord":
        """Return the record of *run*."""
        hide = run.confidence.hide
        arguments = _shortened(run.confidence.arguments)
        observation = kept_of(hide(run.outcome))
        return cls(
            id=run.id,
            tool=run.tool.name,
            arguments=arguments,
            observation=observation,
            state=run.state,
            seconds=run.seconds,
            source=run.source,
            started=run.started,
            decision=run.decision,
            traceback=run.traceback,
            definition=run.tool,
            conversation=run.conversation,
            size=_size(arguments) + _size(observation),
        )

    def rerun(
        self, arguments: Mapping[str, Any] | None = None, /, **kwargs: Any
    ) -> Observation:
        """Run the same tool, as it is defined now, with the same arguments again.

        Args:
            arguments: Arguments to change; secrets have to be given again.
            **kwargs: More of them.

        Raises:
            LookupError: If the record was read from a file, and no tool of that name is
                registered here.
            ToolbenchError: If a secret is missing, or an argument was too long to keep.
        """
        from toolbench.runs.engine import (  # noqa: PLC0415 - the engine writes records
            perform,
        )

        return perform(self.again("python", {**(arguments or {}), **kwargs}))

    def again(
        self, source: "Source", changed: Mapping[str, Any] | None = None
    ) -> "Run":
        """Return a run of the same call for `perform`, asked for from *source*; see `rerun`."""
        tool = self._tool()
        given = {**self.arguments, **(changed or {})}
        missing = [name for name, value in given.items() if _is_lost(value)]
        if missing:
            msg = (
                f"Run {self.id} did not keep {', '.join(missing)}: secrets and very long "
                f"texts are not recorded. Give them again: .rerun({missing[0]}=...)."
            )
            raise ToolbenchError(msg)
        from toolbench.runs.engine import (  # noqa: PLC0415 - as above
            run_here,
        )

        tool.as_executable()
        return run_here(tool, given, source, self.conversation)

    def _tool(self) -> ToolDefinition[Any, Any]:
        if self.definition is not None:
            return self.definition.latest()
        if self.tool in default_registry:
            return resolve_one(self.tool)
        msg = (
            f"Run {self.id} was read from a file, and no tool {self.tool!r} is registered "
            "here: define it first."
        )
        raise LookupError(msg)

    @property
    def known_arguments(self) -> dict[str, Any]:
        """The arguments that were kept: without secrets and texts that were too long."""
        return {k: v for k, v in self.arguments.items() if not _is_lost(v)}

    def to_dict(self) -> dict[str, Any]:
        """Return the record, JSON-ready."""
        return {
            "id": self.id,
            "tool": self.tool,
            "arguments": _jsonable(self.arguments),
            "observation": _described(self.observation),
            "state": self.state,
            "seconds": round(self.seconds, 6),
            "source": self.source,
            "started": self.started.isoformat(),
            "decision": self.decision,
        }

    def __repr__(self) -> str:
        took = f"{self.seconds:.2f} s"
        return f"<Run {self.id}: {self.tool} from {self.source}, {self.state}, {took}>"

    def to_html(self, *, limit: int = SHOWN) -> Html:
        """Return the record as HTML that needs no kernel: what was called, and what came out.

        Args:
            limit: Characters of the result to show, head and tail of each of its two sides.
        """
        return call_html(
            self.definition or self.tool,
            self.arguments,
            self.observation,
            remark=", ".join(filter(None, (self._remark, self.decision))),
            limit=limit,
        )

    def to_text(self, *, limit: int = SHOWN) -> str:
        """Return what `to_html` shows, as text."""
        return call_text(self.arguments, self.observation, limit=limit)

    @property
    def _remark(self) -> str:
        return f"{self.state} after {self.seconds:.2f} s, from {self.source}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {
            "text/plain": f"{self!r}\n{self.to_text()}",
            "text/html": self.to_html(),
        }


def _described(observation: Observation) -> Any:
    try:
        return _jsonable(observation.to_dict())
    except ValueError:  # a field of the tool's own that no JSON can carry
        text = {"type": "text", "text": observation.text}
        kind = type(observation).__name__
        return {"kind": kind, "content": [text], "is_error": observation.is_error}


def kept_of(observation: Observation) -> Observation:
    """Return what is kept of *observation*: no Python objects, a note if it is too large."""
    if isinstance(observation, ResultObservation):
        observation = observation.model_copy(update={"result": None})
    size = _size(observation)
    if size <= LIMIT:
        return observation
    head = observation.text[: LIMIT // 100]
    note = f"{head}\n… {size:,} bytes were returned; history keeps only the start."
    return Observation.from_text(note, is_error=observation.is_error)


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LIMIT:
        return f"… {len(value):,} {_NOT_KEPT}"
    if isinstance(value, Mapping):
        return {name: _shortened(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    return value


def _is_lost(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_is_lost(item) for item in value.values())
    if isinstance(value, list):
        return any(_is_lost(item) for item in value)
    return isinstance(value, str) and (
        value == HIDDEN or (value.startswith("… ") and value.endswith(_NOT_KEPT))
    )


def _size(value: Any) -> int:
    """Return about how many bytes *value* is; most are small texts, quickly measured."""
    if isinstance(value, Observation) and value.model_fields_set <= {
        "content",
        "is_error",
        "result",
    }:
        return sum(map(_size, value.content))
    if isinstance(value, TextContent):
        return len(value.text)
    try:
        return len(to_json(value, fallback=str))
    except ValueError:  # a lone surrogate, a cycle
        return len(str(value))


def _jsonable(value: Any) -> Any:
    """Return *value* as JSON can carry it, whatever is in it."""
    try:
        plain = to_jsonable_python(value, fallback=str, bytes_mode="base64")
    except ValueError as error:  # it holds itself
        return f"({type(value).__name__} that JSON cannot carry: {error})"
    return _finite(plain)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
