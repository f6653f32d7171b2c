"""Sweeps in pools of processes: tools of cells get there, and a worker that dies costs a retry."""

import os
import pickle
import signal
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from multiprocessing import get_context
from threading import Lock

import cloudpickle
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


@pytest.mark.slow
def test_a_worker_that_dies_costs_a_retry_not_the_sweep(pool, tmp_path):
    """The pool is broken; the sweep goes on in a new one, and every call has its row."""
    grid = {"n": range(40), "folder": str(tmp_path)}
    report = sweep(cell()["mortal"], grid, executor=pool)
    assert {path.name for path in tmp_path.iterdir()} == {"3-0", "5-0"}
    assert [row.fields.get("result") for row in report] == [*range(40)]
    assert report.stopped is None


def test_calls_that_end_every_worker_are_lost_alone(pool, tmp_path):
    """Those beside them are not: a call that broke a pool is tried again with no other."""
    grid = {"n": range(40), "folder": str(tmp_path), "lives": 9}
    report = sweep(cell()["mortal"], grid, executor=pool, save=tmp_path / "s.jsonl")
    lost = [row for row in report if row.state == "lost"]
    assert [row.arguments["n"] for row in lost] == [3, 5]
    assert all("Its worker failed" in row.error for row in lost)
    assert len(report) == 40 and len(report.errors) == 2
    # What is in the file is not called again: this process is alive
    again = sweep(cell()["mortal"], grid, save=tmp_path / "s.jsonl")
    assert len(again.errors) == 2


def fail():
    """What each process of a pool does first."""
    os.kill(os.getpid(), signal.SIGKILL)


# From Python 3.12 on
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_pool_that_never_works_ends_the_sweep_with_one_sentence():
    """No new pools are made for ever."""
    with ProcessPoolExecutor(1, get_context("fork"), initializer=fail) as pool:
        report = sweep(cell()["where"], {"n": range(500)}, executor=pool)
    assert "The executor broke" in report.stopped
    [notice] = report.notices
    assert "of 500 calls" in notice


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


def test_calls_of_a_lost_worker_are_made_once_more():
    """Those that went with it too, each alone: no row is lost."""
    with LosesWorkers({3, 50, 51}, times=1) as cluster:
        report = sweep(half, {"a": range(100)}, executor=cluster)
    assert [row.fields["result"] for row in report] == [a / 2 for a in range(100)]


def test_a_call_that_loses_every_worker_is_a_row(tmp_path):
    """It says why; `retry_errors` makes it again, and only it."""
    path = tmp_path / "sweep.jsonl"
    with LosesWorkers({50}, times=9) as cluster:
        report = sweep(half, {"a": range(100)}, executor=cluster, save=path)
    [lost] = report.errors
    assert (lost.arguments["a"], lost.state) == (50, "lost")
    assert lost.error == "Its worker failed: ConnectionError: the worker is gone"
    assert len(report) == 100 and report.stopped is None
    again = sweep(half, {"a": range(100)}, save=path, retry_errors=True)
    assert not again.errors and len(again) == 100
    assert path.read_text().count("\n") == 101


class EndsItsProcess(PlantedModel):
    """A model whose client takes the whole process with it, for one prompt."""

    def complete(self, messages, tools=(), **options):
        """Answer, or end the process."""
        if "end" in messages[-1]["content"]:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().complete(messages, tools, **options)


def test_requests_of_a_process_that_dies_are_errors_and_the_others_are_made(pool):
    """They are in no rate; what comes after them is asked in a new pool."""
    call = {"name": "split_bill", "arguments": {"total": 84, "people": 4}}
    cases = [Case("end" if n == 5 else f"Split, {n}", call) for n in range(200)]
    report = evaluate(EndsItsProcess(), [split_bill], cases, executor=pool)
    assert len(report) == 200 and report.stopped is None
    assert report[5] in report.errors and len(report.errors) <= 8
    assert report.summary.passed == 1.0


def called(work):
    """Do the work that was sent as bytes, as a cluster does."""
    function, args, kwargs = pickle.loads(work)
    return function(*args, **kwargs)


class OneWorker(Executor):
    """A cluster of one process, which takes all that is under way with it when it dies."""

    # Of what waits
    _max_workers = 2

    def __init__(self):
        self._pool = ProcessPoolExecutor(1, FORKS)

    def submit(self, function, /, *args, **kwargs):
        """Begin the work, in a new process if the last one died."""
        work = cloudpickle.dumps((function, args, kwargs))
        try:
            inner = self._pool.submit(called, work)
        except BrokenExecutor:
            self._pool = ProcessPoolExecutor(1, FORKS)
            inner = self._pool.submit(called, work)
        outer = Future()

        def end(done):
            error = done.exception()
            if isinstance(error, BrokenExecutor):
                outer.set_exception(ConnectionError("the worker is gone"))
            elif error is not None:
                outer.set_exception(error)
            else:
                outer.set_result(done.result())

        inner.add_done_callback(end)
        return outer

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


def test_a_call_beside_one_that_ends_the_only_worker_is_made():
    """Only the call that ends it each time is lost."""

    @tool(read_only=True)
    def deadly(n: int) -> int:
        """End the process of the call with 3."""
        if n == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return n

    with OneWorker() as cluster:
        report = sweep(deadly, {"n": range(6)}, executor=cluster)
    assert [row.arguments["n"] for row in report.errors] == [3]
    assert len(report) == 6
