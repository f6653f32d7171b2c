"""Make tests from the history: a test repeats a call, or checks that its arguments are accepted.

Only the calls of a tool that declares `read_only` are repeated. Nothing is guessed about other
tools.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from toolbench.core.coercion import ResultObservation
from toolbench.core.executor import FunctionCall, innermost
from toolbench.core.schema import Observation
from toolbench.display.observations import read_by_model
from toolbench.export.code.code_secrets import holds_secret
from toolbench.export.code.needed_statements import Needed, needed_by
from toolbench.export.code.statements import Statement
from toolbench.export.code.symbol_names import names_in_code
from toolbench.export.tool_code.tool_parts import AnyTool, ToolParts
from toolbench.runs.questions import Answer
from toolbench.runs.record import RunRecord, is_lost
from toolbench.values import NOT_KEPT, plain
from toolbench.wording import counted

MOST_CALLS = 50
"""The most calls of one tool that become tests; the newest are used."""
# The fields that every observation has
_OWN = {"content", "is_error", "kind"}
_ADDRESS = re.compile(r"\b(at|object) 0x[0-9a-f]{6,}")


_Call = dict[str, Any]
"""A recorded call, as values for a JSON file."""


class RecordedCalls(NamedTuple):
    """The recorded calls that become tests, as values for a JSON file.

    Attributes:
        repeated: The calls that a test repeats, with the results that the test expects.
        accepted: The calls that a test does not repeat. The test only checks that the tool accepts
            the arguments of these calls.
        notes: Sentences for the README that say which calls are not in `repeated`, and why.
    """

    repeated: list[_Call]
    accepted: list[_Call]
    notes: list[str]


def calls_of(
    parts: Sequence[ToolParts],
    records: Iterable[RunRecord],
    *,
    earlier_sessions: bool,
    openhands: bool,
) -> RecordedCalls:
    """Return the calls in *records* that become tests of the tools in *parts*.

    If the user was asked a question during a call, the test gives the same answer. The following
    calls do not become tests:

    - calls that were stopped or not allowed;
    - failed calls, if *openhands* is true;
    - calls with invalid arguments, if the tests do not compare the results of the tool;
    - calls that ran before the last change of the tool, or of code that the tool needs;
    - calls with a secret, or with values that JSON cannot express;
    - calls with a question that nobody answered.

    Args:
        parts: The tools to test.
        records: The records of all calls of the session, including calls of other tools.
        earlier_sessions: Whether to use calls of earlier sessions, although the tool may have
            changed since then.
        openhands: Whether the tests are for the OpenHands SDK.
    """
    records = sorted(records, key=lambda record: record.started)
    calls = RecordedCalls([], [], [])
    for part in parts:
        candidates, old = list[RunRecord](), 0
        for record in records:
            is_over = record.state == "ok" or (record.state == "error" and not openhands)
            if not is_over or not record.is_of(part.tool):
                continue
            if record.definition is None and not earlier_sessions:
                old += 1
            elif record.definition in (part.tool, None):
                candidates.append(record)
        if old:
            calls.notes.append(
                f"Not tested: {counted(old, 'call')} of `{part.tool.name}`. An earlier session "
                "made it, and the tool may have changed since: `tests=` takes it."
            )
        _add_calls(calls, part, candidates, records)
    return calls


def _add_calls(
    calls: RecordedCalls,
    part: ToolParts,
    candidates: Sequence[RunRecord],
    records: Sequence[RunRecord],
) -> None:
    """Add those of *candidates* to *calls* that become tests.

    *candidates* are the records of the tool in *part*, and *records* are those of all tools.
    """
    name, hints = part.tool.name, part.tool.hints
    needed = _needed_by_tool(part)
    changed = _last_change(needed)
    by_other, why = None, ""
    if hints.effect != "read-only":
        why = f"`{name}` does not declare `read_only`"
    elif "openWorldHint" in hints.model_fields_set and hints.openWorldHint:
        why = f"`{name}` declares `open_world`"
    else:
        by_other = _first_of_other_tools(part, needed, records, changed)
    repeatable, accepted, reasons = list[_Call](), list[_Call](), list[str]()
    for record in candidates:
        is_repeated = not why and (by_other is None or record.started < by_other.started)
        reason = _why_untested(record, name, changed, is_repeated=is_repeated)
        if reason:
            reasons.append(reason)
        elif is_repeated:
            repeatable += _repeatable(record)
        else:
            accepted += _repeatable(record)
    for reason in dict.fromkeys(reasons):
        number = counted(reasons.count(reason), "call")
        calls.notes.append(f"Not tested: {number} of `{name}`. {reason}")
    if by_other is not None:
        why = (
            f"`{by_other.tool}` ran before {counted(len(accepted), 'call')} of `{name}`, uses the "
            "same objects and does not declare `read_only`"
        )
    if accepted:
        calls.notes.append(f"{why}: {_ONLY_ARGUMENTS}")
    _add_distinct(calls, name, repeatable, accepted)


def _add_distinct(
    calls: RecordedCalls, name: str, repeatable: Sequence[_Call], accepted: Sequence[_Call]
) -> None:
    """Add the calls of the tool *name* to *calls*, each only once.

    If the same call had different results, a test only checks that its arguments are accepted.
    """
    steady, unsteady = _divided(repeatable)
    if unsteady:
        calls.notes.append(
            f"`{name}` had a new result each time for the same arguments in "
            f"{counted(len(unsteady), 'call')}: {_ONLY_ARGUMENTS}"
        )
    calls.repeated.extend(steady[-MOST_CALLS:])
    repeated = [call["arguments"] for call in steady]
    distinct = dict[str, _Call]()
    for call in (*accepted, *unsteady):
        arguments = call["arguments"]
        if arguments not in repeated:
            distinct[json.dumps(arguments)] = {"tool": call["tool"], "arguments": arguments}
    calls.accepted.extend(list(distinct.values())[-MOST_CALLS:])


_ONLY_ARGUMENTS = "the tests check only that its arguments are accepted."


def _why_untested(record: RunRecord, name: str, changed: int, *, is_repeated: bool) -> str:
    """Return the reason why *record* does not become a test; empty if it becomes one.

    Args:
        record: The record of a call of the tool *name*.
        name: The name of the tool.
        changed: The number of the cell that last changed the code of the tool.
        is_repeated: Whether the test would repeat the call, not only check its arguments.
    """
    if record.cell is not None and record.cell < changed:
        return f"After that, a cell changed code that `{name}` needs."
    if record.refused == "call" or (record.refused and not is_repeated):
        return "The call was refused before the tool ran."
    if record.unanswered:
        return "A question had no answer: the preset answer did not fit, or the tool did not wait for it."
    if any(is_lost(answer.content) for answer in record.answers):
        return "A question was asked; the history keeps no answer that is secret or very long."
    return ""


def _needed_by_tool(part: ToolParts) -> Needed:
    """Return the statements that the tool in *part* needs; undefined names are ignored."""
    names = names_in_code("\n\n".join((part.definition, part.implementation, part.create)))
    wanted = names.now | names.later | part.types | part.lazy
    return needed_by(part.statements, (), part.tool.name, maybe=wanted)


def _last_change(needed: Needed) -> int:
    """Return the number of the last cell that changed one of the *needed* statements.

    Running a cell again with the same code does not count as a change.
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
    part: ToolParts, needed: Needed, records: Sequence[RunRecord], changed: int
) -> RunRecord | None:
    """Return the first run of another tool that may have changed an object of this tool, or None.

    It is a run of a tool that uses the same object and does not declare that it only reads. Runs
    before the cell *changed*, which last changed the code of this tool, are ignored.
    """
    objects = needed.objects()
    for record in records:
        other: Any = record.definition
        is_before = record.cell is not None and record.cell < changed
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


def _divided(calls: Iterable[_Call]) -> tuple[list[_Call], list[_Call]]:
    """Divide *calls* into those that always had the same result and those that had not.

    Each call is returned only once.
    """
    last, unsteady = dict[str, _Call](), dict[str, _Call]()
    for call in calls:
        key = json.dumps([call["arguments"], call.get("answers")])
        if last.get(key, call) != call or _ADDRESS.search(call["text"]):
            unsteady[key] = call
        last[key] = call
    return [call for key, call in last.items() if key not in unsteady], list(unsteady.values())


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
    if NOT_KEPT in text or "history keeps only the start" in text:
        return
    if not holds_secret(text, is_code=False):
        yield call


def _answer_to_repeat(answer: Answer) -> dict[str, Any]:
    """Return the fields of *answer* that a test needs to give the same answer."""
    fields = asdict(answer)
    del fields["question"]
    if answer.by_somebody:
        del fields["absence"]
    return fields


def offers_of(tools: Sequence[AnyTool]) -> dict[str, Any]:
    """Return the description and the argument schema that a model gets, by the name of the tool."""
    offers = dict[str, Any]()
    for tool in tools:
        offers[tool.name] = {"description": tool.description, "inputSchema": tool.parameters()}
    return offers
