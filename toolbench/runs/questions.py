"""The questions that tools, servers and the policy ask during a run, and how they are answered."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Literal, Self

from toolbench.errors import Problem, ToolbenchError
from toolbench.jsonschema.checks import format_problems
from toolbench.jsonschema.node import read
from toolbench.jsonschema.validate import validator_of
from toolbench.redaction.detect import Secrecy
from toolbench.values import plain

Reply = Literal["accept", "decline", "cancel"]
_NO_WORDS = {"decline": "declined", "cancel": "cancelled"}
YES_OR_NO: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "boolean", "description": "yes or no"}},
    "required": ["answer"],
}


# Characters that a browser and a terminal show without trouble
_PAGE = 50_000


@dataclass(frozen=True)
class ConsentLabels:
    """The labels of a consent question's two answers: one runs the call, the other refuses it."""

    act: str
    """The label that lets the call run, such as `Run delete_volume`."""
    refusal: str = "Don't run"
    """The label that refuses the call."""
    is_dangerous: bool = False
    """Whether the call may destroy data."""
    can_be_remembered: bool = False
    """Whether an approval may hold for the session; the answer then has the field `remember`."""


@dataclass(frozen=True)
class Question:
    """A question during a run, for the user or a preset answer.

    Examples:
        >>> from toolbench.runs.questions import Question
        >>> seats = {"type": "object", "properties": {"seats": {"type": "integer", "minimum": 1}}}
        >>> question = Question("How many seats?", seats, asked_by="book_table")
        >>> question.problems({"seats": 0}), question.problems({"seats": 4})
        (['seats: should be at least 1'], [])
    """

    message: str
    schema: Mapping[str, Any]
    """The JSON Schema of the answer's content, which is always an object."""
    asked_by: str = ""
    """The tool or server that asks."""
    bare: bool = False
    """Whether the object in `schema` only wraps a single value, under the name `answer`."""
    consent: ConsentLabels | None = None
    """The labels of the two answers if the question asks for consent to a call; else None."""
    url: str = ""
    """The page that the user has to visit first, if any; the view checks that its URL is safe."""
    server: str = ""
    """The name of the MCP server that asks; empty if a tool of this process or the policy asks."""
    is_for_person: bool = False
    """Whether only the user may answer, and no preset: for secrets, and if it is unknown which call
    asks."""
    is_recorded: bool = True
    """Whether the record of the run keeps the answer; consent is never recorded."""
    whole: str = field(default="", repr=False)
    """The whole call if `message` shows only parts of the call; else empty."""

    @property
    def pages(self) -> list[str]:
        """The text of `whole`, cut into pages for a panel or a prompt; empty without `whole`."""
        pages = [""]
        for line in self.whole.splitlines(keepends=True):
            if len(pages[-1]) + len(line) > _PAGE and pages[-1]:
                pages.append("")
            pages[-1] += line
        return [page.rstrip("\n") for page in pages if page]

    @classmethod
    def about(cls, message: str, schema: Mapping[str, Any] | None, asked_by: str) -> Self:
        """Return a question whose answer fits *schema*; without a schema, a yes-or-no question."""
        if schema is None:
            return cls(message, YES_OR_NO, asked_by, bare=True)
        answer = read(schema)
        if answer.type == "object" and not answer.nullable:
            return cls(message, schema, asked_by)
        return cls(message, _wrapped(schema), asked_by, bare=True)

    def meaning_of(self, answer: "Answer") -> "Answer":
        """Return *answer*; if it is "no" to a yes-or-no question, return a decline instead."""
        if answer and self.schema is YES_OR_NO and not answer.value:
            return Answer("decline")
        return answer

    def with_defaults(self, answer: "Answer") -> "Answer":
        """Return *answer* with default values for omitted fields, if the result is valid.

        A form does not send fields that the user has not changed. For these fields, the default
        that the form shows is the answer.
        """
        content = {**self._defaults(), **(answer.content or {})}
        if not answer or content == answer.content or self.problems(content):
            return answer
        return replace(answer, content=content)

    def _defaults(self) -> dict[str, Any]:
        fields = read(self.schema).properties.items()
        return {name: node.default for name, node in fields if node.default is not None}

    def problems(self, content: Mapping[str, Any]) -> list[str]:
        """Return the reasons why *content* is not a valid answer; empty if it is valid.

        The secrets of *content* are masked in the reasons.
        """
        problems = validator_of(dict(self.schema)).problems(dict(content))
        redactor = Secrecy(self.schema).redactor(content)
        found = redactor.problems(problems) or self.format_problems(content)
        return [str(problem) for problem in found]

    def format_problems(self, content: Mapping[str, Any]) -> list[Problem]:
        """Return a problem for each string in *content* that does not have the required format.

        The `schema` of the question says which formats are required, such as `date`. The secrets of
        *content* are masked in the problems.
        """
        redactor = Secrecy(self.schema).redactor(content)
        return redactor.problems(format_problems(read(self.schema), dict(content)))


