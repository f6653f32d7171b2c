"""The tiers: a few cases of each function, the same ones each time, and a list of what costs much."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TESTS = """
import time

import pytest
import tiers

tiers.MOST_SECONDS = 0.2
CASES = [*range(20), pytest.param(20, marks=pytest.mark.corner), *range(21, 30)]


@pytest.mark.parametrize("number", CASES)
def test_drawn(number):
    pass


@pytest.mark.parametrize("number", range(8))
def test_short(number):
    pass


@pytest.mark.every_case
@pytest.mark.parametrize("number", range(30))
def test_whole(number):
    pass


@pytest.mark.parametrize("number", [1, 2])
def test_busy(number):
    begin = time.process_time()
    while time.process_time() < begin + 0.25 * (number == 2):
        pass


@pytest.fixture(scope="module")
def shared():
    test_busy(2)


@pytest.fixture
def drawn():
    pass


def test_with_all_that_it_draws_from(drawn):
    end = time.process_time() + 0.25
    while time.process_time() < end:
        pass


def test_first_user_of_what_is_shared(shared):
    pass
"""


@pytest.fixture
def run(tmp_path):
    """Runs the tests above in a process with some options; gives its exit code and its lines."""
    (tmp_path / "test_some.py").write_text(TESTS)
    environment = {**os.environ, "PYTHONPATH": str(HERE), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def run(*options):
        command = [sys.executable, "-m", "pytest", "-v", "-p", "tiers", "-W", "ignore", *options]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout.splitlines()

    return run


def numbers(lines, name):
    """The cases of a function that passed."""
    return [int(line.split("[")[1].split("]")[0]) for line in lines if f"::{name}[" in line]


@pytest.mark.slow
def test_a_few_cases_run_and_a_test_that_costs_much_is_listed(run):
    """First, last and corner always; not the same as without a seed; only the test that was busy."""
    code, lines = run("--cases", "6", "--costs", "list")
    again = numbers(run("--cases", "6", "-k", "")[1], "test_drawn")
    drawn = numbers(lines, "test_drawn")
    assert code == 0
    assert drawn == again
    assert len(drawn) == 6
    assert {0, 20, 29} <= set(drawn)
    assert drawn != list(range(6))
    assert len(numbers(lines, "test_short")) == 8
    assert len(numbers(lines, "test_whole")) == 30
    listed = [line.split()[-1] for line in lines if " s  " in line]
    dear = ["test_some.py::test_busy[2]", "test_some.py::test_with_all_that_it_draws_from"]
    assert sorted(listed) == dear


@pytest.mark.slow
def test_all_cases_run_on_demand_and_nightly_fails_on_costs(run):
    """With `--cases 0`, and with a case by its name; `--costs fail` fails, but not for a whole draw."""
    code, lines = run("--cases", "0", "--costs", "fail")
    assert len(numbers(lines, "test_drawn")) == 30
    assert code == 1
    assert not any("test_with_all" in line for line in lines if " s  " in line)
    _, lines = run("test_some.py::test_drawn[13]")
    assert numbers(lines, "test_drawn") == [13]
