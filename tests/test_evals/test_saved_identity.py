"""What is in a file is taken only for the same model, the same tool and the same arguments."""

import json
import os
import subprocess
import sys
from datetime import date
from typing import Any

import pytest

from tests.test_evals.sample_tools import TOOLS
from toolbench import Action, Observation, ToolDefinition, tool
from toolbench.core.executor import ToolExecutor
from toolbench.evals import Case, evaluate, sweep
from toolbench.llm.models import as_model


class Number(Action):
    x: int


class Product(Observation):
    y: int


class Times(ToolExecutor):
    """Multiplies, and counts its calls."""

    def __init__(self, factor: int) -> None:
        self.factor, self.calls = factor, 0

    def __call__(self, action: Number, conversation: Any = None) -> Product:
        self.calls += 1
        return Product(y=action.x * self.factor)


def times(factor):
    return ToolDefinition(
        name="times",
        description="Multiply.",
        action_type=Number,
        observation_type=Product,
        executor=Times(factor),
    )


def closure(factor):
    def times(x: int) -> dict:
        """Multiply."""
        return {"y": x * factor}

    return tool(times, read_only=True)


@pytest.mark.parametrize("make", [times, closure])
def test_another_version_is_another_tool(tmp_path, make):
    """Values that the code reads are not compared: `version=` says that they are others."""
    path = tmp_path / "sweep.jsonl"

    def swept(factor, version):
        report = sweep(make(factor), {"x": [1]}, save=path, confirm=False, version=version)
        return report[0].fields["y"], report.notices

    assert swept(2, None) == (2, [])
    assert swept(10, "ten") == (10, [])
    assert swept(10, "ten")[0] == 10
    taken, [notice] = swept(99, None)
    assert taken == 2
    assert notice.startswith(f"Taken from {path}: 1 row of the same source and version.")
    assert "version=" in notice


def test_the_label_of_a_tool_is_its_version(tmp_path):
    """Where a sweep names none."""
    path, called = tmp_path / "sweep.jsonl", []

    def times(x: int) -> int:
        """Multiply."""
        called.append(x)
        return x

    for label in ("1", "2", "2"):
        sweep(tool(times, read_only=True, meta={"version": label}), {"x": [1]}, save=path)
    assert len(called) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (float("nan"), "nan"),
        (date(2026, 1, 1), "2026-01-01"),
        (1, 1.0),
        (1, True),
        ([float("nan")], ["nan"]),
    ],
)
def test_arguments_of_other_types_are_other_arguments(tmp_path, one, other):
    """Values that are the same text are not the same call."""
    path = tmp_path / "sweep.jsonl"

    @tool(read_only=True)
    def kind(x: Any) -> str:
        """Name the type."""
        inner = x[0] if isinstance(x, list) else x
        return type(inner).__name__

    first = sweep(kind, [{"x": one}], save=path)[0].fields["result"]
    second = sweep(kind, [{"x": other}], save=path)[0].fields["result"]
    assert first != second
    assert sweep(kind, [{"x": one}], save=path)[0].fields["result"] == first
    assert len(path.read_text().splitlines()) == 1 + 2


def test_another_secret_is_another_call(tmp_path):
    """A secret counts, and the file has nothing that is the same in another file."""
    owners = {"k1-aaaaaaaa": "ann", "k2-bbbbbbbb": "bob"}

    @tool(read_only=True)
    def whose(api_key: str) -> str:
        """Name the owner."""
        return owners[api_key]

    paths = [tmp_path / name for name in ("one.jsonl", "two.jsonl")]
    for path in paths:
        for key, name in owners.items():
            row = sweep(whose, {"api_key": [key]}, save=path)[0]
            assert row.fields == {"result": name}
        assert not any(key in path.read_text() for key in owners)
    keys = [
        {json.loads(line)["key"] for line in path.read_text().splitlines()[1:]} for path in paths
    ]
    assert [len(of_file) for of_file in keys] == [2, 2]
    assert keys[0].isdisjoint(keys[1])


def test_an_answer_is_scored_again_if_its_case_is_mended(tmp_path):
    """It is paid for: the model is asked only for what is not in the file."""
    path, asked = tmp_path / "trials.jsonl", []
    call = {"name": "split_bill", "arguments": {"total": 84, "people": 4}}
    wrong = {**call, "arguments": {"total": 84, "people": 40}}
    sent = {"name": "split_bill", "arguments": json.dumps(call["arguments"])}

    def model(messages, tools):
        asked.append(messages)
        return {
            "role": "assistant",
            "tool_calls": [{"id": "1", "type": "function", "function": sent}],
        }

    def passed(*cases):
        return [trial.passed for trial in evaluate(model, TOOLS, cases, save=path)]

    assert passed(Case("Split 84 by 4", wrong)) == [False]
    assert passed(Case("Split 84 by 4", call, name="four")) == [True]
    assert len(asked) == 1
    # Of two cases with one prompt, one has an answer
    assert passed(Case("Split 84 by 4", None), Case("Split 84 by 4", wrong)) == [False, False]
    assert passed(Case("Split it", wrong)) == [False]
    assert len(asked) == 3


def test_another_model_of_the_same_name_is_asked(tmp_path):
    """Two lambdas have one name, and another source; two closures are told apart by a name."""
    path = tmp_path / "trials.jsonl"

    def says(text, name=None):
        return as_model(lambda messages, tools: text, name=name)

    def report(model):
        return evaluate(model, TOOLS, [Case("Hello")], save=path)[0].called_when_none

    call = {"name": "split_bill", "arguments": "{}"}
    calling = {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": call}],
    }
    assert report(says(calling)) is True
    assert report(says("no", "polite")) is False
    assert report(says("no")) is True
    assert report(lambda messages, tools: "yes") is False
    assert len(path.read_text().splitlines()) == 1 + 3


CELL = """
import sys
from toolbench import tool
from toolbench.evals import Case, evaluate, sweep

FACTOR = 2
NAMES = {"a", "b", "c"}
log = []

def helper(x):
    return x * FACTOR if str(x) not in {"d", "e", "f"} else len(NAMES)

@tool(read_only=True)
def times(x: int) -> int:
    "Multiply."
    log.append(x)
    return helper(x)

def model(messages, tools):
    log.append(0)
    return "Hello!"

sweep(times, {"x": [1, 2]}, save=sys.argv[1])
evaluate(model, [times], [Case("Hi")], save=sys.argv[2])
print(len(log))
"""


@pytest.mark.slow
def test_another_session_goes_on_with_the_file(tmp_path):
    """The same source in another process is the same tool and the same model."""
    script = tmp_path / "cell.py"

    def calls(text, seed):
        script.write_text(text)
        paths = [str(tmp_path / name) for name in ("sweep.jsonl", "trials.jsonl")]
        done = subprocess.run(
            [sys.executable, str(script), *paths],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        return int(done.stdout)

    assert calls(CELL, "1") == 3
    assert calls(CELL, "2") == 0
    assert calls(CELL.replace("FACTOR = 2", "FACTOR = 3"), "3") == 0
    assert calls(CELL.replace("return helper(x)", "return 2 * x"), "3") == 2
