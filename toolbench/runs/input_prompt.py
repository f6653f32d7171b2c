"""Ask the questions of a run through `input()`, if the run was started in a cell."""

import json
from collections.abc import Mapping
from getpass import getpass
from threading import current_thread, main_thread
from typing import Any

from toolbench.display.escape import visible
from toolbench.jsonschema.normal import Node
from toolbench.jsonschema.view import read
from toolbench.redaction.detection.locations import is_secret
from toolbench.runs.questions import YES_OR_NO, Answer, Question, decline
from toolbench.runs.shell import running_shell

_TRIES = 3
_BOOLEANS = {"y": True, "yes": True, "n": False, "no": False}


def ask_in_cell(question: Question) -> Answer:
    """Ask the person *question* by `input()`, field by field; decline if no input is possible.

    Some front ends (nbconvert, nbval, papermill) have no input. In any other thread than the main
    one, `input()` would wait for ever.
    """
    if current_thread() is not main_thread():
        return decline(question)
    try:
        return _answer_to(question)
    except (EOFError, OSError, RuntimeError):  # "no stdin" raises one of these
        return decline(question)


def _answer_to(question: Question) -> Answer:
    head = f"{question.asked_by} asks: " if question.asked_by else ""
    intro = f"{head}{question.message}"
    if question.schema is YES_OR_NO:
        consent = question.consent
        until = (
            " A yes is for the session."
            if consent and consent.can_be_remembered
            else ""
        )
        answer = input(visible(f"{intro}{until} [y/N] ")).strip().lower()
        accepted = _BOOLEANS.get(answer, False)
        return Answer("accept", {"answer": True}) if accepted else Answer("decline")
    for _ in range(_TRIES):
        content = _form_content(intro, question.schema)
        problems = question.problems(content)
        if not problems:
            return Answer("accept", content)
        intro = "\n".join([question.message, *problems])
    return Answer("decline")


def _form_content(intro: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    whole = read(schema)
    content: dict[str, Any] = {}
    for number, (name, field) in enumerate(whole.properties.items()):
        about = field.explanation or field.title or name
        prompt = f"{about}{_remark(field, optional=name not in whole.required)}: "
        text = _typed_text(f"{intro}\n{prompt}" if number == 0 else prompt, name, field)
        if text:
            content[name] = _value(text, field)
    return content


def _remark(field: Node, *, optional: bool) -> str:
    choices = [str(value) for node in field.alternatives for value in node.values]
    words = [f"one of {', '.join(choices)}"] if choices else []
    words += ["optional"] if optional else []
    return f" ({'; '.join(words)})" if words else ""


def _typed_text(prompt: str, name: str, field: Node) -> str:
    hidden = any(is_secret(name, node.schema) for node in field.alternatives)
    ask = getpass if hidden else input
    return ask(visible(prompt))  # a terminal would execute control codes of a server


def _value(text: str, field: Node) -> Any:
    if field.is_text:
        return text
    if field.type == "boolean" and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        return text


def can_ask_in_cell() -> bool:
    """Tell whether the running cell can ask for input; under nbconvert and nbval it cannot."""
    kernel = getattr(running_shell(), "kernel", None)
    return bool(getattr(kernel, "_allow_stdin", True))  # as input() itself checks
