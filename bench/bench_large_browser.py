"""Large results in JupyterLab: what the page takes beyond the kernel, and what its notebook keeps."""

import json
import sys
from pathlib import Path
from statistics import median

import pytest
from bench_feel_browser import _run
from dom import opened
from feel import Feeler
from large_values import VALUES
from playwright.sync_api import Locator

# Seconds of the page beyond the kernel's work; bytes of one result in a saved notebook
PAGE, SAVED = 0.2, 1_000_000
ROUNDS = 2
# Ms without a change: 300 ms after a table came, the page asks for its next 10,000 rows
QUIET = 200
SETUP = f"""
import sys, time
from typing import Any
sys.path.insert(0, {str(Path(__file__).parent)!r})
from large_values import VALUES
from toolbench import bench, tool

def giving(value):
    @tool
    def give() -> Any:
        '''Give the value.'''
        return value
    return give
"""
# What the kernel works in its own time, whatever waits for it
WORK = "time.process_time()"


@pytest.fixture(scope="module")
def page():
    """A notebook with a panel for each value, and after each a cell that tells the kernel's time."""
    cells = {}
    for name in VALUES:
        cells[name] = f"bench(giving(VALUES[{name!r}]()))"
        cells[f"{name}: time"] = WORK
    with opened(cells, Path(sys.executable), SETUP) as page:
        page.run_all()
        assert page.errors() == [], page.errors()
        yield page


def run_to_the_end(output: Locator) -> None:
    """Click on Run, and wait until it can be clicked again: a run says first that it runs."""
    _run(output)
    output.get_by_role("button", name="Cancel", exact=True).first.wait_for(state="hidden")


def worked(page, index: int) -> float:
    """Return the seconds of processor time that the kernel had until now."""
    page.run(index)
    return float(page.text(index))


def test_a_run(ledger, page):
    """A click on Run: the page takes at most 0.2 s more than the kernel; a megabyte is saved."""
    feeler = Feeler(page, QUIET)
    for place, name in enumerate(VALUES):
        index, more, tasks = 1 + 2 * place, [], []
        for turn in range(ROUNDS + 1):
            before = worked(page, index + 1)
            felt = feeler.do(index, run_to_the_end)
            kernel = worked(page, index + 1) - before
            # The first round does not count
            if turn:
                more.append(felt.last - kernel)
                tasks.append(felt.task)
        note = f"longest task of the page {max(tasks) * 1000:.0f} ms"
        ledger.limit(f"{name}: the page, beyond the kernel", median(more), "s wall", PAGE, note)
        size = len(json.dumps(page.outputs(index)))
        ledger.limit(f"{name}: a panel in the saved notebook", size, "B", SAVED)
