"""The record of a run: enough to read, compare and repeat it, without secrets."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from datetime import date, datetime, time
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import from_json, to_json

from toolbench.core.coercion import (
    ResultObservation,
    answer_data,
    data_frame_class,
    frame_of,
    is_written_as_json,
    masked_observation,
)
from toolbench.core.content import TextContent
from toolbench.core.registry import find_tool
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress
from toolbench.display.escape import Html
from toolbench.display.objects import call_html, call_text
from toolbench.display.page import Tone
from toolbench.display.tables import TableHead, head_of, returned_frame
from toolbench.errors import ToolbenchError, ToolNotFoundError
from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor
from toolbench.runs.argument_forms import form_by_type
from toolbench.runs.kernel import running_shell
from toolbench.runs.questions import Answer
from toolbench.runs.run import Run, Source, run_here
from toolbench.runs.unfinished_observation import UnfinishedObservation
from toolbench.values import NOT_KEPT, is_json, plain, text_of
from toolbench.wording import time_taken

if TYPE_CHECKING:
    from toolbench.runs.run import State


# Bytes of one observation, and of one text among the arguments
LIMIT = 1_000_000
# Results that are not tables
_DATA = frozenset({str, int, float, dict, list})
_JSON = (
    bool,
    int,
    float,
    dict,
    list,
    tuple,
    set,
    frozenset,
    deque,
    BaseModel,
    date,
    time,
)
_LOST = {
    "table": "a table of which it has only the first rows, as text",
    "object": "a Python object, which is not kept",
    "large": "too large to keep",
    "json": "data with a secret in it, which is hidden",
}
_SIMPLE = frozenset({str, int, float, bool, type(None)})


class RecordedObservation(ResultObservation):
    """The observation in a record. Its data is made of the text, so it needs no room."""

    form: SkipJsonSchema[str] = Field(default="", repr=False)
    """What the result was: `nothing`, `text`, `json` (the text is its JSON), `data` (in `result`,
    which is not written), `table`, `object` or `large`; empty if unknown."""
    warnings: SkipJsonSchema[list[str]] = Field(default_factory=list, repr=False)
    """The problems of a server's answer."""
    as_declared: SkipJsonSchema[bool] = Field(default=True, repr=False)
    """Whether the answer of a server fits the output schema of the tool."""

    @property
    def _asides(self) -> list[str]:
        return self.warnings

    @property
    def _is_as_declared(self) -> bool:
        return self.as_declared

    @property
    def data(self) -> Any:
        """The data of the result: JSON (a date is a text), a text, or a table.

        Raises:
            ToolbenchError: If the record does not have it.
        """
        if self.form == "nothing":
            return None
        if self.form == "text":
            return self.text
        if self.form == "data" and self.result is not None:
            return self.result
        if self.form == "json":
            try:
                return from_json(self.text)
            except ValueError:
                raise self._lost() from None
        return self._table()

    @property
    def df(self) -> Any:
        """The data as a pandas DataFrame. In a table, all but numbers are texts.

        Raises:
            MissingExtraError: If pandas is not installed.
            ToolbenchError: If the record does not have the data.
            TypeError: If the data is not a list of objects.
        """
        return frame_of(self.data)

    def _table(self) -> Any:
        head = self.result
        if not isinstance(head, TableHead) or not head.is_whole:
            raise self._lost()
        labels = [row[0] for row in head.rows]
        frame = data_frame_class()(
            [row[1:] for row in head.rows],
            columns=list(head.columns),
            index=None if labels == list(range(len(labels))) else labels,
        )
        frame.index.name = head.label or None
        return frame

    def _lost(self) -> ToolbenchError:
        what = _LOST.get(self.form, "not in its file")
        msg = (
            f"The record does not have the data of this result: it was {what}. `.text` is what "
            "the model read; `.rerun()` of the record makes the result again."
        )
        return ToolbenchError(msg)


def recorded(outcome: Observation, redactor: Redactor) -> Observation:
    """Return *outcome* for a record, without Python objects and the secrets of *redactor*."""
    # First without what is not kept: it is not searched for secrets
    observation = kept_of(masked_observation(_without_objects(outcome), redactor))
    if not isinstance(outcome, ResultObservation) or observation.is_error:
        return observation
    # Too large
    if isinstance(observation, RecordedObservation):
        return observation
    table = _table_of(outcome, redactor)
    if table is None:
        form = _form_of(outcome.result, outcome)
        return RecordedObservation(content=observation.content, form=form)
    return RecordedObservation(content=observation.content, form="table", result=table)


