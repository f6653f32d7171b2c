"""Ask the questions of a run by `input()`, if the run was started in a cell."""

import json
import signal
import sys
from collections.abc import Callable, Mapping
from getpass import getpass
from itertools import cycle
from threading import current_thread, main_thread
from time import monotonic
from typing import Any

from toolbench.display.escape import visible
from toolbench.errors import ConsentError, Problem
from toolbench.jsonschema.checks import format_problems
from toolbench.jsonschema.describe import facts, kind, word
from toolbench.jsonschema.node import Node, read
from toolbench.redaction.detect import is_secret
from toolbench.runs.exception_text import without_traceback
from toolbench.runs.kernel import has_kernel, running_shell
from toolbench.runs.questions import YES_OR_NO, Answer, ConsentLabels, Question, Reply, decline
from toolbench.values import clip, number_in
from toolbench.wording import listed, point_advice

_TRIES = 3
TOO_SOON = 0.7
"""The seconds that a user needs to read a question; approval that comes earlier must be repeated.

A page moves the focus to the input field immediately, so the field may get text that the user is
typing elsewhere. A `y` at the end of such a line would count as approval.
"""
_AGAIN = "You typed that before the question was shown. Type it again."
# Maximum choices to list
_MOST = 20
_BOOLEANS = {"y": True, "yes": True, "n": False, "no": False}
_YES_OR_NO = "yes or no"
_WAYS_OUT: dict[str, Reply] = {"/decline": "decline", "/cancel": "cancel"}
_HINT = "Type /decline to decline, or /cancel to leave the question unanswered."
_EMPTY = object()
_MISSING = [Problem((), "is required")]


def ask_in_cell(question: Question) -> Answer:
    """Ask the user *question* by `input()`, field by field; decline if no input is possible.

    The user may try each field three times. `/decline` and `/cancel` end the question. Some front
    ends (nbconvert, nbval, papermill) do not support input. Threads other than the main thread
    cannot ask either, because `input()` would wait there for ever.

    If the user interrupts a cell that runs an event loop, the answer is a cancel.

    Raises:
        KeyboardInterrupt: If the user interrupts any other cell. IPython then shows one sentence
            instead of a traceback.
    """
    if current_thread() is not main_thread():
        return decline(question)
    # Otherwise a line of the data that a script reads would be sent as the secret
    if not question.is_recorded and not _is_somebody_there():
        return decline(question)
    handle = signal.getsignal(signal.SIGINT)
    # If interrupts are ignored here
    if not callable(handle):
        handle = signal.default_int_handler
    elif handle is not signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return _answer_to(question)
    except (EOFError, OSError, RuntimeError) as error:
        if isinstance(error, EOFError) and not has_kernel() and _is_somebody_there():
            # Ctrl+D at a terminal is a refusal. If nobody could be asked, the call might run instead
            return Answer("decline")
        # If the front end has no stdin, one of these is raised
        return decline(question)
    except KeyboardInterrupt as error:
        if handle is signal.default_int_handler:
            # Its traceback would show only how we ask
            raise without_traceback(error, _interruption(question)) from None
        # The handler cancels the cell; an error would end the loop
        handle(signal.SIGINT, None)
        return Answer("cancel")
    finally:
        if handle is not signal.default_int_handler:
            signal.signal(signal.SIGINT, handle)


def _interruption(question: Question) -> str:
    of = ""
    if question.asked_by:
        of = f" of {visible(question.asked_by)}"
    return (
        f"KeyboardInterrupt: You interrupted the question{of}. It has no answer, and the call "
        "was cancelled."
    )


def _answer_to(question: Question) -> Answer:
    intro = question.message
    if question.asked_by:
        intro = f"{question.asked_by} asks: {intro}"
    if question.schema is YES_OR_NO:
        if question.consent is not None:
            return _consent(question, intro, question.consent)
        return _agreement(f"{intro} [y/N] ", {"answer": True})
    whole = read(question.schema)
    # There is nothing to type, but the user has to agree
    if not whole.properties:
        return _agreement(f"{intro} [y/N] ", {})
    lines = [intro, _HINT]
    for _ in range(_TRIES):
        content: dict[str, Any] = {}
        for name, field in whole.properties.items():
            value = _field_value(lines, name, field, optional=name not in whole.required)
            if isinstance(value, Answer):
                return value
            if value is not _EMPTY:
                content[name] = value
            lines = []
        problems = question.problems(content)
        if not problems:
            return Answer("accept", content)
        # The values of the fields do not fit together
        lines = [question.message, *problems, _HINT]
    return Answer("decline")


def _consent(question: Question, intro: str, consent: ConsentLabels) -> Answer:
    """Ask whether a call may run; if *intro* shows only parts of it, `all` shows the rest."""
    last = f"{consent.act}? [y/N] "
    if consent.can_be_remembered:
        last = f"Your approval holds for the session.\n{last}"
    if not question.whole:
        return _agreement(f"{intro}\n{last}", {"answer": True})
    head, pages = intro.partition("\n")[0], question.pages
    views = [f"{intro}\nType all to see the whole, {len(question.whole):,} characters."]
    views += [f"{head}\n{page}" for page in pages]
    if len(pages) > 1:
        for number in range(1, len(views)):
            views[number] += f"\nThis is part {number} of {len(pages)}: type all to see the next."
    for view in cycle(views):
        text = _typed(f"{view}\n{last}")
        if text != "all":
            return _agreed(text, {"answer": True})
    return Answer("decline")


