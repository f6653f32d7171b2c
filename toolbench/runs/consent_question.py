"""The question that asks the user for consent to a call, and that shows the whole call."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import left_out, shorten
from toolbench.display.escape import visible
from toolbench.runs.questions import ConsentLabels, Question
from toolbench.runs.run import Run
from toolbench.values import json_text
from toolbench.wording import counted

# Characters of a call that are shown at once; shorter lines count as so many
_AT_ONCE, _SHORT_LINE = 4_000, 50
# Minimum characters shown of each value
_LEAST = 200
# Arguments that are shown at once
_MOST_PARTS = 20
# Maximum characters of a value on the line of its name
_SHORT = 100
# Characters of a label, of a name, and of a sentence
_LABEL, _NAME, _SENTENCE = 60, 100, 500
# Characters in a line of a value. Longer lines are split, as a page would wrap them without a bar
_WIDEST = 100
# No line of ours begins like this
_LINE, _GOES_ON = "    | ", "    |…"
# Maximum levels of nesting in a value
_DEEPEST = 200
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


class _Part(NamedTuple):
    """A part of a call, such as an argument: one line, and perhaps a long value below it."""

    line: str
    value: str = ""

    def lines(self) -> list[str]:
        """Return the lines of the part; each line of the value begins with a bar."""
        lines = [f"  {self.line}"]
        if not self.value:
            return lines
        for line in visible(self.value).removesuffix("\n").split("\n"):
            lines.append(f"{_LINE}{line[:_WIDEST]}")
            for start in range(_WIDEST, len(line), _WIDEST):
                lines.append(f"{_GOES_ON}{line[start : start + _WIDEST]}")
        return lines

    def ends(self, limit: int) -> list[str]:
        """Return the first and last lines, about *limit* characters; a note replaces the middle."""
        first, *value = self.lines()
        if _room(value) <= limit:
            return [first, *value]
        head = _fitting(value, limit // 2)
        tail = [*reversed(_fitting(reversed(value), limit // 2))]
        between = value[len(head) : len(value) - len(tail)]
        # Count without the bars, but with the newlines
        marks = len(_LINE) * len(between)
        ends = sum(line.startswith(_LINE) for line in between)
        omitted = sum(map(len, between)) - marks + ends
        return [first, *head, f"    {left_out(omitted, 'character')}", *tail]


def question_of(run: Run, why: str, *, once: bool) -> Question:
    """Return the question that asks the user whether *run* may start.

    It shows the validated fields of the action, which may differ from the arguments that the caller
    sent. Each line of a value begins with a bar, so that no value can imitate a line of the
    question itself.

    Args:
        run: The run.
        why: The reason why consent is needed.
        once: Whether the user can also approve later calls of the tool in this session.
    """
    tool, action = run.tool, run.build()
    arguments, _ = tool.secrecy.hide(action.to_arguments())
    redactor = run.secrets.redactor
    # Before anything is cut, because half a secret would not be recognized
    masked = redactor.value(arguments)
    parts = _other_title(tool)
    if run.is_renewed:
        parts.append(_Part("Its server describes it so now:", redactor.text(tool.description)))
    if effects := [one_line(redactor.text(line)) for line in tool.preview(action)]:
        parts.append(_Part(effects[0], "\n".join(effects[1:])))
    if _is_deep([*vars(action).values(), action.model_extra]):
        parts.append(_Part("Part of the call cannot be shown: a value is nested too deeply."))
    parts += [_argument(name, value) for name, value in masked.items()]
    lines = [line for part in parts for line in part.lines()]
    shown, whole = lines, ""
    if _room(lines) > _AT_ONCE:
        shown, whole = _shortened(parts), "\n".join(lines)
    head = f"Consent is needed, because {why}."
    if run.is_renewed:
        head = f"The server of {tool.name} has changed it since. {head}"
    question = Question.about("\n".join([one_line(head, _SENTENCE), *shown]), None, "")
    return replace(question, consent=_labels(tool, can_be_remembered=once), whole=whole)


def _labels(tool: ToolDefinition[Any, Any], *, can_be_remembered: bool) -> ConsentLabels:
    """Return the labels of the answers. They use the tool's name, as a title may say anything."""
    return ConsentLabels(
        act=shorten(one_line(f"Run {tool.name}"), _LABEL),
        is_dangerous=tool.hints.effect == "destructive",
        can_be_remembered=can_be_remembered,
    )


def one_line(text: str, limit: int | None = None) -> str:
    """Return *text* as one line without hidden characters; a note says if it is cut at *limit*."""
    # None takes all
    shown = text[:limit]
    line = visible(shown.replace("\n", "⟨U+000A⟩").replace("\t", "⟨U+0009⟩"))
    return line + _of_all(shown, text)


def _of_all(shown: str, text: str) -> str:
    """Return a note on the length of *text* if *shown* is only its beginning; else ""."""
    if len(shown) == len(text):
        return ""
    return f"… ({counted(len(text), 'character')})"


def _other_title(tool: ToolDefinition[Any, Any]) -> list[_Part]:
    """Return a part with the title that a server gives *tool*, if it differs from the name."""
    if tool.source == ToolDefinition.source or tool.title == tool.name:
        return []
    return [_Part(f"Its server calls it {_in_quotes(tool.title)}.")]


def _argument(name: str, value: Any) -> _Part:
    label = name
    if not _PLAIN_NAME.fullmatch(name):
        label = _in_quotes(name)
    if isinstance(value, str):
        if len(value) <= _SHORT and "\n" not in value:
            return _Part(f"{label} = {_in_quotes(value)}")
        return _Part(f"{label} = text, {_size(value)}:", value)
    text = json_text(value)
    if len(text) <= _SHORT:
        return _Part(f"{label} = {one_line(text)}")
    text = json_text(value, indent=2)
    return _Part(f"{label} = JSON, {_size(text)}:", text)


def _is_deep(values: list[Any]) -> bool:
    """Tell whether *values* are nested so deeply that `to_arguments` may leave out a part."""
    for _ in range(_DEEPEST):
        below = list[Any]()
        for value in values:
            if isinstance(value, dict):
                below += value.values()
            elif isinstance(value, list | tuple):
                below += value
        if not below:
            return False
        values = below
    return True


def _in_quotes(text: str) -> str:
    """Return *text* as one line in JSON's quotes; a note says if *text* is cut."""
    shown = text[:_NAME]
    return one_line(json.dumps(shown, ensure_ascii=False)) + _of_all(shown, text)


def _size(text: str) -> str:
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{counted(lines, 'line')}, {counted(len(text), 'character')}"


def _shortened(parts: list[_Part]) -> list[str]:
    """Return the lines of *parts*, without the middle of long values and of long lists of parts."""
    first, last = parts, list[_Part]()
    if len(parts) > _MOST_PARTS:
        first, last = parts[: _MOST_PARTS // 2], parts[-_MOST_PARTS // 2 :]
    limit = max(_LEAST, _AT_ONCE // (len(first) + len(last)))
    lines = [line for part in first for line in part.ends(limit)]
    if last:
        lines.append(f"  {left_out(len(parts) - _MOST_PARTS, 'argument')}")
    return lines + [line for part in last for line in part.ends(limit)]


def _fitting(lines: Iterable[str], limit: int) -> list[str]:
    """Return as many of the first *lines* as fit into *limit* characters."""
    fitting = []
    for line in lines:
        limit -= _room([line])
        if limit < 0:
            break
        fitting.append(line)
    return fitting


def _room(lines: Iterable[str]) -> int:
    return sum(max(len(line), _SHORT_LINE) for line in lines)
