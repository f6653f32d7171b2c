"""Questions in the middle of a run, and who answers them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from toolbench.core.references import follow
from toolbench.core.validation import validator_of
from toolbench.errors import ToolbenchError

Reply = Literal["accept", "decline", "cancel"]
YES_OR_NO: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "boolean", "description": "yes or no"}},
    "required": ["answer"],
}
_HOPS = 10


@dataclass(frozen=True)
class Question:
    """What somebody is asked."""

    message: str
    schema: Mapping[str, Any]
    """The JSON Schema of the answer, an object."""
    asked_by: str = ""
    """The tool or server that asks."""
    bare: bool = False
    """Whether the object only wraps what is asked for, as its `answer`."""
    url: str = ""
    """The page a person is to visit first, if any; whoever shows it judges whether it is safe."""

    @classmethod
    def about(
        cls, message: str, schema: Mapping[str, Any] | None, asked_by: str
    ) -> Self:
        """Return the question for an answer of any *schema*; yes or no without one."""
        if schema is None:
            return cls(message, YES_OR_NO, asked_by, bare=True)
        if _is_object(schema):
            return cls(message, schema, asked_by)
        return cls(message, _wrapped(schema), asked_by, bare=True)

    def problems(self, content: Mapping[str, Any]) -> list[str]:
        """List what is wrong with *content* as an answer."""
        found = validator_of(dict(self.schema)).problems(dict(content))
        return [str(problem) for problem in found]


def _is_object(schema: Mapping[str, Any]) -> bool:
    part: Any = schema
    for _ in range(_HOPS):
        if not isinstance(part, Mapping):
            return False
        if "properties" in part or part.get("type") == "object":
            return True
        part = follow(schema, part.get("$ref"))
    return False


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
    """What somebody answered; truthy when they accepted.

    A yes-or-no question answered no is a decline.
    """

    action: Reply
    content: Mapping[str, Any] | None = None
    by_somebody: bool = field(default=True, compare=False)
    """Whether there was anybody to answer."""

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
    """Answer where nobody can: with a decline, at once."""
    return Answer("decline", by_somebody=False)


def preset(*answers: Any) -> Asker:
    """Return an asker that gives *answers* in turn, then declines; see `answering`."""
    queue = iter(answers)
    return lambda question: _given(question, next(queue, None))


def _given(question: Question, given: Any) -> Answer:
    if given is None:
        return decline(question)
    if isinstance(given, Answer):
        return given
    whole = isinstance(given, Mapping) and not (question.bare and "answer" not in given)
    content = given if whole else {_only_name(question.schema): given}
    if problems := question.problems(content):
        msg = (
            f"The preset answer {given!r} does not fit {question.message!r}: "
            f"{'; '.join(problems)}"
        )
        raise ToolbenchError(msg)
    return Answer("accept", content)


def _only_name(schema: Mapping[str, Any]) -> str:
    """The property a bare value can only be meant for: FastMCP wraps one as `value`."""
    names = list(schema.get("properties", ()))
    return names[0] if len(names) == 1 else "answer"


class Presets:
    """The answers that were given in advance; `answering` adds to them."""

    def __init__(self) -> None:
        """There are none."""
        self._askers: list[Asker] = []

    @property
    def asker(self) -> Asker | None:
        """Who answers now instead of a person, if anybody."""
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
