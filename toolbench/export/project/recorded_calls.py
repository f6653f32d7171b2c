"""Make tests from the history: a test repeats a call, or checks that its arguments are accepted.

Only the calls of a tool that declares `read_only` are repeated. What its author did not declare is
not guessed.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from toolbench.core.coercion import ResultObservation
from toolbench.core.executor import FunctionCall, innermost
from toolbench.core.schema import Observation
from toolbench.display.observations import read_by_model
from toolbench.export.code.needed_statements import Needed, needed_by
from toolbench.export.code.statements import Statement
from toolbench.export.code.symbol_names import names_in_code
from toolbench.export.tool_code.tool_parts import AnyTool, ToolParts
from toolbench.redaction import MARK
from toolbench.redaction.detect import keys_in
from toolbench.redaction.known import remembered
from toolbench.runs.questions import Answer
from toolbench.runs.record import RunRecord, is_lost
from toolbench.values import NOT_KEPT, plain
from toolbench.wording import counted

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
    *,
    earlier_sessions: bool,
    openhands: bool,
) -> RecordedCalls:
    """Return the calls in *records* that become tests of the tools in *parts*.

    These calls are left out: calls before the last change of the tool or of code that it needs;
    calls whose arguments were refused, if the tool's calls are not repeated; calls with a secret,
    or with values that JSON cannot express; stopped calls; calls with a question that had no
    answer; and, for the OpenHands SDK, failed calls. Any other call that asked a user is repeated
    with the same answers.

    Args:
        parts: The tools.
        records: The records of all tools, also of those that are not exported.
        earlier_sessions: Whether calls of earlier sessions count; the tool may have changed since.
        openhands: Whether the tests are for the OpenHands SDK.
    """
    records = sorted(records, key=lambda record: record.started)
    states = ("ok",) if openhands else ("ok", "error")
    calls = RecordedCalls([], [], [])
    for part in parts:
        old, candidates = list[RunRecord](), list[RunRecord]()
        for record in records:
            if record.is_of(part.tool) and record.state in states:
                if record.definition is None and not earlier_sessions:
                    old.append(record)
                elif record.definition in (part.tool, None):
                    candidates.append(record)
        if old:
            calls.notes.append(
                f"Not tested: {counted(len(old), 'call')} of `{part.tool.name}`. An earlier session "
                "made it, and the tool may have changed since: `tests=` takes it."
            )
        before = len(calls.repeated), len(calls.accepted)
        _add_calls(calls, part, candidates, records)
        own = [*calls.repeated[before[0] :], *calls.accepted[before[1] :]]
        calls.notes.extend(_notes_on_paths(part.tool.name, own))
    return calls


def _notes_on_paths(name: str, calls: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence if arguments in *calls* of the tool *name* are paths of this machine."""
    paths = list[str]()
    for call in calls:
        found = list(_paths_in(call["arguments"]))
        paths += found[:1]
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


def _add_calls(
    calls: RecordedCalls,
    part: ToolParts,
    candidates: Sequence[RunRecord],
    records: Sequence[RunRecord],
) -> None:
    """Add to *calls* those of *candidates*, records of the tool in *part*, that become tests."""
    tool, needed = part.tool, _needed_by_tool(part)
    why_not = ""
    if tool.hints.effect != "read-only":
        why_not = "does not declare `read_only`"
    elif "openWorldHint" in tool.hints.model_fields_set and tool.hints.openWorldHint:
        why_not = "declares `open_world`"
    is_repeated = not why_not
    changed = _last_change(needed)
    by_other = None
    if is_repeated:
        by_other = _first_of_other_tools(part, needed, records)
    taken = _testable(calls, tool.name, candidates, changed, is_repeated=is_repeated)
    repeatable, accepted = list[dict[str, Any]](), list[dict[str, Any]]()
    for record in taken:
        if is_repeated and (by_other is None or record.started < by_other.started):
            repeatable += _repeatable(record)
        elif not record.refused:
            accepted += _repeatable(record)
    if accepted and by_other is not None:
        calls.notes.append(
            f"`{by_other.tool}` ran before {counted(len(accepted), 'call')} of `{tool.name}`, uses the "
            f"same objects and does not declare `read_only`: {_ONLY_ARGUMENTS}"
        )
    elif accepted:
        calls.notes.append(f"`{tool.name}` {why_not}: {_ONLY_ARGUMENTS}")
    steady, others = _steady(repeatable)
    if others:
        calls.notes.append(
            f"`{tool.name}` had a new result each time for the same arguments in "
            f"{counted(len(others), 'call')}: {_ONLY_ARGUMENTS}"
        )
    known = set(map(_key_of, steady))
    calls.repeated.extend(steady)
    calls.accepted.extend(_distinct(c for c in [*accepted, *others] if _key_of(c) not in known))


