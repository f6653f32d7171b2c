"""The record of a run: enough to read, compare and repeat the run, without its secrets.

The sections of this module are, in order: a record's observation, the words for states, the record,
and the recorded forms of arguments and answers. `history` holds records and writes them to a file.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from datetime import date, datetime, time
from functools import cached_property
from keyword import iskeyword
from shlex import quote
from time import time as clock_time
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from uuid import uuid4

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
from toolbench.core.content import ImageContent, TextContent
from toolbench.core.registry import default_registry, find_tool
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress
from toolbench.display.caps import shorten
from toolbench.display.escape import Html, on_one_line, visible
from toolbench.display.images import LARGEST, Image, read_image
from toolbench.display.json_tree import parse_json
from toolbench.display.objects import call_html, call_text
from toolbench.display.page import Tone
from toolbench.display.tables import TableHead, head_of, returned_frame, shape_text
from toolbench.errors import ToolbenchError, ToolNotFoundError
from toolbench.redaction import MARK
from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.runs.kernel import running_shell
from toolbench.runs.questions import Answer, Wait
from toolbench.runs.run import Run, Source, ancestors_of, run_here
from toolbench.runs.unfinished_observation import UnfinishedObservation
from toolbench.values import NOT_KEPT, as_sent, is_json, is_readable, key_text, plain, text_of
from toolbench.wording import counted, time_taken

if TYPE_CHECKING:
    from toolbench.runs.run import State

AnyTool = ToolDefinition[Any, Any]
SESSION = uuid4().hex[:12]
"""The id of this process's session; the session and a run's number identify the run in any file."""
BEGAN = clock_time()
"""The time when the session began, in seconds since the epoch."""
# Bytes of one observation, and of one string among the arguments
LIMIT = 1_000_000
# Characters that are kept of a larger observation
_START = LIMIT // 100
# Characters of a result: displays of records are saved in notebooks
MAX_RESULT = 20_000
# Characters of a question with its time
_QUESTION = 200
# Characters of a result on one line; characters of a text that are searched for its first line
_LINE, _BEGINNING = 120, 2_000
# Bytes of an image that is drawn small
_SMALL = 150_000


# --- the observation --------------------------------------------------------------------

# Results that are not tables
_DATA = frozenset({str, int, float, dict, list})
# Results whose text is their JSON
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
_FORMS = frozenset({"nothing", "text", "json"})


class RecordedObservation(ResultObservation):
    """The observation in a record; its data is parsed from its text to save memory."""

    form: SkipJsonSchema[str] = Field(default="", repr=False)
    """How the text encodes the data: `nothing`, `text` or `json`; empty if it does not."""
    warnings: SkipJsonSchema[list[str]] = Field(default=[], repr=False)
    """The problems that were found in a server's answer."""
    as_declared: SkipJsonSchema[bool] = Field(default=True, repr=False)
    """Whether a server's answer fits the output schema of the tool."""

    @property
    def _asides(self) -> list[str]:
        return self.warnings

    @property
    def _is_as_declared(self) -> bool:
        return self.as_declared

    @property
    def data(self) -> Any:
        """The data of the result: JSON (with dates as strings), a string, or a table.

        Raises:
            ToolbenchError: If the record does not have the data.
        """
        if isinstance(self.result, TableHead) and self.result.is_whole:
            return _frame(self.result)
        if isinstance(self.result, TableHead):
            raise _data_not_kept()
        if self.result is not None:
            return self.result
        if self.form == "nothing":
            return None
        if self.form == "text":
            return self.text
        if self.form != "json":
            raise _data_not_kept()
        try:
            return from_json(self.text)
        except ValueError:
            # A mark replaces a number, or the result was not JSON: bytes, or a cycle
            raise _data_not_kept() from None

    @property
    def df(self) -> Any:
        """The data as a pandas DataFrame. In a table, all values except numbers are strings.

        Raises:
            MissingExtraError: If pandas is not installed.
            ToolbenchError: If the record does not have the data.
            TypeError: If the data is not a list of objects.
        """
        return frame_of(self.data)


