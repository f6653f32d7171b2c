"""Ask through `input()`, as a run that was started in a cell does."""

import json
from collections.abc import Mapping
from getpass import getpass
from threading import current_thread, main_thread
from typing import Any

from toolbench.core.secrecy import is_secret
from toolbench.display.escape import visible
from toolbench.runs.questions import YES_OR_NO, Answer, Question, decline
from toolbench.runs.shell import running_shell

_TRIES = 3
_BOOLEANS = {"y": True, "yes": True, "n": False, "no": False}


def ask_in_cell(question: Question) -> Answer:
    """Ask field by field; decline where nobody can answer.

    That is where the front end has no input (nbconvert, nbval, papermill) and in any thread
    but the main one, where `input()` would wait for ever.
    """
    if current_thread() is not main_thread():
        return decline(question)
    try:
        return _asked(question)
    except (EOFError, OSError, RuntimeError):  # what "no stdin" raises, here and there
        return decline(question)


def _asked(question: Question) -> Answer:
    head = f"{question.asked_by} asks: " if question.asked_by else ""
    intro = f"{head}{question.message}"
    if question.schema is YES_OR_NO:
        said = input(visible(f"{intro} [y/N] ")).strip().lower()
        accepted = _BOOLEANS.get(said, False)
        return Answer("accept", {"answer": True}) if accepted else Answer("decline")
    for _ in range(_TRIES):
        content = _filled_in(intro, question.schema)
        problems = question.problems(content)
        if not problems:
            return Answer("accept", content)
        intro = "\n".join([question.message, *problems])
    return Answer("decline")


def _filled_in(intro: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    required = schema.get("required", ())
    content: dict[str, Any] = {}
    for number, (name, field) in enumerate(schema.get("properties", {}).items()):
        field = field if isinstance(field, Mapping) else {}
        remark = _remark(field, optional=name not in required)
        about = field.get("description") or field.get("title") or name
        prompt = f"{about}{remark}: "
        said = _said(f"{intro}\n{prompt}" if number == 0 else prompt, name, field)
        if said:
            content[name] = _read(said, field)
    return content


def _remark(field: Mapping[str, Any], *, optional: bool) -> str:
    choices = field.get("enum")
    words = [f"one of {', '.join(map(str, choices))}"] if choices else []
    words += ["optional"] if optional else []
    return f" ({'; '.join(words)})" if words else ""


def _said(prompt: str, name: str, field: Mapping[str, Any]) -> str:
    ask = getpass if is_secret(name, field) else input
    return ask(visible(prompt))  # a terminal would obey what a server writes


def _read(said: str, field: Mapping[str, Any]) -> Any:
    if field.get("type") == "string":
        return said
    if field.get("type") == "boolean" and said.lower() in _BOOLEANS:
        return _BOOLEANS[said.lower()]
    try:
        return json.loads(said)
    except ValueError:
        return said


def somebody_there() -> bool:
    """Tell whether the front end of the running cell can answer: nbconvert's and nbval's cannot."""
    kernel = getattr(running_shell(), "kernel", None)
    return bool(getattr(kernel, "_allow_stdin", True))  # what input() itself asks
