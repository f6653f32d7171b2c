"""Make tests from the history: each test repeats a call and expects the same result."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from toolbench.core.coercion.coercion import ResultObservation
from toolbench.core.schema import Observation
from toolbench.display.observations import read_by_model
from toolbench.export.code.effects import Effects
from toolbench.export.code.statements import Statement
from toolbench.export.project.preparation import needed_by_tool
from toolbench.export.tool_code.tool_parts import AnyTool, ToolParts
from toolbench.plain import NOT_KEPT, plain
from toolbench.redaction import MARK
from toolbench.redaction.detection.key_shapes import keys_in
from toolbench.redaction.remembered_secrets import remembered
from toolbench.runs.history.record import RunRecord, is_lost
from toolbench.wording import counted


@dataclass(frozen=True)
class CallConditions:
    """The conditions under which recorded calls of one tool can be repeated.

    Attributes:
        last_change: The number of the last cell that changed code which the tool needs.
        state: The global names of a person's code that a call changes, so that later calls differ.
    """

    last_change: int = 0
    state: frozenset[str] = frozenset()


def conditions_of(part: ToolParts) -> CallConditions:
    """Return the conditions for calls of the tool in *part*."""
    statements, needed = part.statements, needed_by_tool(part)
    cells = (_first_cell(statements, place) for place in needed.places)
    state = Effects(statements).kept_by(needed.places) & needed.names
    return CallConditions(max(cells, default=0), state)


def _first_cell(statements: Sequence[Statement], place: int) -> int:
    """Return the cell that gave the names of the statement at *place* their present definition.

    If equal definitions ran in several cells, return the first of these cells.
    """
    statement = statements[place]
    cell = statement.cell
    for earlier in reversed(statements[:place]):
        if earlier.names.gives & statement.names.gives:
            if earlier.code != statement.code:
                break
            cell = earlier.cell
    return cell


def _lacks_answers(record: RunRecord) -> bool:
    """Tell whether an answer in *record* is not as it was: a secret, or a very long text."""
    return any(is_lost(answer.content) for answer in record.answers)


MOST_CALLS = 50
"""The most calls of one tool that become tests; the newest are used."""
_OWN = {"content", "is_error", "kind"}  # the fields that every observation has


def calls_of(
    parts: Sequence[ToolParts], records: Iterable[RunRecord], *, openhands: bool
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the calls in *records* that can be repeated, JSON-ready, and notes for the README.

    These calls are left out: calls before the last change of the tool or of code that it needs;
    calls with a secret, or with values that JSON cannot express; stopped calls; calls whose
    results differed; and, for the OpenHands SDK, failed calls. A call that asked a person is repeated
    with the same answers. If a tool changes global names, a call needs two equal results.
    """
    records, calls, notes = list(records), list[dict[str, Any]](), list[str]()
    states = ("ok",) if openhands else ("ok", "error")
    for part in parts:
        name, conditions = part.tool.name, conditions_of(part)
        own = [r for r in records if r.is_of(part.tool) and r.state in states]
        own = [r for r in own if r.definition in (part.tool, None)]
        current = [r for r in own if r.cell is None or r.cell >= conditions.last_change]
        if early := len(own) - len(current):
            notes.append(
                f"Not tested: {counted(early, 'call')} of `{name}`. After that, a cell changed code "
                f"that `{name}` needs."
            )
        repeatable = [r for r in current if not _lacks_answers(r)]
        if left_out := len(current) - len(repeatable):
            notes.append(
                f"Not tested: {counted(left_out, 'call')} of `{name}`. A question was asked; the "
                "history keeps no answer that is secret or very long."
            )
        if conditions.state:
            names = ", ".join(f"`{state}`" for state in sorted(conditions.state))
            notes.append(
                f"`{name}` changes {names} while the program runs; tests repeat only calls that "
                "had the same result twice."
            )
        calls += _steady(repeatable, times=2 if conditions.state else 1)
    return calls, notes


def _steady(records: Iterable[RunRecord], *, times: int) -> list[dict[str, Any]]:
    by_arguments: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        for call in _repeatable(record):
            key = json.dumps([call["arguments"], call.get("answers")])
            by_arguments.setdefault(key, []).append(call)
    steady = [
        calls[-1]
        for calls in by_arguments.values()
        if len(calls) >= times and all(c == calls[-1] for c in calls)
    ]
    return steady[-MOST_CALLS:]


