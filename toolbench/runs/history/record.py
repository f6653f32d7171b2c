"""The record of a run: enough to read, compare and repeat it, without secrets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from keyword import iskeyword
from typing import Any, Literal

from toolbench.core.definition.tool_address import ToolAddress
from toolbench.core.registry import find_tool
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html
from toolbench.display.objects import call_html, call_text
from toolbench.errors import ToolbenchError, ToolNotFoundError
from toolbench.redaction import MARK
from toolbench.runs.history.argument_forms import form_by_type
from toolbench.runs.history.recorded_observation import (
    LIMIT,
    fields_of,
    recorded,
    size_of,
)
from toolbench.runs.history.state_words import state_words
from toolbench.runs.questions import Answer
from toolbench.runs.run import Run, Source
from toolbench.runs.run_here import run_here
from toolbench.runs.shell import running_shell
from toolbench.values import NOT_KEPT, is_json, plain, text_of
from toolbench.wording import time_taken

AnyTool = ToolDefinition[Any, Any]
# Characters of a result: displays of records are saved in notebooks
MAX_RESULT = 20_000


def _newest_cell() -> int | None:
    cells = getattr(getattr(running_shell(), "history_manager", None), "input_hist_raw", ())
    return len(cells) - 1 if cells else None


def _no_engine(run: Run) -> Observation:
    msg = f"Nothing here can run {run.tool.name}: import toolbench.runs.engine first."
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
        answers = tuple(_without_secrets(answer, run) for answer in run.answers)
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
            unanswered=len(run.unanswered),
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