def recorded_in(fields: Mapping[str, Any], *, is_stopped: bool) -> Observation:
    """Return the observation that a file has as *fields*.

    Args:
        fields: The JSON of `to_dict` of an observation of any class.
        is_stopped: Whether the run was refused or cancelled.
    """
    own = {name: fields[name] for name in ("content", "is_error") if name in fields}
    if is_stopped and own.get("is_error"):
        return UnfinishedObservation.model_validate(own)
    observation = RecordedObservation(**own, form=str(fields.get("form", "")), **_faults(fields))
    blocks, structured = fields.get("blocks") or [], fields.get("structured")
    if not blocks and structured is None:
        return observation
    data = answer_data(structured, blocks, observation.text)
    form = "nothing" if data is None else "data"
    return observation.model_copy(update={"result": data, "form": form})


def kept_of(observation: Observation) -> Observation:
    """Return *observation* for a record: without Python objects, and shortened if it is too large."""
    observation = _without_objects(observation)
    if isinstance(observation, UnfinishedObservation) and observation.partial is not None:
        partial = kept_of(observation.partial)
        rest = kept_of(observation.model_copy(update={"partial": None}))
        return rest.model_copy(update={"partial": partial})
    size = size_of(observation)
    if size <= LIMIT:
        return observation
    head = observation.text[: LIMIT // 100]
    note = f"{head}\n… {size:,} bytes were returned; history keeps only the start."
    if isinstance(observation, UnfinishedObservation):
        return UnfinishedObservation.from_text(note, is_error=observation.is_error)
    faults = _faults(vars(observation))
    is_error = observation.is_error
    return RecordedObservation.from_text(note, is_error=is_error, form="large", **faults)


def _faults(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the problems that *fields* have, if they are the fields of a server's answer."""
    if "as_declared" not in fields:
        return {}
    return {name: fields[name] for name in ("warnings", "as_declared") if name in fields}


def _without_objects(observation: Observation) -> Observation:
    """Return *observation* without the Python objects that a function returned."""
    if isinstance(observation, ResultObservation):
        return observation.model_copy(update={"result": None})
    if isinstance(observation, UnfinishedObservation) and observation.partial is not None:
        partial = _without_objects(observation.partial)
        return observation.model_copy(update={"partial": partial})
    return observation


def fields_of(observation: Observation) -> dict[str, Any]:
    """Return *observation*, of a record, as `to_dict` does, with the fields of a partial result."""
    fields = observation.to_dict()
    if isinstance(observation, UnfinishedObservation) and observation.partial is not None:
        return {**observation.partial.to_dict(), **fields}
    return fields


def _form_of(result: Any, observation: Observation) -> str:
    """Return the form of *result*; see `RecordedObservation`.

    Args:
        result: The value that the tool returned.
        observation: The observation of it, in which no secret is hidden yet.
    """
    content = observation.content
    # Images
    if len(content) != 1 or not isinstance(content[0], TextContent):
        return "object"
    if result is None:
        return "nothing"
    if isinstance(result, str):
        return "text"
    kind = type(result)
    is_data = issubclass(kind, _JSON) or is_dataclass(kind)
    is_whole = is_data and is_written_as_json(result) and _can_be_read(content[0].text)
    return "json" if is_whole else "object"


def _can_be_read(text: str) -> bool:
    """Tell whether *text* is JSON: bytes, or a loop, are not."""
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def _table_of(observation: Observation, redactor: Redactor) -> TableHead | None:
    """Return the first rows of the result in *observation*, without the secrets of *redactor*.

    None if the result is not a table.
    """
    result = vars(observation).get("result")
    # As most results are
    if type(result) in _DATA:
        return None
    frame = returned_frame(observation)
    if frame is None:
        return None
    try:
        return head_of(frame, redactor.value)
    except Exception:  # noqa: BLE001 - a table may be any object
        return None


def size_of(value: Any) -> int:
    """Return about how many bytes *value* needs."""
    if isinstance(value, UnfinishedObservation) and value.partial is not None:
        parts = (*value.content, value.for_person, value.partial)
        return sum(map(size_of, parts))
    if isinstance(value, Observation) and value.model_fields_set <= {
        "content",
        "is_error",
        "result",
        "form",
    }:
        return sum(map(size_of, value.content))
    if isinstance(value, TextContent):
        return len(value.text)
    try:
        if type(value) is dict and _SIMPLE.issuperset(map(type, value.values())):
            return sum(len(name) + len(str(item)) for name, item in value.items())
        return len(to_json(value, fallback=str))
    except Exception:  # noqa: BLE001 - half a character, a cycle, a user's str()
        return len(text_of(value))


# --- the words for a state ------------------------------------------------------------

STATE_WORDS: "dict[State, str]" = {
    "new": "",
    "running": "running",
    "waiting": "waiting for an answer",
    "stopping": "stopping…",
    "ok": "succeeded",
    "error": "failed",
    "cancelled": "cancelled",
    "denied": "declined",
}
_TONES: dict[str, Tone] = {"ok": "success", "error": "danger", "denied": "warning"}


def state_words(state: str, outcome: Observation | None = None) -> str:
    """Return the words for *state*; an unknown state, perhaps of an old journal, is returned unchanged.

    *outcome* is the result of a run that has ended: a server's tool may return something else than it
    declares.
    """
    words: dict[str, str] = dict(STATE_WORDS.items())
    remark = ", not as declared" if _is_broken(state, outcome) else ""
    return words.get(state, state) + remark


def state_tone(state: str, outcome: Observation | None = None) -> Tone:
    """Return the colour for *state*; *outcome* is as in `state_words`."""
    if _is_broken(state, outcome):
        return "warning"
    return _TONES.get(state, "neutral")


def _is_broken(state: str, outcome: Observation | None) -> bool:
    """Tell whether a run that succeeded has a result which its tool does not declare."""
    return state == "ok" and not getattr(outcome, "_is_as_declared", True)


# --- the record -------------------------------------------------------------------------

AnyTool = ToolDefinition[Any, Any]
# Characters of a result: displays of records are saved in notebooks
MAX_RESULT = 20_000


def _newest_cell() -> int | None:
    cells = getattr(getattr(running_shell(), "history_manager", None), "input_hist_raw", ())
    return len(cells) - 1 if cells else None


def _no_engine(run: Run) -> Observation:
    msg = f"Nothing here can run {run.tool.name}: import toolbench.runs.perform first."
    raise ToolbenchError(msg)


def _same(address: ToolAddress, tool: AnyTool | None) -> AnyTool:
    if tool is not None:
        return tool
    msg = (
        f"Tool {address.name!r} belongs to server {address.server!r}, which is not connected. "
        f"Connect it first: %mcp connect {address.server} ..."
    )
    raise ToolNotFoundError(msg)


def _any_record(record: "RunRecord") -> str:
    return "record"


class Reruns:
    """Holds the functions that a recorded call needs to run again; other packages set them."""

    def __init__(self) -> None:
        """Set functions for a program in which no server was ever connected."""
        self.perform: Callable[[Run], Observation] = _no_engine
        """Runs the call again. The engine sets this function."""
        self.tool_of: Callable[[ToolAddress, AnyTool | None], AnyTool] = _same
        """Returns the tool at an address of a server now. The second argument is the tool that ran,
        if it is known. `toolbench.mcp` sets this function."""
        self.name_of: Callable[[RunRecord], str] = _any_record
        """Returns the code by which a person gets a record. The history sets this function."""


reruns = Reruns()


@dataclass(frozen=True, repr=False)
class RunRecord:
    """The record of a run that has ended."""

    id: int
    tool: str
    arguments: Mapping[str, Any]
    """The arguments as they were sent, with a mark in place of each secret."""
    observation: Observation
    """The result, without Python objects and secrets. `.data` and `.df` are made of what is there:
    JSON, a text, or a table of at most 50 rows; else they say what to do."""
    state: str
    seconds: float
    """The seconds of work, without `waited`."""
    source: str
    started: datetime
    waited: float = field(default=0.0, compare=False)
    """The seconds in which the run waited for a person."""
    decision: str = ""
    """The decision of the policy and its reason; empty for plain Python calls."""
    traceback: str = ""
    version: str = ""
    """The version label of the tool, if it has one."""
    definition: AnyTool | None = field(default=None, compare=False)
    conversation: Any = field(default=None, compare=False)
    """The conversation that the executor got."""
    cell: int | None = field(default=None, compare=False)
    """The number of the newest cell that had begun when the run ended; None outside a notebook."""
    forms: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The JSON form of each argument that was sent as Python objects; see `json_arguments`."""
    address: ToolAddress | None = None
    """The server of the tool and the name of the tool there; None in a file of an older version.
    Names can change: if another server has a tool of the same name, `tool` gets a longer name."""
    answers: tuple[Answer, ...] = field(default=(), compare=False)
    """The answers to the questions that were asked during the work, in turn, without secrets; the
    `question` of each is the text that was asked. `with answering(*record.answers):` gives them again."""
    refused: Literal["", "arguments", "call"] = field(default="", compare=False)
    """What was refused before the tool ran: the arguments, which did not fit, or a call without
    arguments, such as `tool(3)`; empty if the tool ran."""
    unanswered: int = field(default=0, compare=False)
    """The number of questions without an answer: a preset answer did not fit, or the tool did not wait
    for the answer. `answers` then do not repeat the run."""
    size: int = field(default=0, compare=False)
    """About how many bytes the record takes in memory."""

    @classmethod
    def of(cls, run: Run) -> "RunRecord":
        """Return the record of *run*."""
        arguments = _shortened(run.secrets.arguments)
        forms = _forms(run, arguments)
        observation = recorded(run.outcome, run.secrets.redactor)
        answers = tuple(_without_secrets(answer, run) for answer in run.dialogue.answers)
        contents = [(answer.question, answer.content) for answer in answers]
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
            address=ToolAddress.of(run.tool),
            forms=forms,
            answers=answers,
            refused=_refused_part(run),
            unanswered=len(run.dialogue.unanswered),
            size=sum(map(size_of, (arguments, forms, observation, contents))),
        )

    def rerun(self, arguments: Mapping[str, Any] | None = None, /, **kwargs: Any) -> Observation:
        """Run the tool again, as it is defined now, with the same arguments.

        Args:
            arguments: Arguments to change; secrets have to be given again.
            **kwargs: More arguments to change.

        Raises:
            ToolNotFoundError: If the record was read from a file, and there is no tool of that
                name here, or the server of the tool is not connected.
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
        changed = changed or {}
        marked = {k for k, v in self.forms.items() if MARK in text_of(v)} - set(changed)
        merged = {**self.arguments, **changed}
        missing = [k for k, v in merged.items() if k in marked or is_lost(v)]
        if missing:
            code = f"{reruns.name_of(self)}.rerun({_asked_for(missing)})"
            msg = f"{lost_words(self, missing)} Give them again: {code}."
            raise ToolbenchError(msg)
        tool.as_executable()
        return run_here(tool, merged, source, self.conversation)

    def _tool(self) -> AnyTool:
        if self.address is not None and self.address.server:
            return reruns.tool_of(self.address, self.definition)
        if self.definition is not None:
            return self.definition.latest()
        try:
            return find_tool(self.tool)
        except ToolNotFoundError:
            msg = (
                f"Run {self.id} was read from a file, and there is no tool {self.tool!r} here: "
                "run the cell that makes it, or connect its server."
            )
            raise ToolNotFoundError(msg) from None

    def is_of(self, tool: AnyTool) -> bool:
        """Tell whether this was a run of *tool*, whatever name the tool had then and has now."""
        address = ToolAddress.of(tool)
        if self.address is None:
            return self.tool in (tool.name, str(address), address.full_name)
        return self.address == address

    @property
    def time_taken(self) -> str:
        """How long the run took, in words, with the time that it waited for a person apart."""
        return time_taken(self.seconds, self.waited)

    @property
    def json_arguments(self) -> dict[str, Any]:
        """The arguments as a model or a form sends them, with a mark in place of each secret.

        A member of an enum is its value, a date its text, a model a dict, as the tool's action
        has it as JSON. An object that has no JSON form stays as it is.
        """
        return {k: self.forms.get(k, value) for k, value in self.arguments.items()}

    @property
    def known_arguments(self) -> dict[str, Any]:
        """The arguments of `json_arguments` without secrets and texts that were too long to keep."""
        return {k: v for k, v in self.json_arguments.items() if not is_lost(v)}

    def to_dict(self) -> dict[str, Any]:
        """Return the record, JSON-ready."""
        return {
            "id": self.id,
            "tool": self.tool,
            **_written(self.address),
            "arguments": plain(self.json_arguments),
            "observation": plain(fields_of(self.observation)),
            "state": self.state,
            "seconds": round(self.seconds, 6),
            **({"waited": round(self.waited, 6)} if self.waited else {}),
            "source": self.source,
            "started": self.started.isoformat(),
            "decision": self.decision,
            **({"version": self.version} if self.version else {}),
            **({"answers": plain([*map(asdict, self.answers)])} if self.answers else {}),
            **({"refused": self.refused} if self.refused else {}),
            **({"unanswered": self.unanswered} if self.unanswered else {}),
        }

    def __repr__(self) -> str:
        facts = f"from {self.source}, {self.state}, {self.time_taken}"
        return f"<Run {self.id}: {self.tool} {facts}>"

    def to_html(self, *, limit: int = MAX_RESULT) -> Html:
        """Return the record, the call and its result, as HTML that needs no kernel.

        Args:
            limit: The most characters to show of the result for people, and of the text for models.
        """
        return call_html(
            self.definition or self.tool,
            self.json_arguments,
            self.observation,
            remark=", ".join(filter(None, (self._remark, self.decision))),
            answers=self.dialogue,
            limit=limit,
        )

    def to_text(self, *, limit: int = MAX_RESULT) -> str:
        """Return the call and its result as plain text; *limit* is as in `to_html`."""
        return call_text(self.json_arguments, self.observation, answers=self.dialogue, limit=limit)

    @property
    def dialogue(self) -> list[tuple[str, str]]:
        """The questions that were asked during the work, each with its answer in words."""
        return [(answer.question, answer.words) for answer in self.answers]

    @property
    def _remark(self) -> str:
        words = state_words(self.state, self.observation)
        return f"{words} after {self.time_taken}, from {self.source}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {
            "text/plain": f"{self!r}\n{self.to_text()}",
            "text/html": self.to_html(),
        }


def _asked_for(names: Sequence[str]) -> str:
    """Return arguments of a Python call that leave the values of *names* open."""
    if all(name.isidentifier() and not iskeyword(name) for name in names):
        return ", ".join(f"{name}=..." for name in names)
    pairs = ", ".join(f"{name!r}: ..." for name in names)
    return f"{{{pairs}}}"


def _refused_part(run: Run) -> Literal["", "arguments", "call"]:
    if run.state != "error" or run.action is not None:
        return ""
    return "arguments" if run.problems else "call"


def _forms(run: Run, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON form of each of *arguments* that holds Python objects.

    *arguments* are those of *run* with their secrets hidden. One with a secret keeps its marks.
    """
    forms = {k: form_by_type(v) for k, v in arguments.items() if not is_json(v)}
    if not forms:
        return forms
    checked = {k: v for k, v in run.forms.items() if k in forms and not is_lost(forms[k])}
    merged: dict[str, Any] = _shortened({**forms, **run.secrets.hide(checked)})
    return merged


def _written(address: ToolAddress | None) -> dict[str, str]:
    """Return the part of a record in JSON that `address_in` reads."""
    if address is None:
        return {}
    remote_name = {"remote_name": address.name} if address.server else {}
    return {"server": address.server, **remote_name}


def address_in(data: Mapping[str, Any]) -> ToolAddress | None:
    """Return the address of the tool in *data*, a record in JSON; None if *data* has none."""
    if "server" not in data:
        return None
    return ToolAddress(str(data["server"]), str(data.get("remote_name", data["tool"])))


def _without_secrets(answer: Answer, run: Run) -> Answer:
    redactor = run.secrets.redactor
    question = _shortened(redactor.text(answer.question))
    content = None
    if answer.content is not None:
        content = _shortened(redactor.value(dict(answer.content)))
    return replace(answer, question=question, content=content)


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LIMIT:
        return f"… {len(value):,} characters{NOT_KEPT}"
    if isinstance(value, Mapping):
        return {name: _shortened(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    return value


def lost_words(record: RunRecord, names: Sequence[str]) -> str:
    """Return a sentence that *record* did not keep the arguments *names*."""
    return f"Run {record.id} did not keep {', '.join(names)}: secrets and very long texts are not recorded."


def is_lost(value: Any) -> bool:
    """Tell whether a part of *value* was not kept: a secret, or a very long text."""
    if isinstance(value, Mapping):
        return any(is_lost(item) for item in value.values())
    if isinstance(value, list):
        return any(is_lost(item) for item in value)
    return isinstance(value, str) and (
        MARK in value or (value.startswith("… ") and value.endswith(NOT_KEPT))
    )