# The classes that need no more memory than their content
_TEXT_ONLY = frozenset({Observation, ResultObservation, RecordedObservation})


def _data_not_kept() -> ToolbenchError:
    msg = (
        "The record does not have the data of this result: it was a long table, a Python object, too "
        "large to keep, or no JSON after its secrets were hidden; or the file does not say what it "
        "was. `.text` is what the model read; `.rerun()` of the record makes the result again."
    )
    return ToolbenchError(msg)


def _frame(head: TableHead) -> Any:
    """Return *head*, a whole table, as a pandas DataFrame."""
    labels = [row[0] for row in head.rows]
    index: list[Any] | None = labels
    if labels == list(range(len(labels))):
        index = None
    rows = [row[1:] for row in head.rows]
    frame = data_frame_class()(rows, columns=list(head.columns), index=index)
    frame.index.name = head.label or None
    return frame


def recorded(outcome: Observation, redactor: Redactor) -> Observation:
    """Return *outcome* for a record: without Python objects, and with its secrets masked.

    A record does not keep all parts of an observation. The other parts are dropped first, so that
    no time is spent on searching them for secrets.
    """
    kept = masked_observation(kept_of(outcome, redactor), redactor)
    is_result = isinstance(outcome, ResultObservation) and not kept.is_error
    # It was too large
    if not is_result or isinstance(kept, RecordedObservation):
        return kept
    result = vars(outcome).get("result")
    table = None
    # Most results are plain data, which is not checked for the methods of a table
    if type(result) not in _DATA:
        table = _table_of(outcome, redactor)
    if table is not None:
        return RecordedObservation(content=kept.content, result=table)
    return RecordedObservation(content=kept.content, form=_form_of(result, outcome))


def kept_of(observation: Observation, redactor: Redactor = NO_SECRETS) -> Observation:
    """Return *observation* for a record: without Python objects, and shortened if it is too large.

    Secrets are masked only in an observation that is too large.

    Args:
        observation: The result of a run.
        redactor: The redactor that masks secrets in the start of an observation that is too large.
            If the start ends inside a secret, this part of the secret is left out.
    """
    if isinstance(observation, UnfinishedObservation) and observation.partial is not None:
        partial = kept_of(observation.partial, redactor)
        rest = kept_of(observation.model_copy(update={"partial": None}), redactor)
        return rest.model_copy(update={"partial": partial})
    size = size_of(observation)
    if size <= LIMIT and isinstance(observation, ResultObservation):
        return observation.model_copy(update={"result": None})
    if size <= LIMIT:
        return observation
    start = redactor.stream().feed(observation.text[:_START])
    note = f"{start}\n… {size:,} bytes were returned; history keeps only the start."
    is_error = observation.is_error
    if isinstance(observation, UnfinishedObservation):
        return UnfinishedObservation.from_text(note, is_error=is_error)
    return RecordedObservation.from_text(note, is_error=is_error, **_faults(vars(observation)))


def recorded_in(fields: Mapping[str, Any], *, is_stopped: bool) -> Observation:
    """Create the observation whose *fields* were read from a file.

    Args:
        fields: The dict that `to_dict` returned for an observation of any class.
        is_stopped: Whether the run was refused or cancelled.
    """
    own = {name: fields[name] for name in ("content", "is_error") if name in fields}
    if is_stopped and own.get("is_error"):
        return UnfinishedObservation.model_validate(own)
    form = fields.get("form")
    if form not in _FORMS:
        form = ""
    observation = RecordedObservation(**own, form=form, **_faults(fields))
    blocks, structured = fields.get("blocks") or [], fields.get("structured")
    if not blocks and structured is None:
        return observation
    data = answer_data(structured, blocks, observation.text)
    if data is None:
        return observation.model_copy(update={"form": "nothing"})
    return observation.model_copy(update={"result": data})


