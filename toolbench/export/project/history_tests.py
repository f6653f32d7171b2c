"""Make tests from the history: a test repeats a call, or checks that its arguments are accepted."""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from toolbench.core.coercion import ResultObservation
from toolbench.core.schema import Observation
from toolbench.display.observations import read_by_model
from toolbench.export.project.call_conditions import CallConditions
from toolbench.export.tool_code.tool_parts import AnyTool, ToolParts
from toolbench.redaction import MARK
from toolbench.redaction.detect import keys_in
from toolbench.redaction.known import remembered
from toolbench.runs.questions import Answer
from toolbench.runs.record import RunRecord, is_lost
from toolbench.values import NOT_KEPT, plain
from toolbench.wording import counted


def _lacks_answers(record: RunRecord) -> bool:
    """Tell whether an answer in *record* is not as it was: a secret, or a very long text."""
    return any(is_lost(answer.content) for answer in record.answers)


MOST_CALLS = 50
"""The most calls of one tool that become tests; the newest are used."""
# The fields that every observation has
_OWN = {"content", "is_error", "kind"}
_ADDRESS = re.compile(r"\b(at|object) 0x[0-9a-f]{6,}")


class RecordedCalls(NamedTuple):
    """The calls of a history that become tests, JSON-ready.

    Attributes:
        repeated: The calls with their results: a test expects the same result.
        accepted: The calls of which a test expects only that the arguments are accepted.
        notes: Sentences for the README: which calls are not among *repeated*, and why.
    """

    repeated: list[dict[str, Any]]
    accepted: list[dict[str, Any]]
    notes: list[str]


def calls_of(
    parts: Sequence[ToolParts],
    records: Iterable[RunRecord],
    conditions: Mapping[str, CallConditions],
    *,
    earlier_sessions: bool,
    openhands: bool,
) -> RecordedCalls:
    """Return the calls in *records* that become tests of the tools in *parts*.

    These calls are left out: calls before the last change of the tool or of code that it needs;
    calls whose arguments were refused; calls with a secret, or with values that JSON cannot
    express; stopped calls; calls with a question that had no answer; and, for the OpenHands SDK,
    failed calls. Any other call that asked a person is repeated with the same answers. Of a call
    whose result depends on something outside of the package, or on what tools changed before, only
    the arguments are tested.

    Args:
        parts: The tools.
        records: The records of all tools, also of those that are not exported.
        conditions: The conditions for calls of each tool, by its name.
        earlier_sessions: Whether calls of earlier sessions count; the tool may have changed since.
        openhands: Whether the tests are for the OpenHands SDK.
    """
    records = sorted(records, key=lambda record: record.started)
    states = ("ok",) if openhands else ("ok", "error")
    calls = RecordedCalls([], [], [])
    for part in parts:
        name = part.tool.name
        candidates = [r for r in records if r.is_of(part.tool) and r.state in states]
        old = [r for r in candidates if r.definition is None and not earlier_sessions]
        if old:
            calls.notes.append(
                f"Not tested: {counted(len(old), 'call')} of `{name}`. An earlier session made it, "
                "and the tool may have changed since: `tests=` takes it."
            )
        candidates = [r for r in candidates if earlier_sessions or r.definition is not None]
        own = _calls_of_tool(part.tool, candidates, records, conditions[name])
        calls.repeated.extend(own.repeated)
        calls.accepted.extend(own.accepted)
        calls.notes.extend(own.notes)
        calls.notes.extend(_notes_on_paths(name, [*own.repeated, *own.accepted]))
    return calls