def _testable(
    calls: RecordedCalls,
    name: str,
    candidates: Sequence[RunRecord],
    changed: int,
    *,
    is_repeated: bool,
) -> list[RunRecord]:
    """Return those of *candidates* that can become tests, and note the others in *calls*.

    The code of the tool changed last in the cell *changed*.
    """
    taken, reasons = list[RunRecord](), list[str]()
    for record in candidates:
        if record.cell is not None and record.cell < changed:
            reasons.append(f"After that, a cell changed code that `{name}` needs.")
        elif record.refused and not (is_repeated and record.refused == "arguments"):
            reasons.append("The call was refused before the tool ran.")
        elif record.unanswered:
            reasons.append(
                "A question had no answer: the preset answer did not fit, or the tool did not wait "
                "for it."
            )
        elif any(is_lost(answer.content) for answer in record.answers):
            reasons.append(
                "A question was asked; the history keeps no answer that is secret or very long."
            )
        else:
            taken.append(record)
    for reason in dict.fromkeys(reasons):
        number = counted(reasons.count(reason), "call")
        calls.notes.append(f"Not tested: {number} of `{name}`. {reason}")
    return taken


_ONLY_ARGUMENTS = "the tests check only that its arguments are accepted."


def _needed_by_tool(part: ToolParts) -> Needed:
    """Return the statements that the tool in *part* needs, without those of its undefined names."""
    names = names_in_code("\n\n".join((part.definition, part.implementation, part.create)))
    wanted = names.now | names.later | part.types | part.lazy
    return needed_by(part.statements, (), part.tool.name, maybe=wanted)


def _last_change(needed: Needed) -> int:
    """Return the number of the last cell that changed what is *needed*.

    A cell that ran again with the same definition changes nothing.
    """
    last = 0
    for place in needed.places:
        statement = needed.statements[place]
        cell = statement.cell
        for earlier in reversed(needed.statements[:place]):
            if earlier.names.gives & statement.names.gives:
                if earlier.code != statement.code:
                    break
                cell = earlier.cell
        last = max(last, cell)
    return last


def _first_of_other_tools(
    part: ToolParts, needed: Needed, records: Sequence[RunRecord]
) -> RunRecord | None:
    """Return the first run of another tool that may have changed an object of *part*; None if none ran.

    It may if it uses the object, and does not declare that it only reads.
    """
    objects = needed.objects()
    last_change = _last_change(needed)
    for record in records:
        other: Any = record.definition
        is_before = record.cell is not None and record.cell < last_change
        if other is None or other == part.tool or is_before or record.refused:
            continue
        if other.hints.effect != "read-only" and objects & _objects_of(other, part.statements):
            return record
    return None


def _objects_of(tool: AnyTool, statements: Sequence[Statement]) -> set[str]:
    """Return the names of the objects that the code of *tool* uses, as *statements* define it."""
    name = type(tool.executor).__name__
    if isinstance(tool.executor, FunctionCall):
        name = innermost(tool.executor.function).__name__
    return needed_by(statements, (), tool.name, maybe=[name]).objects()


def _steady(calls: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the calls that can be repeated, and those that had several results."""
    by_arguments: dict[str, list[dict[str, Any]]] = {}
    for call in calls:
        by_arguments.setdefault(_key_of(call), []).append(call)
    steady, others = list[dict[str, Any]](), list[dict[str, Any]]()
    for same in by_arguments.values():
        last = same[-1]
        if same.count(last) == len(same) and not _ADDRESS.search(last["text"]):
            steady.append(last)
        else:
            others.append(last)
    return steady[-MOST_CALLS:], others


def _key_of(call: Mapping[str, Any]) -> str:
    return json.dumps([call["arguments"], call.get("answers")])


def _distinct(calls: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the tool and the arguments of *calls*, without repetitions."""
    distinct = dict[str, dict[str, Any]]()
    for call in calls:
        arguments = call["arguments"]
        distinct[json.dumps(arguments)] = {"tool": call["tool"], "arguments": arguments}
    return list(distinct.values())[-MOST_CALLS:]


def _text_of(blocks: Iterable[Any]) -> str:
    return "".join(getattr(block, "text", "") for block in blocks)


def _repeatable(record: RunRecord) -> Iterator[dict[str, Any]]:
    """Yield *record* as a call, if the record is complete and has no secret."""
    if record.lost:
        return
    observation = record.observation
    call = {
        "tool": record.tool,
        "arguments": dict(record.arguments),
        "text": _text_of(observation.content),
        "is_error": observation.is_error,
    }
    if record.answers:
        call["answers"] = plain([_answer_to_repeat(a) for a in record.answers])
    if not isinstance(observation, ResultObservation):
        fields = plain(dict(observation))
        call["fields"] = {name: fields[name] for name in fields if name not in _OWN}
    if type(observation).to_llm_content is not Observation.to_llm_content:
        call["read_by_model"] = _text_of(read_by_model(observation))
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
    offers = dict[str, Any]()
    for tool in tools:
        offers[tool.name] = {"description": tool.description, "inputSchema": tool.parameters()}
    return offers
