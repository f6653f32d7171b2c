"""Evals and sweeps: what a call of a sweep costs, 1,000 cases beside pydantic-evals."""

import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import pytest
from joblib import Parallel, delayed
from measuring import WALL
from pydantic_evals import Case as TheirCase
from pydantic_evals import Dataset
from pydantic_evals.evaluators import EqualsExpected

from toolbench import tool
from toolbench.evals import Case, evaluate, sweep
from toolbench.llm.models import as_model

_CALLS = 2_000
# Seconds of CPU that a call may cost more than its executor
_CALL = 0.0002
# Calls of a millisecond each
_MILLISECONDS = 1_000
_CASES = 1_000


@tool(read_only=True)
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool(read_only=True)
def work(n: int) -> int:
    """Compute for a millisecond."""
    end = time.perf_counter() + 0.001
    while time.perf_counter() < end:
        pass
    return n


@tool(read_only=True)
def pause(n: int) -> int:
    """Wait for a millisecond, as for a disk or a server."""
    time.sleep(0.001)
    return n


def plain_work(n):
    """What `work` does, without a tool."""
    return work.executor.function(n)


def plain_pause(n):
    """What `pause` does, without a tool."""
    return pause.executor.function(n)


def test_a_call_of_a_sweep(ledger):
    """At most 0.2 ms of CPU more than the bare executor."""
    actions = [add.action_from_arguments({"a": n, "b": 1}) for n in range(_CALLS)]
    executor = add.executor

    def bare():
        return [executor(action) for action in actions]

    ledger.more(
        f"sweep of {_CALLS:,} calls",
        ours=lambda: sweep(add, {"a": range(_CALLS), "b": 1}),
        peer=bare,
        peer_name="the executor alone",
        limit=_CALLS * _CALL,
    )


def test_a_sweep_that_is_saved(ledger, tmp_path):
    """A line a call; the file goes on after an interrupt."""
    path = tmp_path / "calls.jsonl"
    ledger.time(
        f"sweep of {_CALLS:,} calls, each written to a file",
        lambda: sweep(add, {"a": range(_CALLS)}, save=path, resume=False),
        limit=_CALLS * _CALL,
    )


@pytest.mark.parametrize("kind", ["processes", "threads"])
def test_beside_joblib(ledger, kind):
    """A tool of a millisecond, on two cores: at most 1.2 times joblib's wall clock."""
    is_near = kind == "threads"
    tool_of, function = (pause, plain_pause) if is_near else (work, plain_work)
    backend = "threading" if is_near else "loky"
    with ProcessPoolExecutor(2) as pool, Parallel(2, backend=backend) as parallel:
        executor = None if is_near else pool

        def ours():
            grid = {"n": range(_MILLISECONDS)}
            return sweep(tool_of, grid, executor=executor, workers=2)

        def theirs():
            return parallel(delayed(function)(n) for n in range(_MILLISECONDS))

        assert not ours().errors
        ledger.compare(
            f"{_MILLISECONDS:,} calls of 1 ms by two {kind}",
            ours=ours,
            peer=theirs,
            peer_name=f"joblib, {backend}",
            goal=1.2,
            rounds=5,
            clock=WALL,
        )


def test_cases_beside_pydantic_evals(ledger):
    """The same prompts and answers; ours are parsed, checked and compared field by field."""
    prompts = [f"add {n} and 1" for n in range(_CASES)]
    calls = [{"name": "add", "arguments": {"a": n + (n % 10 == 0), "b": 1}} for n in range(_CASES)]
    expected = [{"name": "add", "arguments": {"a": n, "b": 1}} for n in range(_CASES)]
    sent = dict(zip(prompts, calls, strict=True))

    def answer(messages, tools):
        call = sent[messages[-1]["content"]]
        function = {"name": "add", "arguments": json.dumps(call["arguments"])}
        call_sent = {"id": "1", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call_sent]}

    def task(prompt):
        message = answer([{"content": prompt}], [])
        [call] = message["tool_calls"]
        function = call["function"]
        arguments = json.loads(function["arguments"])
        return [{"name": function["name"], "arguments": arguments}]

    model = as_model(answer, name="scripted")
    cases = [Case(p, e) for p, e in zip(prompts, expected, strict=True)]
    dataset = Dataset(
        name="add",
        cases=[
            TheirCase(inputs=p, expected_output=[e]) for p, e in zip(prompts, expected, strict=True)
        ],
        evaluators=[EqualsExpected()],
    )
    with warnings.catch_warnings():
        # Of their event loop
        warnings.simplefilter("ignore")
        assert evaluate(model, [add], cases).summary.passed.hits == 900
        their_report = dataset.evaluate_sync(task, progress=False)
        passed = [c.assertions["EqualsExpected"].value for c in their_report.cases]
        assert passed.count(True) == 900
        ledger.compare(
            f"{_CASES:,} cases, answered at once",
            ours=lambda: evaluate(model, [add], cases),
            peer=lambda: dataset.evaluate_sync(task, progress=False),
            peer_name="pydantic-evals",
            goal=1,
            rounds=5,
        )
