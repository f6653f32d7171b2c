"""Sweeps and evals past one machine: dask's and ipyparallel's executors, with real clusters."""

import os
import sys
from pathlib import Path

import psutil
import pytest
from patience import eventually

from tests.test_evals.sample_tools import TOOLS, PlantedModel
from toolbench.evals import Case, evaluate, sweep
from toolbench.mcp import create_mcp_tools

HERE = Path(__file__).parent
pytestmark = [
    pytest.mark.long,
    # Of the clusters, at their ends
    pytest.mark.filterwarnings("ignore"),
]
CELL = '''
from toolbench import tool

@tool(read_only=True)
def where(n: int) -> dict:
    """Say who works."""
    import os
    return {"square": n * n, "process": os.getpid()}

@tool(read_only=True)
def mortal(n: int, folder: str) -> int:
    """End the worker, the first time that it is called with 3."""
    import os, pathlib
    mark = pathlib.Path(folder) / "was here"
    if n == 3 and not mark.exists():
        mark.touch()
        os._exit(1)
    return n
'''


def cell():
    """The tools of a notebook cell: their module is `__main__`, which no worker can import."""
    namespace = {"__name__": "__main__"}
    exec(compile(CELL, "<cell>", "exec"), namespace)
    return namespace


@pytest.fixture(scope="module")
def dask_executor():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor()


@pytest.fixture(scope="module")
def ipyparallel_executor(tmp_path_factory):
    import ipyparallel

    folder = tmp_path_factory.mktemp("ipython")
    with ipyparallel.Cluster(n=2, profile_dir=str(folder), log_level=40) as client:
        client.wait_for_engines(2)
        view = client.load_balanced_view()
        client[:].use_cloudpickle().get()
        yield view.executor


@pytest.fixture(params=["dask", "ipyparallel"])
def executor(request):
    return request.getfixturevalue(f"{request.param}_executor")


def test_a_tool_of_a_cell(executor):
    """Its calls are made in other processes, and the rows are in their order."""
    report = sweep(cell()["where"], {"n": range(60)}, executor=executor)
    assert [row.fields["square"] for row in report] == [n * n for n in range(60)]
    assert os.getpid() not in {row.fields["process"] for row in report}


def test_models_are_asked_by_a_cluster(executor):
    """The requests travel, the scores are made here."""
    case = Case("x", {"name": "split_bill", "arguments": {"total": 84, "people": 4}})
    # Which the workers import, too
    sys.modules["tests.test_evals.sample_tools"]
    report = evaluate(PlantedModel(), TOOLS, [case], repeats=6, executor=executor)
    assert not report.errors, report.errors[0].error
    assert report.summary.passed == 1.0


@pytest.fixture(scope="module")
def client(dask_executor, ipyparallel_executor):
    """A server, and a variable that only this process has: the workers were started before."""
    entry = {
        "command": sys.executable,
        "args": [str(HERE / "counting_server.py")],
        "env": {"TOKEN": "${TOKEN:-none}"},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKEN", "secret of this process")
        with create_mcp_tools({"mcpServers": {"counting": entry}}) as client:
            yield client


def test_a_tool_of_a_server_has_a_session_on_each_worker(executor, client):
    """Variables are filled in over there. The session ends while the worker lives on."""
    [mine] = sweep(client["double"], {"n": [1]})
    report = sweep(client["double"], {"n": range(8)}, executor=executor)
    assert not report.errors, report.errors[0].error
    assert [row.fields["double"] for row in report] == [2 * n for n in range(8)]
    assert mine.fields["token"] == len("secret of this process")
    assert {row.fields["token"] for row in report} == {len("none")}
    processes = {row.fields["process"] for row in report}
    assert mine.fields["process"] not in processes
    eventually(lambda: not any(map(psutil.pid_exists, processes)))


def test_a_worker_that_dies_costs_a_retry(dask_executor, tmp_path):
    """The sweep goes on, and every call has its row."""
    grid = {"n": range(8), "folder": str(tmp_path)}
    report = sweep(cell()["mortal"], grid, executor=dask_executor)
    assert (tmp_path / "was here").exists()
    assert [row.fields.get("result") for row in report] == [*range(8)]