def _agreement(prompt: str, content: Mapping[str, Any]) -> Answer:
    """Ask for yes or no; yes accepts with *content*."""
    return _agreed(_typed(prompt), content)


def _typed(prompt: str) -> str:
    """Return what the user types; a yes that comes too soon has to be typed again."""
    begin = monotonic()
    text = input(visible(prompt)).strip().lower()
    if _BOOLEANS.get(text, False) and has_kernel() and monotonic() - begin < TOO_SOON:
        text = input(visible(f"{_AGAIN}\n{prompt}")).strip().lower()
    return text


def _agreed(text: str, content: Mapping[str, Any]) -> Answer:
    """Return the answer that the user typed as *text*; only a yes accepts, with *content*."""
    if _BOOLEANS.get(text, False):
        return Answer("accept", content)
    return Answer(_WAYS_OUT.get(text, "decline"))


def _field_value(lines: list[str], name: str, field: Node, *, optional: bool) -> Any:
    """Ask for *field*, below *lines*, until the value fits.

    Return the value, `_EMPTY` if the user leaves an optional field empty, or an `Answer` if the
    user ends the question or has no try left.
    """
    label = field.title or name
    is_hidden = is_secret(name, field)
    ask: Callable[[str], str] = input
    if is_hidden:
        ask = getpass
    about = _about(label, field, is_hidden=is_hidden, optional=optional)
    for left in reversed(range(_TRIES)):
        # A terminal would execute control codes that a server sends
        text = ask(visible("\n".join([*lines, about])))
        if (reply := text.strip().lower()) in _WAYS_OUT:
            return Answer(_WAYS_OUT[reply])
        if not text and optional:
            return _EMPTY
        value = field.default
        if text or not field.has_default:
            value = _value(text, field)
        problems = _MISSING
        if text or field.has_default:
            problems = field.problems(value) or list(format_problems(field, value))
        if not problems:
            return value
        if is_hidden:
            # A problem quotes the value
            lines = [f"{label}: this value does not fit."]
        else:
            lines = [_reason(label, field, text, each) for each in problems]
        if left == 1:
            lines.append("One try is left, then the question is declined.")
    return Answer("decline")


def _reason(label: str, field: Node, text: str, problem: Problem) -> str:
    """Return why *text* does not fit *field*, worded like the prompt of *field*."""
    message = problem.message
    if _kind(field) == _YES_OR_NO and text:
        message = f"should be {_YES_OR_NO}, not {clip(text)}"
    reason = str(Problem((label, *problem.path), message))
    if field.type == "number" and (advice := point_advice(text)):
        return f"{reason}. {advice}"
    return reason


def _about(label: str, field: Node, *, is_hidden: bool, optional: bool) -> str:
    """Return the prompt of *field*: its description, then a line with its type and limits."""
    details = [_kind(field)]
    # A default may be a secret too
    if not is_hidden:
        details += facts(field)
    if optional:
        details.append("optional")
    prompt = f"{label} ({'; '.join(details)}): "
    if field.explanation:
        prompt = f"{field.explanation}\n{prompt}"
    return prompt


def _kind(field: Node) -> str:
    names = _choice_names(field)
    if any(names.values()):
        choices = []
        for value, name in names.items():
            if name:
                value = f"{value} ({name})"
            choices.append(value)
        return f"one of {listed(choices, _MOST)}"
    if field.type == "boolean":
        return _YES_OR_NO
    if field.type in ("array", "object"):
        return f"{kind(field)}, as JSON"
    return kind(field)


def _choice_names(field: Node) -> dict[str, str]:
    """Map the values of the choices of *field*, as strings, to the names of the choices."""
    return {
        word(value): name
        for node in field.alternatives
        for value, name in zip(node.values, node.value_names, strict=True)
    }


def _value(text: str, field: Node) -> Any:
    if field.is_text:
        return text
    if field.type == "boolean" and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        number = number_in(text)
        if number is None:
            return text
        return number


def can_ask_in_cell() -> bool:
    """Tell whether the running cell can ask for input; under nbconvert and nbval, it cannot."""
    kernel = getattr(running_shell(), "kernel", None)
    # As input() itself checks
    return bool(getattr(kernel, "_allow_stdin", True))


def require_yes(question: Question, *, refused: str, unasked: str) -> None:
    """Ask the user *question*, and return only if the answer is yes.

    Raises:
        ConsentError: If the user says no; the message is *refused*. Also if nobody can be asked or
            nobody answers; the message is *unasked*.
    """
    if _is_somebody_there():
        answer = question.meaning_of(ask_in_cell(question))
        if answer:
            return
        if answer.by_somebody:
            raise ConsentError(refused)
    raise ConsentError(unasked)


def _is_somebody_there() -> bool:
    """Tell whether a user may answer; nobody can if stdin is a pipe or a file."""
    if current_thread() is not main_thread():
        return False
    if has_kernel():
        return can_ask_in_cell()
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