def _faults(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the problems in *fields*, if these are the fields of a server's answer."""
    if "as_declared" not in fields:
        return {}
    return {"warnings": fields.get("warnings", []), "as_declared": fields["as_declared"]}


def fields_of(observation: Observation) -> dict[str, Any]:
    """Return the fields of a record's *observation*, including those of its partial result."""
    fields = observation.to_dict()
    if isinstance(observation, UnfinishedObservation) and observation.partial is not None:
        return {**observation.partial.to_dict(), **fields}
    return fields


def _form_of(result: Any, observation: Observation) -> str:
    """Return how the text of *observation* encodes *result*; see `RecordedObservation.form`."""
    content = observation.content
    # Images
    if len(content) != 1 or not isinstance(content[0], TextContent):
        return ""
    if result is None:
        return "nothing"
    if isinstance(result, str):
        return "text"
    # By the type: reading the `__class__` of an object may run code
    kind = type(result)
    if (issubclass(kind, _JSON) or is_dataclass(kind)) and is_written_as_json(result):
        return "json"
    return ""


def _table_of(observation: Observation, redactor: Redactor) -> TableHead | None:
    """Return the first rows of a result that is a table, without secrets; else None."""
    frame = returned_frame(observation)
    if frame is None:
        return None
    try:
        return head_of(frame, redactor.value)
    except Exception:  # noqa: BLE001 - a table may be any object
        return None


def size_of(observation: Observation) -> int:
    """Return roughly how many bytes *observation* needs, without the Python object in `result`."""
    size = 0
    for item in observation.content:
        if isinstance(item, TextContent):
            size += len(item.text)
        else:
            size += sum(map(len, item.image_urls))
    if isinstance(observation, UnfinishedObservation) and observation.partial is not None:
        return size + size_of(observation.partial)
    # An observation that is too large already is not serialized as well
    if type(observation) not in _TEXT_ONLY and size <= LIMIT:
        return max(size, _json_size(observation))
    return size


def _json_size(value: Any) -> int:
    try:
        return len(to_json(value, fallback=str))
    except Exception:  # noqa: BLE001 - half a character, a cycle, a user's str()
        return len(text_of(value))


# --- the words for a state --------------------------------------------------------------

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
"""The words that users see for each state of a run."""
_TONES: dict[str, Tone] = {"ok": "success", "error": "danger", "denied": "warning"}


def state_words(state: str, outcome: Observation | None = None) -> str:
    """Return the words for *state*; an unknown state is returned unchanged.

    Files of other versions may have unknown states. *outcome* is the result of a run that has
    ended. If a server's tool returned something other than it declares, the words mention that.
    """
    words = dict[str, str](STATE_WORDS.items()).get(state, state)
    if _is_broken(state, outcome):
        return f"{words}, not as declared"
    return words


def state_tone(state: str, outcome: Observation | None = None) -> Tone:
    """Return the colour for *state*; *outcome* is as in `state_words`."""
    if _is_broken(state, outcome):
        return "warning"
    return _TONES.get(state, "neutral")


def _is_broken(state: str, outcome: Observation | None) -> bool:
    """Tell whether a run succeeded but its result does not fit what its tool declares."""
    return state == "ok" and not getattr(outcome, "_is_as_declared", True)


# --- the record -------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class RunRecord:
    """The record of a run that has ended, as JSON and without secrets.

    In the kernel that executed the run, the record also has the tool, and the arguments that were
    Python objects. `rerun` uses them.

    Example:
        ```python
        split_bill(total=84, people=4)
        record = history()[-1]
        record.state, record.arguments         # "ok", {"total": 84, "people": 4}
        record.rerun(people=2)
        ```
    """

    id: int
    """The number of the run. Other sessions may have a run with the same number; see `key`."""
    tool: str
    arguments: Mapping[str, Any]
    """The arguments as JSON, as a model or a form sends them, with each secret replaced by a mark.

    An enum member is recorded as its value, a date as a string, and a pydantic model as a dict."""
    observation: Observation
    """The result, without Python objects and secrets. `.data` and `.df` are created from what was
    kept: JSON, a string, or a table of at most 50 rows. If the data was not kept, they raise an
    error."""
    state: str
    seconds: float
    """The seconds that the run worked, without the seconds in `waited`."""
    source: str
    started: datetime
    waited: float = field(default=0.0, compare=False)
    """The seconds in which the run waited for the user."""
    decision: str = ""
    """The decision of the policy and its reason; empty for plain Python calls."""
    traceback: str = ""
    version: str = ""
    """The version label of the tool; empty if it has none."""
    definition: AnyTool | None = field(default=None, compare=False)
    conversation: Any = field(default=None, compare=False)
    """The conversation that was passed to the executor."""
    cell: int | None = field(default=None, compare=False)
    """The number of the newest cell that had begun when the run ended; None outside a notebook."""
    address: ToolAddress | None = None
    """The server of the tool and the tool's name there; None in a file of an older version.
    Names can change: if another server has a tool of the same name, `tool` gets a longer name."""
    answers: tuple[Answer, ...] = field(default=(), compare=False)
    """The answers to the questions of the tool, in order and without secrets. The `question` of
    each is the text of its question. Use `with answering(*record.answers):` to give the same
    answers again."""
    waits: tuple[Wait, ...] = field(default=(), compare=False)
    """The questions that the run itself asked, even those for consent, and when it waited."""
    refused: Literal["", "arguments", "call"] = field(default="", compare=False)
    """What was refused before the tool ran: "arguments" that did not fit, or a "call" without
    arguments, such as `tool(3)`. Empty if the tool ran."""
    unanswered: int = field(default=0, compare=False)
    """The number of questions without an answer, because a preset answer did not fit or the tool
    did not wait. If there are any, `answers` cannot repeat the run."""
    lost: tuple[str, ...] = field(default=(), compare=False)
    """The names of the arguments that `arguments` does not have in full: those with a secret or a
    very long string, and objects without a JSON form."""
    objects: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The arguments that were Python objects, except those that contain a secret. They stay in this
    process, for `rerun`."""
    ancestors: tuple[int, ...] = field(default=(), compare=False)
    """The numbers of the runs that contain this run, outermost first; empty if read from a file."""
    session: str = SESSION
    """The id of the session of the run."""
    size: int = field(default=0, compare=False)
    """Roughly how many bytes the record takes in memory."""

    @classmethod
    def of(cls, run: Run) -> "RunRecord":
        """Create the record of *run*."""
        kept = _kept_arguments(run)
        observation = recorded(run.outcome, run.secrets.redactor)
        observation._max_tokens = run.outcome._max_tokens
        answers = [_without_secrets(answer, run) for answer in run.dialogue.answers]
        size = _json_size(kept.arguments) + size_of(observation)
        for answer in answers:
            size += len(answer.question) + _json_size(answer.content)
        return cls(
            id=run.id,
            tool=run.tool.name,
            arguments=kept.arguments,
            observation=observation,
            state=run.state,
            seconds=run.seconds,
            waited=run.dialogue.seconds,
            source=run.source,
            started=run.started,
            decision=run.decision,
            traceback=run.traceback,
            version=run.tool.version,
            definition=run.tool,
            conversation=run.conversation,
            cell=_newest_cell(),
            address=ToolAddress.of(run.tool),
            answers=tuple(answers),
            waits=tuple(waits_of(run)),
            refused=_refused_part(run),
            unanswered=len(run.dialogue.unanswered),
            lost=tuple(name for name in kept.arguments if name in kept.lost),
            objects=kept.objects,
            ancestors=tuple(each.id for each in ancestors_of(run)),
            size=size,
        )

    @property
    def key(self) -> tuple[str, int]:
        """The session and the number of the run, which together identify it."""
        return self.session, self.id

    def rerun(self, arguments: Mapping[str, Any] | None = None, /, **kwargs: Any) -> Observation:
        """Run the tool again, as it is defined now, with the same arguments.

        Args:
            arguments: Arguments to change; arguments with secrets must be given again.
            **kwargs: More arguments to change.

        Raises:
            ToolNotFoundError: If the record was read from a file, and there is no tool of that
                name here, or the server of the tool is not connected.
            ToolbenchError: If the record does not have one of the arguments, such as a secret.
        """
        # `perform` records runs, and imports this module for that
        from toolbench.runs.perform import perform  # noqa: PLC0415

        return perform(self.again("python", {**(arguments or {}), **kwargs}))

    def again(self, source: Source, changed: Mapping[str, Any] | None = None) -> Run:
        """Return a new run of the same call, which can be passed to `perform`; see `rerun`.

        Args:
            source: The kind of caller that starts the new run, such as `button`.
            changed: The arguments to change, with their new values.
        """
        tool = self.find_tool()
        arguments = {**self.arguments, **self.objects, **(changed or {})}
        known = {**self.objects, **(changed or {})}
        missing = [name for name in self.lost if name not in known]
        if missing:
            code = _code_to_rerun(self, missing)
            msg = f"{lost_words(self, missing)} Type this in a cell:\n{code}"
            raise ToolbenchError(msg)
        tool.as_executable()
        return run_here(tool, arguments, source, self.conversation)

    def find_tool(self) -> AnyTool:
        """Return the tool of the run, as it is defined now.

        Raises:
            ToolNotFoundError: If the record was read from a file, and there is no tool of that
                name here, or the server of the tool is not connected.
        """
        if self.address is not None and self.address.server:
            if default_registry.find_at_server is not None:
                return default_registry.find_at_server(self.address, self.definition)
            if self.definition is None:
                server = self.address.server
                msg = (
                    f"Tool {self.address.name!r} belongs to server {server!r}, which is not "
                    f"connected. Connect it first: %mcp connect {quote(server)} ..., or "
                    f"client.connect({server!r}, ...)."
                )
                raise ToolNotFoundError(msg)
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
        """Tell whether this was a run of *tool*, even if the tool's name has changed since then."""
        address = ToolAddress.of(tool)
        if self.address is None:
            return self.tool in (tool.name, str(address), address.full_name)
        return self.address == address

    @property
    def time_taken(self) -> str:
        """How long the run took, in words; the time of waiting for the user is given separately."""
        return time_taken(self.seconds, self.waited)

    @cached_property
    def result_line(self) -> str:
        """The result on one line: how many rows or items it has, or the first line of its text."""
        frame = returned_frame(self.observation)
        if frame is not None:
            return shape_text(frame)
        content = self.observation.content
        lines = [_brief("".join(block.text for block in content if isinstance(block, TextContent)))]
        lines += [image.label for image in images_in(self.observation)]
        return shorten(visible(", ".join(filter(None, lines))), _LINE)

    @cached_property
    def picture(self) -> str:
        """The `data:` URL of the result's first image; empty without an image of usable size."""
        for image in images_in(self.observation, most=_SMALL):
            if not image.problem:
                return image.source
        return ""

    @property
    def known_arguments(self) -> dict[str, Any]:
        """The arguments that are recorded in full; see `lost`."""
        return {name: value for name, value in self.arguments.items() if name not in self.lost}

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON-ready data."""
        data: dict[str, Any] = {"id": self.id, "session": self.session, "tool": self.tool}
        if self.address is not None:
            data["server"] = self.address.server
        if self.address is not None and self.address.server:
            data["remote_name"] = self.address.name
        data |= {
            "arguments": dict(self.arguments),
            "observation": plain(fields_of(self.observation)),
            "state": self.state,
            "seconds": round(self.seconds, 6),
            "source": self.source,
            "started": self.started.isoformat(),
            "decision": self.decision,
            "lost": list(self.lost),
        }
        # Only fields with a value are written
        rest = {
            "waited": round(self.waited, 6),
            "version": self.version,
            "answers": plain([*map(asdict, self.answers)]),
            "waits": plain([*map(asdict, self.waits)]),
            "refused": self.refused,
            "unanswered": self.unanswered,
            "max_result_tokens": self.observation._max_tokens,
        }
        for name, value in rest.items():
            if value:
                data[name] = value
        return data

    def __repr__(self) -> str:
        facts = f"from {self.source}, {self.state}, {self.time_taken}"
        return f"<Run {self.id}: {self.tool} {facts}>"

    def to_html(self, *, limit: int = MAX_RESULT) -> Html:
        """Return the call and its result as HTML that needs no kernel.

        Args:
            limit: The maximum number of characters to show of the result. The same limit applies
                to the text that the model sees.
        """
        words = state_words(self.state, self.observation)
        remark = f"{words} after {self.time_taken}, from {self.source}"
        if self.decision:
            remark = f"{remark}, {self.decision}"
        return call_html(
            self.definition or self.tool,
            self.arguments,
            self.observation,
            remark=remark,
            answers=self.dialogue,
            limit=limit,
        )

    def to_text(self, *, limit: int = MAX_RESULT) -> str:
        """Return the call and its result as plain text; *limit* is as in `to_html`."""
        return call_text(self.arguments, self.observation, answers=self.dialogue, limit=limit)

    @property
    def dialogue(self) -> list[tuple[str, str]]:
        """The questions that the tool asked, each with its answer in words."""
        return [(answer.question, answer.words) for answer in self.answers]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {
            "text/plain": f"{self!r}\n{self.to_text()}",
            "text/html": self.to_html(),
        }


def _brief(text: str) -> str:
    """Return the result *text* on one line: the length of a JSON list, or the first line."""
    value = None
    if text.startswith("["):
        value = parse_json(text)
    if isinstance(value, list):
        noun = "item"
        if value and all(isinstance(item, dict) for item in value):
            noun = "row"
        return f"{counted(len(value), noun)}: {_one_line(text[:_BEGINNING])}"
    start = text[:_BEGINNING].strip()
    # An object, or a list that was too large to keep whole
    if start.startswith(("{", "[")):
        return _one_line(start)
    return start.partition("\n")[0]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def images_in(observation: Observation, *, most: int = LARGEST) -> Iterator[Image]:
    """Yield the images in *observation*; an image of more than *most* bytes counts as too large."""
    for block in observation.content:
        if isinstance(block, ImageContent):
            yield from (read_image(url, most=most) for url in block.image_urls)


def _newest_cell() -> int | None:
    cells = getattr(getattr(running_shell(), "history_manager", None), "input_hist_raw", ())
    if not cells:
        return None
    return len(cells) - 1


def _refused_part(run: Run) -> Literal["", "arguments", "call"]:
    if run.state != "error" or run.action is not None:
        return ""
    if run.problems:
        return "arguments"
    return "call"


def _code_to_rerun(record: RunRecord, names: Sequence[str]) -> str:
    """Return the code that runs *record* again with the arguments *names*; it asks for secrets."""
    lines = ["from toolbench import history"]
    values = dict[str, str]()
    for name in names:
        values[name] = "..."
        if MARK in str(record.arguments[name]):
            values[name] = f"getpass({f'{name}: '!r})"
    if any(value != "..." for value in values.values()):
        lines.insert(0, "from getpass import getpass")
    arguments = ", ".join(f"{name}={value}" for name, value in values.items())
    if not all(name.isidentifier() and not iskeyword(name) for name in names):
        pairs = ", ".join(f"{name!r}: {value}" for name, value in values.items())
        arguments = f"{{{pairs}}}"
    lines.append(f"{_code_of(record)}.rerun({arguments})")
    return "\n".join(lines)


def _code_of(record: RunRecord) -> str:
    """Return the code that gets *record* from the history."""
    from toolbench.runs.history import history  # noqa: PLC0415 - it imports this module

    if history().find(record.id) is record:
        return f"history().find({record.id})"
    if history().find(record.id, record.session) is record:
        return f"history().find({record.id}, {record.session!r})"
    return "record"


def lost_words(record: RunRecord, names: Sequence[str]) -> str:
    """Return a sentence which says that *record* did not keep the arguments *names*."""
    return (
        f"Run {record.id} did not keep {', '.join(names)}: secrets, very long strings and objects "
        "without a JSON form are not recorded."
    )


# --- what it keeps ----------------------------------------------------------------------


class SentArguments(NamedTuple):
    """The arguments of a call, copied at its start because the tool may change them later.

    For the fields, see `RunRecord`.
    """

    arguments: dict[str, Any]
    lost: frozenset[str]
    objects: dict[str, Any]


def sent_by(run: Run) -> SentArguments:
    """Return the arguments of *run*; mask the secrets that names or schemas reveal."""
    arguments, lost, objects = dict[str, Any](), set[str](), dict[str, Any]()
    for key, value in run.arguments.items():
        name = key_text(run.secrets.shown_name(key))
        is_data = is_json(value)
        has_form, form = _json_form(value, is_data=is_data)
        safe_form = form
        masked = run.secrets.argument(key)
        # The masked value may be a copy; comparing other objects by `==` may not return a bool
        if masked is not value and not (is_data and masked == value):
            _, safe_form = _json_form(masked, is_data=is_json(masked))
        if _json_size(safe_form) > LIMIT:
            safe_form = _shortened(safe_form)
        arguments[name] = safe_form
        is_whole = safe_form == form
        if not (is_whole and has_form):
            lost.add(name)
        # JSON has no infinity, and no integer of thousands of digits
        if is_whole and (not is_data or form != value):
            objects[name] = value
    return SentArguments(arguments, frozenset(lost), objects)


def _kept_arguments(run: Run) -> SentArguments:
    """Return the arguments of *run* for its record; mask the secrets learned during the run too."""
    sent = run.sent or sent_by(run)
    secrets = run.secrets
    if not secrets.redactor:
        return sent
    arguments, lost, objects = dict[str, Any](), set(sent.lost), dict(sent.objects)
    for name, value in sent.arguments.items():
        shown = secrets.shown_name(name)
        arguments[shown] = secrets.redactor.value(value)
        if shown != name or arguments[shown] is not value:
            lost.add(shown)
            objects.pop(name, None)
    return SentArguments(arguments, frozenset(lost), objects)


def _json_form(value: Any, *, is_data: bool) -> tuple[bool, Any]:
    """Return whether *value* has a JSON form, and *value* converted to JSON by its types.

    *is_data* says whether *value* consists only of JSON's types.
    """
    if is_data:
        return True, plain(value)
    # Converting an iterator would use it up, and only the executor may read it
    if not is_readable(value):
        return False, text_of(value)
    without_form = []

    def as_text(part: Any) -> str:
        without_form.append(part)
        return text_of(part)

    form = plain(as_sent(value), form_of=as_text)
    return not without_form, form


def _without_secrets(answer: Answer, run: Run) -> Answer:
    redactor = run.secrets.redactor
    question = _shortened(redactor.text(answer.question))
    content = None
    if answer.content is not None:
        content = _shortened(redactor.value(dict(answer.content)))
    return replace(answer, question=question, content=content)


def waits_of(run: Run) -> Iterator[Wait]:
    """Yield the questions of *run* with their waiting times, without secrets and shortened."""
    for wait in tuple(run.dialogue.waits):
        yield replace(wait, question=question_line(run.secrets.redactor.text(wait.question)))


def question_line(text: str) -> str:
    """Return the question *text* on one line, cut if it is long."""
    return shorten(on_one_line(text), _QUESTION)


def _shortened(value: Any) -> Any:
    """Return the JSON *value* with each very long string replaced by its number of characters."""
    if isinstance(value, str) and len(value) > LIMIT:
        return f"… {len(value):,} characters{NOT_KEPT}"
    if isinstance(value, Mapping):
        return {name: _shortened(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    return value


def is_lost(value: Any) -> bool:
    """Tell whether a secret or a very long string was left out of the JSON *value*.

    Files of older versions, answers and saved evaluations do not list the parts that were left out.
    Only the marks in place of these parts show it.
    """
    if isinstance(value, Mapping):
        return any(is_lost(item) for item in value.values())
    if isinstance(value, list):
        return any(is_lost(item) for item in value)
    if not isinstance(value, str):
        return False
    return MARK in value or (value.startswith("… ") and value.endswith(NOT_KEPT))
