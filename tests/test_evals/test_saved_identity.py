"""What is in a file is taken only for the same model, the same tool and the same arguments."""

import importlib
import json
import os
import subprocess
import sys
from datetime import date
from functools import partial
from typing import Any

import pytest
from shells import new_shell

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


def helped(factor):
    def times(x: int) -> dict:
        """Multiply."""
        return {"y": work(x)}

    work = partial(lambda factor, x: factor * x, factor)
    return tool(times, read_only=True)


@pytest.mark.parametrize("make", [times, closure, helped])
def test_a_tool_with_other_values_is_another_tool(tmp_path, make):
    """Attributes of an executor, values of a closure and of a partial count; counters do not."""
    path = tmp_path / "sweep.jsonl"
    ys = [
        sweep(make(factor), {"x": [1]}, save=path, confirm=False)[0].fields["y"]
        for factor in (2, 10, 2)
    ]
    assert ys == [2, 10, 2]
    assert len(path.read_text().splitlines()) == 2


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
    assert len(path.read_text().splitlines()) == 2


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
    keys = [{json.loads(line)["key"] for line in path.read_text().splitlines()} for path in paths]
    assert [len(of_file) for of_file in keys] == [2, 2]
    assert keys[0].isdisjoint(keys[1])


HELPERS = """
FACTOR = 2

def doubled(x):
    return FACTOR * x
"""
TIMES = """
import re
from functools import lru_cache

import numpy as np
import own_helpers
from toolbench import tool

class Config:
    def __init__(self, n):
        self.n = n

    def renew(self, n):
        self.day = n

@lru_cache
def cached(x):
    return x

@tool(read_only=True)
def inner(x: int) -> int:
    "Return it."
    return x

CONFIG, RATES, WORD, CONNECTION, calls = Config(2), np.array([2]), re.compile("a"), object(), []

@tool(read_only=True)
def times(x: int) -> int:
    "Multiply."
    from own_helpers import doubled
    calls.append(CONNECTION)
    found = len(WORD.findall("a book of bb".strip()))
    return own_helpers.doubled(x) * doubled(x) * CONFIG.n * int(RATES[0]) * cached(x) * inner.function(x) * found
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The module with `times`, which was swept once into `sweep.jsonl`."""
    (tmp_path / "own_helpers.py").write_text(HELPERS)
    (tmp_path / "own_times.py").write_text(TIMES)
    monkeypatch.syspath_prepend(tmp_path)
    names = ("own_helpers", "own_times")
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)
        del sys.modules[name]
    module = importlib.import_module("own_times")
    sweep(module.times, {"x": [1]}, save=tmp_path / "sweep.jsonl")
    assert len(module.calls) == 1
    return module


@pytest.mark.parametrize(
    "change",
    [
        "CONFIG.n = 3",
        "RATES[0] = 3",
        "own_helpers.FACTOR = 3",
        "own_helpers.doubled = lambda x: 3 * x",
        "cached = lru_cache(lambda x: 3 * x)",
        "inner = tool(lambda x: 3 * x, name='inner', read_only=True)",
        "WORD = re.compile('b')",
    ],
)
def test_what_a_function_reads_is_compared(module, tmp_path, change):
    """Saved numbers of other data or other code are never taken."""
    exec(change, vars(module))
    [row] = sweep(module.times, {"x": [1]}, save=tmp_path / "sweep.jsonl")
    assert len(module.calls) == 2
    assert row.error is None
    assert row.fields["result"] == module.times.function(1)


