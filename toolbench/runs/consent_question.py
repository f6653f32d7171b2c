"""The question for consent to a call; its two labels are such as `Delete volume 3` and `Keep it`."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import shorten
from toolbench.display.escape import visible
from toolbench.plain import clip
from toolbench.runs.questions import ConsentLabels, Question
from toolbench.runs.run import Run
from toolbench.wording import words_of

# Characters of each argument in the question
_MAX_ARGUMENT = 300
# Characters of a label
_LONGEST = 60
# Characters of an argument in a label
_VALUE = 40
_ARTICLE = re.compile(r"(?<= )(?:an?|the) (?=[^ ]+$)")
_IDENTIFIERS = frozenset(
    {
        "id",
        "uuid",
        "name",
        "title",
        "slug",
        "key",
        "path",
        "file",
        "folder",
        "url",
        "uri",
    }
)
"""Words of arguments whose value names the object of a call, for any tool."""
_REMOVALS = {"delete", "remove", "erase", "drop", "purge", "clear", "wipe", "destroy"}


def consent_labels(
    tool: ToolDefinition[Any, Any],
    arguments: Mapping[str, Any],
    *,
    can_be_remembered: bool,
) -> ConsentLabels:
    """Return the labels for the question whether this call of *tool* may run.

    Args:
        tool: The tool.
        arguments: The arguments of the call, with secrets hidden.
        can_be_remembered: Whether a yes may count for the whole session.
    """
    words = words_of(tool.name)
    verb = next(iter(words), "")
    return ConsentLabels(
        act=call_phrase(tool, arguments),
        refusal="Keep it" if verb in _REMOVALS else "Do not run",
        is_dangerous=tool.hints.effect == "destructive",
        can_be_remembered=can_be_remembered,
    )


def call_phrase(tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any]) -> str:
    """Return a phrase for a call: `Delete volume 3` for `delete_volume(volume=3)`.

    A value that does not say what the call is done to stands with the name of its argument:
    `Delete volumes (before: 2026-02-28)`.
    """
    title = tool.title
    if title == tool.name:
        title = " ".join(words_of(tool.name)).capitalize() or tool.name
    words = {_singular(word) for word in words_of(f"{tool.name} {title}")}
    short = {name: text for name, value in arguments.items() if (text := _short(value))}
    objects = [text for name, text in short.items() if _names_object(name, words)]
    # The value says which: "Delete a volume" becomes "Delete volume 3"
    if objects:
        text = f"{_ARTICLE.sub('', title)} {objects[0]}"
    else:
        details = [f" ({name}: {text})" for name, text in short.items()]
        text = "".join((title, *details[:1]))
    return shorten(visible(" ".join(text.split())), _LONGEST)


def _names_object(argument: str, words: set[str]) -> bool:
    """Tell whether the value of *argument* names what the call is done to, as `id` or `volume_name` do.

    Each word of its name is such a word, or one of *words*, the words of the tool: `before` and
    `except_name` say something else about a call of `delete_volumes`.
    """
    parts = {_singular(word) for word in words_of(argument)}
    return bool(parts) and parts <= words | _IDENTIFIERS


def _singular(word: str) -> str:
    return word.removesuffix("s")


def _short(value: Any) -> str:
    """Return *value* as text; an empty text if it is no short text or integer."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = str(value)
    return text if len(text) <= _VALUE and text.isprintable() else ""


def question_of(run: Run, why: str, *, once: bool) -> Question:
    """Return the question for consent. It shows the whole call: a person must know what will run.

    The question shows the checked fields of the action, which may differ from the arguments that
    the caller sent.
    """
    arguments, _ = run.tool.secrecy.hide(run.build().to_arguments())
    masked = run.secrets.redactor.value(arguments)
    call = [f"{name} = {clip(value, _MAX_ARGUMENT)}" for name, value in masked.items()]
    is_of_tool = why.startswith(run.tool.name)
    reason = why if is_of_tool else f"{why[:1].upper()}{why[1:]}"
    head = f"{reason}. Run {'it' if is_of_tool else run.tool.title}?"
    if run.is_renewed:
        head = f"The server of {run.tool.name} has changed it since. {head}"
    consent = consent_labels(run.tool, masked, can_be_remembered=once)
    question = Question.about("\n".join([head, *call]), None, "")
    return replace(question, consent=consent)
