"""Questions in the middle of a run, and who answers them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from toolbench.errors import ToolbenchError
from toolbench.jsonschema.validation.validator import validator_of
from toolbench.jsonschema.view import read

Reply = Literal["accept", "decline", "cancel"]
YES_OR_NO: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "boolean", "description": "yes or no"}},
    "required": ["answer"],
}


@dataclass(frozen=True)
class Consent:
    """How to answer whether a call may run: in words that name what is done, and what is not."""

    act: str
    """`Delete volume 3`."""
    refusal: str
    """`Keep it`."""
    is_dangerous: bool = False
    """Whether the act may destroy something."""
    can_be_remembered: bool = False
    """Whether a yes may be for the session; then the answer says so as `remember`."""


@dataclass(frozen=True)
class Question:
    """A question in the middle of a run."""

    message: str
    schema: Mapping[str, Any]
    """The JSON Schema of the answer, an object."""
    asked_by: str = ""
    """The tool or server that asks."""
    bare: bool = False
    """Whether the object only wraps what is asked for, as its `answer`."""
    consent: Consent | None = None
    """The words of the two answers, where the question is whether a call may run."""
    url: str = ""
    """The page a person is to visit first, if any; what shows it judges whether it is safe."""

    @classmethod
    def about(
        cls, message: str, schema: Mapping[str, Any] | None, asked_by: str
    ) -> Self:
        """Return the question for an answer of any *schema*; yes or no without one."""
        if schema is None:
            return cls(message, YES_OR_NO, asked_by, bare=True)
        answer = read(schema)
        if answer.type == "object" and not answer.nullable:
            return cls(message, schema, asked_by)
        return cls(message, _wrapped(schema), asked_by, bare=True)

    def meaning_of(self, answer: "Answer") -> "Answer":
        """Return *answer*, or a decline if it says no where the question is yes or no."""
        is_no = answer and self.schema is YES_OR_NO and not answer.value
        return Answer("decline") if is_no else answer

    def problems(self, content: Mapping[str, Any]) -> list[str]:
        """List what is wrong with *content* as an answer."""
        messages = validator_of(dict(self.schema)).problems(dict(content))
        return [str(problem) for problem in messages]


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
    """The answer to a question; truthy if it accepts.

    A yes-or-no question answered no is a decline.
    """

    action: Reply
    content: Mapping[str, Any] | None = None
    by_somebody: bool = field(default=True, compare=False)
    """Whether there was a person to answer."""
    absence: str = field(default="no person could be asked", compare=False)
    """What is said of the person where there was none to answer."""

    def __bool__(self) -> bool:
        return self.action == "accept"

    def __getitem__(self, name: str) -> Any:
        return (self.content or {})[name]

    @property
    def value(self) -> Any:
        """What was answered where the schema asked for no object; None if nothing was."""
        return (self.content or {}).get("answer")


Asker = Callable[[Question], Answer]


def decline(question: Question) -> Answer:
    """Decline at once: the answer where no person can be asked."""
    return Answer("decline", by_somebody=False)


def preset(*answers: Any) -> Asker:
    """Return an asker that gives *answers* in turn, then declines; see `answering`."""
    queue = iter(answers)
    return lambda question: _given(question, next(queue, None))


def _given(question: Question, value: Any) -> Answer:
    if value is None:
        return decline(question)
    if isinstance(value, Answer):
        return value
    whole = isinstance(value, Mapping) and not (question.bare and "answer" not in value)
    content = value if whole else {_only_name(question.schema): value}
    if problems := question.problems(content):
        msg = (
            f"The preset answer {value!r} does not fit {question.message!r}: "
            f"{'; '.join(problems)}"
        )
        raise ToolbenchError(msg)
    return Answer("accept", content)


def _only_name(schema: Mapping[str, Any]) -> str:
    """The property a bare value can only be meant for: FastMCP wraps one as `value`."""
    names = read(schema).names
    return names[0] if len(names) == 1 else "answer"


class Presets:
    """The answers that were given in advance; `answering` adds to them."""

    def __init__(self) -> None:
        """There are none."""
        self._askers: list[Asker] = []

    @property
    def asker(self) -> Asker | None:
        """The handler that answers now in place of a person, if there is one."""
        return self._askers[-1] if self._askers else None

    @contextmanager
    def added(self, asker: Asker) -> Iterator[None]:
        """Let *asker* answer during the `with` block, in every thread."""
        self._askers.append(asker)
        try:
            yield
        finally:
            self._askers.remove(asker)


presets = Presets()
"""The preset answers of this process."""


@contextmanager
def answering(*answers: Any) -> Iterator[None]:
    """Answer what runs ask inside the `with` block by *answers*, in turn; then decline.

    Args:
        *answers: A dict answers a form, any other value a question for one value or a form
            of one field, `True` a yes-or-no question. `None` declines.
    """
    with presets.added(preset(*answers)):
        yield