LAZY = """
def lazy(x):
    return 2 * x
"""
CLASSES = """
from enum import Enum
from functools import cached_property
from os import environ
from types import SimpleNamespace

import numpy as np
from toolbench import tool

class Level(Enum):
    LOW = 2

class Rates:
    table = np.array([2])

    class Inner:
        rate = 2

    @cached_property
    def half(self):
        return 2

    def add(self, x):
        return x + 2

LEVEL, RATES, SETTINGS, calls = Level.LOW, Rates(), SimpleNamespace(n=2), []

@tool(read_only=True)
def times(x: int) -> int:
    "Multiply."
    from own_lazy import lazy
    calls.append(x * len(environ))
    of_class = RATES.table[0] * RATES.Inner.rate * RATES.half * RATES.add(x)
    return int(of_class * LEVEL.value * SETTINGS.n * lazy(x))
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LOW = 2", "LOW = 3"),
        ("array([2])", "array([3])"),
        ("rate = 2", "rate = 3"),
        ("return 2\n", "return 3\n"),
        ("x + 2", "x + 3"),
        ("n=2", "n=3"),
        ("2 * x", "3 * x"),
    ],
)
def test_what_classes_and_later_imports_hold_is_compared(tmp_path, monkeypatch, old, new):
    """The same cell repeats no call; after a change of a file, a new session makes it again."""
    monkeypatch.syspath_prepend(tmp_path)
    # Both versions of a file are of one size and one second
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def swept(first, second):
        for name, text in (("own_classes", CLASSES), ("own_lazy", LAZY)):
            (tmp_path / f"{name}.py").write_text(text.replace(first, second))
            monkeypatch.setitem(sys.modules, name, None)
            del sys.modules[name]
        monkeypatch.setenv("UNRELATED", second)
        module = importlib.import_module("own_classes")
        reports = [sweep(module.times, {"x": [1]}, save=tmp_path / "s.jsonl") for _ in range(2)]
        assert [row.fields["result"] for report in reports for row in report] == [
            module.times.function(1)
        ] * 2
        return len(module.calls) - 1

    # The last call of each is the one of the test
    assert [swept(old, old), swept(old, old), swept(old, new)] == [1, 0, 1]


def test_what_a_class_of_a_cell_changes_itself_is_no_other_tool(tmp_path):
    """Objects that count the calls: the next run of the cell takes all from the file."""
    cells = (
        "from dataclasses import dataclass\nfrom pydantic import BaseModel",
        "class Client:\n    def __init__(self):\n        self.asked = 0\n"
        "    def ask(self, x):\n        self.asked += 1\n        return x",
        "@dataclass\nclass Seen:\n    last: int = 0\n"
        "    def add(self, x):\n        self.last = x\n        return x",
        "class Sum(BaseModel):\n    total: int = 0\n"
        "    def pay(self, x):\n        self.total += x\n        return x",
        "client, seen, paid = Client(), Seen(), Sum()",
        "def same(x: int) -> int:\n    'Return it.'\n    return client.ask(seen.add(paid.pay(x)))",
    )
    with new_shell() as shell:
        for cell in cells:
            shell.run_cell(cell).raise_error()
        same = tool(shell.user_ns["same"], read_only=True)
        for _ in range(2):
            report = sweep(same, {"x": [1, 2]}, save=tmp_path / "sweep.jsonl")
            assert shell.user_ns["paid"].total == 3
    assert "client.asked, paid.total, seen.last (" in report.notices[0]


def test_a_variable_of_the_name_of_an_attribute_is_not_read(module, tmp_path):
    """The call is not made again, and what could not be compared is named."""
    vars(module).update(strip="a variable", findall=1)
    report = sweep(module.times, {"x": [1]}, save=tmp_path / "sweep.jsonl")
    assert len(module.calls) == 1
    [note] = report.notices
    assert note.startswith(
        f"Taken from {tmp_path / 'sweep.jsonl'}: 1 row, whatever has changed since"
    )
    assert " in CONNECTION, calls (" in note


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
        report = evaluate(model, TOOLS, cases, save=path)
        notices.extend(report.notices)
        return [trial.passed for trial in report]

    notices = []
    assert passed(Case("Split 84 by 4", wrong)) == [False]
    assert passed(Case("Split 84 by 4", call, name="four")) == [True]
    assert f"Scored again: 1 answer of {path}, because what is expected has changed." in notices
    assert len(asked) == 1
    # Of two cases with one prompt, one has an answer
    assert passed(Case("Split 84 by 4", None), Case("Split 84 by 4", wrong)) == [False, False]
    assert passed(Case("Split it", wrong)) == [False]
    assert len(asked) == 3


def test_another_model_of_the_same_name_is_asked(tmp_path):
    """Two lambdas have one name, and different code; two closures have different values."""
    path = tmp_path / "trials.jsonl"

    def says(text):
        return as_model(lambda messages, tools: text)

    def report(model):
        return evaluate(model, TOOLS, [Case("Hello")], save=path)[0].called_when_none

    call = {"name": "split_bill", "arguments": "{}"}
    calling = {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": call}],
    }
    assert report(says(calling)) is True
    assert report(says("no")) is False
    assert report(says(calling)) is True
    assert report(lambda messages, tools: "yes") is False
    assert len(path.read_text().splitlines()) == 3


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
    """The same code in another process is the same tool and the same model; a changed global is not."""
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
    assert calls(CELL.replace("FACTOR = 2", "FACTOR = 3"), "3") == 2