def _wrapped(schema: Mapping[str, Any]) -> dict[str, Any]:
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    answer = {key: value for key, value in schema.items() if key not in shared}
    return {
        "type": "object",
        "properties": {"answer": answer},
        "required": ["answer"],
        **shared,
    }


@dataclass(frozen=True)
class Answer:
    """The answer to a question. In an `if`, it counts as true only if its `action` is "accept".

    If the user answers "no" to a yes-or-no question, the `action` is "decline".

    Examples:
        >>> from toolbench import answering, current_run, run_tool, tool
        >>> @tool
        ... def book_table(day: str) -> str:
        ...     "Book a table."
        ...     seats = {"type": "object", "properties": {"seats": {"type": "integer"}}}
        ...     answer = current_run().ask("How many seats?", seats)
        ...     return f"{answer.action}: {answer.get('seats')} seats on {day}"
        >>> with answering({"seats": 4}):
        ...     run_tool(book_table, day="Friday").text
        'accept: 4 seats on Friday'
    """

    action: Reply
    content: Mapping[str, Any] | None = None
    by_somebody: bool = field(default=True, compare=False)
    """Whether the user gave the answer; False if nobody could answer."""
    absence: str = field(default="nobody could be asked", compare=False)
    """Why nobody answered; only used if `by_somebody` is false."""
    question: str = field(default="", compare=False, repr=False)
    """The text of the question, if the answer is in the record of a run; otherwise empty."""

    def __bool__(self) -> bool:
        return self.action == "accept"

    def __getitem__(self, name: str) -> Any:
        """Return the field *name* of the content.

        Raises:
            KeyError: If there is no such field. The message says if the question was declined or
                cancelled.
        """
        if not self and name not in self:
            msg = f"{name}: the question was {self.words}. `if answer:` tells whether it was accepted."
            raise KeyError(msg)
        return (self.content or {})[name]

    def __contains__(self, name: object) -> bool:
        return name in (self.content or {})

    def get(self, name: str, default: Any = None) -> Any:
        """Return the field *name* of the content; *default* if there is none."""
        return (self.content or {}).get(name, default)

    @property
    def value(self) -> Any:
        """The answer to a question for a single value; None if there is no single value.

        It is the field `answer` of the content.
        """
        return (self.content or {}).get("answer")

    def to(self, question: Question) -> Self:
        """Return a copy for a record, with the text of *question* and with masked secrets."""
        content = self.content
        if content is not None:
            content = Secrecy(question.schema).hide(content)[0]
        return replace(self, question=question.message, content=content)

    @property
    def preset(self) -> Any:
        """The answer in the form that `answering` and files of checks accept."""
        if not self:
            return None
        if not self.content:
            return True
        if self.content.keys() == {"answer"}:
            return self.value
        return dict(self.content)

    @property
    def words(self) -> str:
        """The answer in words: `yes`, a value, the fields of a form, or `declined`."""
        if self.action != "accept":
            word = _NO_WORDS[self.action]
            if self.by_somebody:
                return word
            return f"{word}: {self.absence}"
        if not self.content:
            return "accepted"
        if self.content.keys() == {"answer"}:
            return _word(self.value)
        return ", ".join(f"{name}: {_word(value)}" for name, value in self.content.items())


def _word(value: Any) -> str:
    if value is True:
        return "yes"
    if value is False:
        return "no"
    if isinstance(value, str):
        return value
    return json.dumps(plain(value))


@dataclass
class Wait:
    """A question that a run asked, and when the wait for its answer began and ended.

    Times are in seconds since the epoch.
    """

    question: str
    began: float
    ended: float | None = None
    """The end of the wait; None while there is no answer."""
    is_consent: bool = False
    """Whether the question asked for consent to the call."""


Asker = Callable[[Question], Answer]


def decline(question: Question) -> Answer:
    """Decline *question*; use this asker if nobody can be asked."""
    return Answer("decline", by_somebody=False)


class Preset:
    """The answers of one `answering` block, used in order; any thread may take the next one."""

    def __init__(
        self, answers: Iterable[Any], by: str | None = None, outer: "Preset | None" = None
    ) -> None:
        """Create a preset that gives *answers* one after another.

        Args:
            answers: The answers, as for `answering`.
            by: The only server whose questions are answered; None answers all questions.
            outer: The preset of the block around this one, if any.
        """
        self._answers = deque(answers)
        self._by, self._outer = by, outer
        self._lock = Lock()

    def of(self, question: Question) -> "Preset | None":
        """Return the first preset that answers *question*, searching from this one outwards.

        None is returned if no preset answers it.
        """
        if question.is_for_person:
            return None
        preset: Preset | None = self
        while preset is not None and preset._by not in (None, question.server):
            preset = preset._outer
        return preset

    def without(self, ended: "Preset") -> "Preset | None":
        """Remove *ended* from this preset and those around it; return the innermost one left."""
        if self is ended:
            return self._outer
        if self._outer is not None:
            self._outer = self._outer.without(ended)
        return self

    def __call__(self, question: Question) -> Answer:
        """Take the next answer for *question* and return it; decline if none is left.

        Raises:
            ToolbenchError: If the answer does not fit *question*.
        """
        answer = self.taken_if(lambda _: True, question)
        assert answer is not None  # noqa: S101 - any answer may be taken
        return answer

    def taken_if(self, is_meant: Callable[[Any], bool], question: Question) -> Answer | None:
        """Remove and return the next answer if *is_meant* accepts it; otherwise, return None.

        If no answer is left, return a decline that gives this as the reason.

        Raises:
            ToolbenchError: If the answer does not fit *question*.
        """
        with self._lock:
            if not self._answers:
                return Answer("decline", by_somebody=False, absence="no preset answer was left")
            if not is_meant(self._answers[0]):
                return None
            value = self._answers.popleft()
        return _preset_answer(question, value)


