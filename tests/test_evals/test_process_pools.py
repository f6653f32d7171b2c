"""Sweeps in pools of processes: tools of cells get there, and a worker that dies costs a retry."""

import os
import signal
from concurrent.futures import (
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from multiprocessing import get_context
from threading import Lock

import pytest

from tests.test_evals.sample_tools import PlantedModel, split_bill
from toolbench import tool
from toolbench.errors import CaseError
from toolbench.evals import Case, evaluate, sweep


@tool(read_only=True)
def half(a: int) -> float:
    """Return the half of a number."""
    return a / 2


CELL = '''
from toolbench import tool

@tool(read_only=True)
def where(n: int) -> dict:
    """Say who works."""
    import os
    return {"square": n * n, "process": os.getpid()}

@tool(read_only=True)
def mortal(n: int, folder: str, lives: int = 1) -> int:
    """End the process of the calls with 3 and 5, as often as it has lives."""
    import os, pathlib
    marks = pathlib.Path(folder)
    if n in (3, 5):
        count = len(list(marks.glob(f"{n}-*")))
        if count < lives:
            (marks / f"{n}-{count}").touch()
            os._exit(1)
    return n
'''


def cell():
    """The tools of a notebook cell: their module is `__main__`, which no worker can import."""
    namespace = {"__name__": "__main__"}
    exec(compile(CELL, "<cell>", "exec"), namespace)
    return namespace


# Its processes share nothing with this one: they are forks of one that has imported what they need
FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["pytest", "tests.test_evals.test_process_pools"])


@pytest.fixture
def pool():
    """A pool of two processes."""
    with ProcessPoolExecutor(2, FORKS) as pool:
        yield pool


@pytest.mark.slow
def test_a_tool_of_a_cell():
    """Its calls are made in processes that begin with nothing, and the rows are in their order."""
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        report = sweep(cell()["where"], {"n": range(60)}, executor=pool)
    assert [row.fields["square"] for row in report] == [n * n for n in range(60)]
    assert os.getpid() not in {row.fields["process"] for row in report}


def test_a_tool_that_cannot_be_sent_is_one_sentence(pool):
    """Nothing is called then, and no row is lost."""
    lock = Lock()

    @tool(read_only=True)
    def holds(n: int) -> str:
        """Hold what cannot be sent."""
        return f"{lock}{n}"

    with pytest.raises(CaseError, match="cannot be sent to another process"):
        sweep(holds, {"n": range(3)}, executor=pool)


def test_a_pool_that_breaks_ends_the_sweep_and_the_file_goes_on(pool, tmp_path):
    """What was under way is lost, and named; it is made again with another pool, and nothing else."""
    grid, path = {"n": range(40), "folder": str(tmp_path)}, tmp_path / "s.jsonl"
    where = cell()["mortal"]
    report = sweep(where, grid, executor=pool, save=path)
    assert report.stopped.startswith("The executor broke (BrokenProcessPool")
    lost = [row for row in report if row.state == "lost"]
    assert 3 in [row.arguments["n"] for row in lost]
    assert all("Its worker failed" in row.error for row in lost)
    assert len(report) < 40
    # whichever worker ended first, the executor may have ended the other before it left a mark
    assert list(tmp_path.glob("?-0"))
    (tmp_path / "3-0").touch()
    (tmp_path / "5-0").touch()
    again = sweep(where, grid, save=path)
    assert [row.fields.get("result") for row in again] == [*range(40)]
    assert path.read_text().count("\n") == 1 + 40


class LosesWorkers(ThreadPoolExecutor):
    """A cluster in threads, whose workers die under the calls with some arguments, *times* times."""

    def __init__(self, numbers, times):
        super().__init__(2)
        self._deaths = dict.fromkeys(numbers, times)

    def submit(self, function, tool, batch, *rest):
        """Make a batch, unless its worker dies."""
        doomed = [a["a"] for a in batch if self._deaths.get(a["a"], 0)]
        if not doomed:
            return super().submit(function, tool, batch, *rest)
        self._deaths[doomed[0]] -= 1
        future = Future()
        future.set_exception(ConnectionError("the worker is gone"))
        return future


def test_calls_of_a_lost_worker_are_rows_and_made_again_on_resume(tmp_path):
    """They say why; all others are there."""
    path = tmp_path / "sweep.jsonl"
    with LosesWorkers({50}, times=1) as cluster:
        report = sweep(half, {"a": range(100)}, executor=cluster, save=path)
        assert 50 in [row.arguments["a"] for row in report.errors]
        assert {row.state for row in report.errors} == {"lost"}
        assert {row.error for row in report.errors} == {
            "Its worker failed: ConnectionError: the worker is gone"
        }
        assert len(report) == 100 and report.stopped is None
        again = sweep(half, {"a": range(100)}, executor=cluster, save=path)
    assert not again.errors and len(again) == 100
    assert path.read_text().count("\n") == 1 + 100


class EndsItsProcess(PlantedModel):
    """A model whose client takes the whole process with it, for some prompts."""

    def complete(self, messages, tools=(), **options):
        """Answer, or end the process."""
        if "end" in messages[-1]["content"]:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().complete(messages, tools, **options)


def test_requests_of_a_process_that_dies_are_errors_and_asked_again_on_resume(pool, tmp_path):
    """They are in no rate; the evaluation says that its pool broke."""
    call = {"name": "split_bill", "arguments": {"total": 84, "people": 4}}
    cases = [Case(f"Split, {n}", call) for n in range(20)]
    mortal = cases.copy()
    # Both processes: else the other may do the rest before the end of the first is noticed
    mortal[5:7] = [Case("end", call), Case("end too", call)]
    path = tmp_path / "trials.jsonl"
    report = evaluate(EndsItsProcess(), [split_bill], mortal, executor=pool, save=path)
    assert report.stopped == "executor" and len(report) < 20
    assert report.errors and report.summary.passed == 1.0
    assert "Its executor broke after" in report.notices[0]
    again = evaluate(EndsItsProcess(), [split_bill], cases, save=path)
    assert len(again) == 20 and not again.errors
