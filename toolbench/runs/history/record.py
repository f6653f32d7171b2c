"""The record of a run: enough to read, compare and repeat it, without secrets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pydantic_core import to_json

from toolbench.core.coercion.coercion import ResultObservation, masked_observation
from toolbench.core.content import TextContent
from toolbench.core.registry import default_registry, resolve_one
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html
from toolbench.display.objects import call_html, call_text
from toolbench.display.tables import TableHead, head_of, returned_frame
from toolbench.errors import ToolbenchError
from toolbench.plain import NOT_KEPT, as_sent, plain, text_of, without_long_fractions
from toolbench.redaction import MARK
from toolbench.runs.cancellation.unfinished_observation import UnfinishedObservation
from toolbench.runs.history.state_words import state_words
from toolbench.runs.run import Run, Source, run_here
from toolbench.runs.shell import running_shell
from toolbench.wording import duration

_DATA = {str, int, float, dict, list}  # the classes of results that are not tables
LIMIT = 1_000_000  # bytes of one observation, and of one text among the arguments
MAX_RESULT = (
    20_000  # characters of a result: displays of records are saved in notebooks
)


def _newest_cell() -> int | None:
    cells = getattr(
        getattr(running_shell(), "history_manager", None), "input_hist_raw", ()
    )
    return len(cells) - 1 if cells else None


def _no_engine(run: Run) -> Observation:
    msg = f"Nothing here can run {run.tool.name}: import toolbench.runs.engine first."
    raise ToolbenchError(msg)


class Reruns:
    """Holds the function that runs a recorded call again; the engine sets this function."""

    def __init__(self) -> None:
        """Set a function that only raises an error."""
        self.perform: Callable[[Run], Observation] = _no_engine


reruns = Reruns()


@dataclass(frozen=True, repr=False)
class RunRecord:
    """The record of a run that has ended."""

    id: int
    tool: str
    arguments: Mapping[str, Any]
    """The arguments as they were sent, with a mark in place of each secret."""
    observation: Observation
    state: str
    seconds: float
    source: str
    started: datetime
    waited: float = field(default=0.0, compare=False)
    """The part of `seconds` in which the run waited for a person."""
    decision: str = ""
    """The decision of the policy and its reason; empty for plain Python calls."""
    traceback: str = ""
    version: str = ""
    """The version label of the tool, if it has one."""
    definition: ToolDefinition[Any, Any] | None = field(default=None, compare=False)
    conversation: Any = field(default=None, compare=False)
    """The conversation that the executor got."""
    cell: int | None = field(default=None, compare=False)
    """The number of the newest cell that had begun when the run ended; None outside a notebook."""
    size: int = field(default=0, compare=False)
    """About how many bytes the record takes in memory."""

    @classmethod
    def of(cls, run: Run) -> "RunRecord":
        """Return the record of *run*."""
        arguments = _shortened(run.secrets.arguments)
        outcome, redactor = run.outcome, run.secrets.redactor
        observation = kept_of(masked_observation(outcome, redactor))
        table = _table_of(outcome)
        if table is not None and isinstance(observation, ResultObservation):
            head = replace(table, rows=redactor.value(table.rows))
            observation = observation.model_copy(update={"result": head})
        return cls(
            id=run.id,
            tool=run.tool.name,
            arguments=arguments,
            observation=observation,
            state=run.state,
            seconds=run.seconds,
            waited=run.waited,
            source=run.source,
            started=run.started,
            decision=run.decision,
            traceback=run.traceback,
            version=run.tool.version,
            definition=run.tool,
            conversation=run.conversation,
            cell=_newest_cell(),
            size=_size(arguments) + _size(observation),
        )

    def rerun(
        self, arguments: Mapping[str, Any] | None = None, /, **kwargs: Any
    ) -> Observation:
        """Run the tool again, as it is defined now, with the same arguments.

        Args:
            arguments: Arguments to change; secrets have to be given again.
            **kwargs: More arguments to change.

        Raises:
            LookupError: If the record was read from a file, and no tool of that name is
                registered here.
            ToolbenchError: If a secret is missing, or an argument was too long to keep.
        """
        return reruns.perform(self.again("python", {**(arguments or {}), **kwargs}))

    def again(self, source: Source, changed: Mapping[str, Any] | None = None) -> Run:
        """Return a new run of the same call, for `perform`; see `rerun`.

        Args:
            source: Where the new run is started.
            changed: The arguments to change.
        """
        tool = self._tool()
        merged = {**self.arguments, **(changed or {})}
        missing = [name for name, value in merged.items() if is_lost(value)]
        if missing:
            msg = (
                f"Run {self.id} did not keep {', '.join(missing)}: secrets and very long "
                f"texts are not recorded. Give them again: .rerun({missing[0]}=...)."
            )
            raise ToolbenchError(msg)
        tool.as_executable()
        return run_here(tool, merged, source, self.conversation)

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
    def worked(self) -> float:
        """The seconds that the tool worked, without the time that it waited for a person."""
        return max(0.0, self.seconds - self.waited)

    @property
    def known_arguments(self) -> dict[str, Any]:
        """The arguments that the record has, as a model or a form sends them.

        Secrets and texts that were too long are left out. A member of an enum is its value, a date
        its text; other Python objects stay as they are.
        """
        return {k: as_sent(v) for k, v in self.arguments.items() if not is_lost(v)}

    def to_dict(self) -> dict[str, Any]:
        """Return the record, JSON-ready."""
        return {
            "id": self.id,
            "tool": self.tool,
            "arguments": plain(self.arguments),
            "observation": plain(self.observation.to_dict()),
            "state": self.state,
            "seconds": round(self.seconds, 6),
            **({"waited": round(self.waited, 6)} if self.waited else {}),
            "source": self.source,
            "started": self.started.isoformat(),
            "decision": self.decision,
            **({"version": self.version} if self.version else {}),
        }

    def __repr__(self) -> str:
        took = duration(self.seconds)
        return f"<Run {self.id}: {self.tool} from {self.source}, {self.state}, {took}>"

    def to_html(self, *, limit: int = MAX_RESULT) -> Html:
        """Return the record, the call and its result, as HTML that needs no kernel.

        Args:
            limit: The most characters to show of the result for people, and of the text for models.
        """
        return call_html(
            self.definition or self.tool,
            self.arguments,
            self.observation,
            remark=", ".join(filter(None, (self._remark, self.decision))),
            limit=limit,
        )

    def to_text(self, *, limit: int = MAX_RESULT) -> str:
        """Return the call and its result as plain text; *limit* is as in `to_html`."""
        return call_text(self.arguments, self.observation, limit=limit)

    @property
    def _remark(self) -> str:
        return f"{state_words(self.state)} after {duration(self.seconds)}, from {self.source}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {
            "text/plain": f"{self!r}\n{self.to_text()}",
            "text/html": self.to_html(),
        }


def kept_of(observation: Observation) -> Observation:
    """Return *observation* for a record: without Python objects, and shortened if it is too large."""
    if isinstance(observation, ResultObservation):
        observation = observation.model_copy(update={"result": None})
    size = _size(observation)
    if size <= LIMIT:
        return observation
    head = observation.text[: LIMIT // 100]
    note = f"{head}\n… {size:,} bytes were returned; history keeps only the start."
    is_unfinished = isinstance(observation, UnfinishedObservation)
    kind = UnfinishedObservation if is_unfinished else Observation
    return kind.from_text(note, is_error=observation.is_error)


def _table_of(observation: Observation) -> TableHead | None:
    """Return the first rows of the result in *observation*; None if the result is not a table."""
    result = vars(observation).get("result")
    if type(result) in _DATA:  # as most results are
        return None
    frame = returned_frame(observation)
    if frame is None:
        return None
    try:
        return head_of(frame)
    except Exception:  # noqa: BLE001 - a table may be any object
        return None


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LIMIT:
        return f"… {len(value):,} characters{NOT_KEPT}"
    if isinstance(value, Mapping):
        return {name: _shortened(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    return value


def is_lost(value: Any) -> bool:
    """Tell whether a part of *value* was not kept: a secret, or a very long text."""
    if isinstance(value, Mapping):
        return any(is_lost(item) for item in value.values())
    if isinstance(value, list):
        return any(is_lost(item) for item in value)
    return isinstance(value, str) and (
        MARK in value or (value.startswith("… ") and value.endswith(NOT_KEPT))
    )


_SIMPLE = frozenset({str, int, float, bool, type(None)})


def _size(value: Any) -> int:
    """Return about how many bytes *value* needs."""
    if isinstance(value, Observation) and value.model_fields_set <= {
        "content",
        "is_error",
        "result",
    }:
        return sum(map(_size, value.content))
    if isinstance(value, TextContent):
        return len(value.text)
    try:
        if type(value) is dict and _SIMPLE.issuperset(map(type, value.values())):
            return sum(len(name) + len(str(item)) for name, item in value.items())
        return len(to_json(without_long_fractions(value), fallback=str))
    except Exception:  # noqa: BLE001 - half a character, a cycle, a user's str()
        return len(text_of(value))