def _repeatable(record: RunRecord) -> Iterator[dict[str, Any]]:
    """Yield *record* as a call, if the record is complete and has no secret."""
    arguments, observation = record.json_arguments, record.observation
    if plain(arguments) != arguments:
        return
    call = {
        "tool": record.tool,
        "arguments": arguments,
        "text": "".join(getattr(b, "text", "") for b in observation.content),
        "is_error": observation.is_error,
    }
    if record.answers:
        answers = [asdict(replace(a, question="")) for a in record.answers]
        call["answers"] = plain(answers)
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


def offers_of(tools: Sequence[AnyTool]) -> dict[str, Any]:
    """Return the description and the schema of the arguments that a model gets, for each tool by name."""
    return {
        tool.name: {"description": tool.description, "inputSchema": tool.parameters()}
        for tool in tools
    }


def tests_for(
    package: str, variables: Sequence[str], *, has_calls: bool, openhands: bool
) -> str:
    """Return the text of the tests of *package*. The tests are skipped if one of *variables* is not set.

    *variables* are names of environment variables.
    """
    parts = [_HEAD, _OFFERED_BY_SDK if openhands else _OFFERED]
    if has_calls:
        parts.append(_CALLS)
    imports = "" if openhands or not has_calls else _IMPORTS
    run = "observation = tool(tool.action_from_arguments(call['arguments']))"
    if not openhands:
        run = _RUN
    text = "\n\n".join(parts)
    head, mark = "", ""
    if variables:
        head = "import os\n"
        mark = _NEEDED.replace("{variables}", repr(list(variables)).replace("'", '"'))
    return (
        text.replace("{imports}", imports)
        .replace("{os}", head)
        .replace("{mark}", mark)
        .replace("{run}", run.replace("'", '"'))
        .replace("{package}", package)
    )


_IMPORTS = """\
from toolbench import answering, run_tool
from toolbench.runs.questions import Answer
"""
_RUN = """\
answers = [Answer(**answer) for answer in call.get('answers', [])]
    with answering(*answers):  # as a person gave them in the notebook; no other is given
        observation = run_tool(tool, call['arguments'])"""
_HEAD = '''\
"""The tools are as they were in the notebook: `python -m pytest`."""

import json
{os}from pathlib import Path

import pytest
{imports}
from {package} import create_tools

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text("utf-8"))
{mark}

@pytest.fixture(scope="module")
def tools():
    made = {tool.name: tool for tool in create_tools()}
    yield made
    for tool in made.values():
        tool.executor.close()
'''
_NEEDED = """
MISSING = [name for name in {variables} if not os.environ.get(name)]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"set {', '.join(MISSING)}")

"""
_OFFERED = '''\
@pytest.mark.parametrize("name", list(RECORDED["offers"]))
def test_a_model_is_offered_the_same(tools, name):
    """The name, the description and the arguments are the same as in the notebook."""
    offer = tools[name].to_mcp_tool()
    recorded = RECORDED["offers"][name]
    assert {key: offer[key] for key in recorded} == recorded
'''
_OFFERED_BY_SDK = '''\
@pytest.mark.parametrize("name", list(RECORDED["offers"]))
def test_a_model_is_offered_the_same(tools, name):
    """The description and the arguments are as in the notebook; the SDK leaves out limits."""
    recorded = RECORDED["offers"][name]
    assert tools[name].description == recorded["description"]
    schema = tools[name].to_mcp_tool()["inputSchema"]
    for part in ("properties", "required"):
        assert set(schema.get(part, ())) == set(recorded["inputSchema"].get(part, ()))
'''
_CALLS = '''\
@pytest.mark.parametrize("number", range(len(RECORDED["calls"])))
def test_a_call_answers_as_in_the_notebook(tools, number):
    """The same arguments give the same result."""
    call = RECORDED["calls"][number]
    tool = tools[call["tool"]]
    {run}
    assert "".join(getattr(b, "text", "") for b in observation.content) == call["text"]
    assert observation.is_error == call["is_error"]
    fields = observation.model_dump(mode="json")
    assert {name: fields[name] for name in call.get("fields", {})} == call.get("fields", {})
    if "read_by_model" in call:
        blocks = observation.to_llm_content
        assert "".join(getattr(b, "text", "") for b in blocks) == call["read_by_model"]
'''