def _notes_on_paths(name: str, calls: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence if arguments in *calls* of the tool *name* are paths of this machine."""
    paths = [path for call in calls for path in [*_paths_in(call["arguments"])][:1]]
    if paths:
        yield (
            f"The arguments of {counted(len(paths), 'tested call')} of `{name}` have an absolute path, "
            f"such as `{paths[-1]}`. The tests do not copy what is there, and may fail where it is not."
        )


def _paths_in(value: Any) -> Iterator[str]:
    """Yield the texts in *value* that are absolute paths of something on this machine.

    One step below the root is not enough: `/home` may be the path of a page too.
    """
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _paths_in(item)
    elif isinstance(value, str) and _is_path_here(value):
        yield value


def _is_path_here(text: str) -> bool:
    path = Path(text)
    try:
        return path.is_absolute() and len(path.parts) > 2 and path.exists()
    except (OSError, ValueError):
        # Too long for a path, or a null character
        return False


def _calls_of_tool(
    tool: AnyTool,
    candidates: Sequence[RunRecord],
    records: Sequence[RunRecord],
    conditions: CallConditions,
) -> RecordedCalls:
    """Return those of *candidates*, records of *tool*, that become tests; *records* are of all tools."""
    name, notes = tool.name, list[str]()
    own = [r for r in candidates if r.definition in (tool, None)]
    current = [r for r in own if r.cell is None or r.cell >= conditions.last_change]
    if outdated := len(own) - len(current):
        notes.append(
            f"Not tested: {counted(outdated, 'call')} of `{name}`. After that, a cell changed code "
            f"that `{name}` needs."
        )
    most = conditions.before_changes(records)
    early = set[tuple[str, int]]()
    if not conditions.causes:
        early = {record.key for record in records[:most]}
    complete = [r for r in current if not r.refused or _is_same_refusal(r, early)]
    if refused := len(current) - len(complete):
        notes.append(
            f"Not tested: {counted(refused, 'call')} of `{name}`. The call was refused "
            "before the tool ran."
        )
    with_answers = [r for r in complete if not r.unanswered]
    if left_out := len(complete) - len(with_answers):
        notes.append(
            f"Not tested: {counted(left_out, 'call')} of `{name}`. A question had no answer: the "
            "preset answer did not fit, or the tool did not wait for it."
        )
    answered = [r for r in with_answers if not _lacks_answers(r)]
    if left_out := len(with_answers) - len(answered):
        notes.append(
            f"Not tested: {counted(left_out, 'call')} of `{name}`. A question was asked; the "
            "history keeps no answer that is secret or very long."
        )
    if conditions.causes:
        accepted = _distinct(call for r in answered for call in _repeatable(r))
        if accepted:
            notes.append(
                f"`{name}` {'; it '.join(conditions.causes)}. So its results may differ, and the "
                "tests check only that its arguments are accepted."
            )
        return RecordedCalls([], accepted, notes)
    steady, others = _steady(r for r in answered if r.key in early)
    later = _distinct(c for r in answered if r.key not in early for c in _repeatable(r))
    later = [call for call in later if _key_of(call) not in map(_key_of, steady)]
    if later:
        notes.append(
            f"`{name}` uses {_listed(conditions.state)}, which {_listed(conditions.changers)} "
            f"may have changed before {counted(len(later), 'call')} of it: "
            f"{_ONLY_THEIR_ARGUMENTS}"
        )
    if others:
        notes.append(
            f"`{name}` had a new result each time for the same arguments in "
            f"{counted(len(others), 'call')}: {_ONLY_THEIR_ARGUMENTS}"
        )
    return RecordedCalls(steady, _distinct([*later, *others]), notes)


_ONLY_THEIR_ARGUMENTS = "the tests check only that their arguments are accepted."


def _is_same_refusal(record: RunRecord, early: Container[tuple[str, int]]) -> bool:
    """Tell whether a test can expect that the arguments of *record* are refused for the same reason."""
    return record.refused == "arguments" and record.key in early


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _steady(
    records: Iterable[RunRecord],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the calls of *records* that can be repeated, and those that had several results."""
    by_arguments: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        for call in _repeatable(record):
            by_arguments.setdefault(_key_of(call), []).append(call)
    steady, others = list[dict[str, Any]](), list[dict[str, Any]]()
    for calls in by_arguments.values():
        is_steady = all(call == calls[-1] for call in calls)
        is_steady = is_steady and not _ADDRESS.search(calls[-1]["text"])
        (steady if is_steady else others).append(calls[-1])
    return steady[-MOST_CALLS:], others


def _key_of(call: Mapping[str, Any]) -> str:
    return json.dumps([call["arguments"], call.get("answers")])


def _distinct(calls: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the tool and the arguments of *calls*, without repetitions."""
    distinct = {
        json.dumps(call["arguments"]): {k: call[k] for k in ("tool", "arguments")} for call in calls
    }
    return list(distinct.values())[-MOST_CALLS:]


def _repeatable(record: RunRecord) -> Iterator[dict[str, Any]]:
    """Yield *record* as a call, if the record is complete and has no secret."""
    if record.lost:
        return
    arguments, observation = dict(record.arguments), record.observation
    call = {
        "tool": record.tool,
        "arguments": arguments,
        "text": "".join(getattr(b, "text", "") for b in observation.content),
        "is_error": observation.is_error,
    }
    if record.answers:
        call["answers"] = plain([_answer_to_repeat(a) for a in record.answers])
    if not isinstance(observation, ResultObservation):
        fields = plain(dict(observation))
        call["fields"] = {k: v for k, v in fields.items() if k not in _OWN}
    if type(observation).to_llm_content is not Observation.to_llm_content:
        blocks = read_by_model(observation)
        call["read_by_model"] = "".join(getattr(b, "text", "") for b in blocks)
    text = json.dumps(call, ensure_ascii=False)
    if MARK in text or NOT_KEPT in text or "history keeps only the start" in text:
        return
    if not remembered.redactor.occurs_in(text) and not any(keys_in(text)):
        yield call


def _answer_to_repeat(answer: Answer) -> dict[str, Any]:
    """Return *answer* without its question; the reason why no person answered only if none did."""
    fields = asdict(answer)
    del fields["question"]
    if answer.by_somebody:
        del fields["absence"]
    return fields


def offers_of(tools: Sequence[AnyTool]) -> dict[str, Any]:
    """Return the description and the schema of the arguments that a model gets, for each tool by name."""
    return {
        tool.name: {"description": tool.description, "inputSchema": tool.parameters()}
        for tool in tools
    }
