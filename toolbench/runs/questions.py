"""Questions in the middle of a run, and who answers them."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from toolbench.core.validation import validator_of

Action = Literal["accept", "decline", "cancel"]
YES_OR_NO: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "boolean", "description": "yes or no"}},
    "required": ["answer"],
}


@dataclass(frozen=True)
class Question:
    """What somebody is asked."""

    message: str
    schema: Mapping[str, Any]
    asked_by: str = ""
    """The tool or server that asks."""


@dataclass(frozen=True)
class Answer:
    """What somebody answered; truthy when they accepted.

    A yes-or-no question answered no is a decline.
    """

    action: Action
    content: Mapping[str, Any] | None = None

    def __bool__(self) -> bool:
        return self.action == "accept"

    def __getitem__(self, name: str) -> Any:
        return (self.content or {})[name]


Asker = Callable[[Question], Answer]


def decline(question: Question) -> Answer:
    """Answer where nobody can: with a decline, at once."""
    return Answer("decline")


def preset(*answers: Mapping[str, Any] | Answer) -> Asker:
    """Return an asker that gives *answers* in turn, then declines."""
    queue = iter(answers)

    def answer(question: Question) -> Answer:
        given = next(queue, None)
        if given is None or isinstance(given, Answer):
            return given or Answer("decline")
        return Answer("accept", given)

    return answer


class _Presets:
    """The askers of `answering`, innermost last; any thread."""

    def __init__(self) -> None:
        self.stack: list[Asker] = []


_presets = _Presets()


@contextmanager
def answering(*answers: Mapping[str, Any] | Answer) -> Iterator[None]:
    """Answer what is asked inside the `with` block by *answers*, in turn."""
    asker = preset(*answers)
    _presets.stack.append(asker)
    try:
        yield
    finally:
        _presets.stack.remove(asker)


def ask_in_cell(question: Question) -> Answer:
    """Ask through `input()`, field by field; decline where the front end has no input."""
    if _presets.stack:
        return _presets.stack[-1](question)
    try:
        return _ask_by_input(question)
    except (
        EOFError,
        OSError,
        RuntimeError,
    ):  # no stdin: nbconvert, nbval, a closed pipe
        return Answer("decline")


def _ask_by_input(question: Question) -> Answer:
    head = f"{question.asked_by} asks: " if question.asked_by else ""
    if question.schema is YES_OR_NO:
        said = input(f"{head}{question.message} [y/N] ").strip().lower()
        return (
            Answer("accept", {"answer": True}) if said[:1] == "y" else Answer("decline")
        )
    content: dict[str, Any] = {}
    required = question.schema.get("required", ())
    fields = question.schema.get("properties", {})
    for name, schema in fields.items():
        optional = "" if name in required else " (optional)"
        about = schema.get("description") or schema.get("title") or name
        prefix = f"{head}{question.message}\n" if not content else ""
        content |= _field(f"{prefix}{about}{optional}: ", name, schema)
    problems = validator_of(dict(question.schema)).problems(content)
    if problems:
        lines = chain([question.message], (str(problem) for problem in problems))
        return _ask_by_input(
            Question("\n".join(lines), question.schema, question.asked_by)
        )
    return Answer("accept", content)


def _field(prompt: str, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    said = input(prompt)
    if not said:
        return {}
    if schema.get("type") == "string":
        return {name: said}
    try:
        return {name: json.loads(said)}
    except ValueError:
        return {name: said}