def is_no(value: Any) -> bool:
    """Tell whether *value*, a preset answer, is a refusal."""
    if isinstance(value, Answer):
        return not value or value.value is False
    is_false = isinstance(value, Mapping) and value.get("answer") is False
    return value is None or value is False or is_false


def _preset_answer(question: Question, value: Any) -> Answer:
    if value is None:
        return Answer("decline")
    if isinstance(value, Answer):
        return value
    whole = isinstance(value, Mapping) and not (question.bare and "answer" not in value)
    name = _only_name(question.schema)
    content = value
    if not whole:
        content = {name: value}
    if problems := question.problems(content):
        shown, advice = Secrecy(question.schema).hide(content)[0], ""
        if not whole:
            shown, advice = shown[name], _as_fields(question.schema, value)
        text = repr(shown)
        msg = (
            f"The preset answer {text} does not fit {question.message!r}: "
            f"{advice or '; '.join(problems)}"
        )
        raise ToolbenchError(msg)
    return Answer("accept", content)


def _as_fields(schema: Mapping[str, Any], value: Any) -> str:
    """Return advice on writing *value* as the fields of a form; empty if *schema* has one field."""
    form = read(schema)
    if len(form.names) < 2:
        return ""
    first, *others = form.required or form.names[:1]
    [text] = Secrecy(schema).hide({first: value})[0].values()
    fields = [f"{first!r}: {text!r}", *(f"{name!r}: ..." for name in others)]
    return f"it is a form with {len(form.names)} fields, write {{{', '.join(fields)}}}."


def _only_name(schema: Mapping[str, Any]) -> str:
    """Return the name of *schema*'s only property, such as FastMCP's `value`; else "answer"."""
    names = read(schema).names
    if len(names) != 1:
        return "answer"
    return names[0]


_innermost: ContextVar[Preset | None] = ContextVar("toolbench_preset", default=None)


def preset_in_context() -> Preset | None:
    """Return the preset of the innermost `answering` around the calling code, if any."""
    return _innermost.get()


@contextmanager
def without_presets() -> Iterator[None]:
    """Within the `with` block, and in tasks that it starts, ignore every `answering` around it."""
    token = _innermost.set(None)
    try:
        yield
    finally:
        _innermost.reset(token)


@contextmanager
def answering(*answers: Any, by: str | None = None) -> Iterator[None]:
    """Answer the questions of runs that the `with` block starts with *answers*, in this order.

    When no answer is left, questions are declined. A run or a conversation that the block starts
    can use the answers even after the block has ended. Nothing else can use them: no click on a
    button, no other process, and no call of an outside agent (see `serve`). If the block calls your
    own server over HTTP, this counts as a call of an outside agent. A thread that you start
    yourself can use them if you run it in the context of the block:
    `Thread(target=contextvars.copy_context().run, args=(work,))`.

    If a server's tool does not declare what it changes, an answer never approves a call of this
    tool. The call is refused if the next answer is `False` or `None`, or if no answer is left.

    Args:
        *answers: A dict gives the fields of a form. Any other value answers a yes-or-no question
            (`True` is yes), a question for one value, or a form with one field. `None` declines. An
            `Answer` is used as it is.
        by: The name of an MCP server. Only questions of this server get the answers, so that
            no other server gets a password. Other questions go to the block around this one, or
            else to the user.

    Raises:
        TypeError: If *by* is not a name.

    Examples:
        >>> from toolbench import answering, current_run, run_tool, tool
        >>> @tool
        ... def rename(name: str) -> str:
        ...     "Rename the shop."
        ...     return name if current_run().ask(f"Really call it {name}?") else "as it was"
        >>> with answering(True):
        ...     run_tool(rename, name="Page & Turner").text
        'Page & Turner'
    """
    if not isinstance(by, str | None):
        msg = f"by= is the name of a server, such as 'bank', not {by!r:.100}."
        raise TypeError(msg)
    preset = Preset(answers, by, _innermost.get())
    _innermost.set(preset)
    try:
        yield
    finally:
        innermost = _innermost.get()
        # Blocks in generators may end in a different order, or in another context
        if innermost is not None:
            _innermost.set(innermost.without(preset))
