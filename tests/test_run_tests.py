"""The script that runs the tests tries what failed again, in CI, and never hides a failure."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "run_tests.py"
ENVIRONMENT = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""The plugins take seconds to load and are not needed here."""
TESTS = """
import os
from pathlib import Path
from threading import Event

import pytest


@pytest.mark.skipif(not {crash}, reason="none crashes")
def test_crash():
    mark = Path(__file__).with_name("crashed")
    if not mark.exists():
        mark.touch()
        os.abort()


@pytest.mark.parametrize("number", range({unstable}))
def test_unstable(number):
    mark = Path(__file__).with_name(f"ran{{number}}")
    assert mark.exists() or mark.touch()


@pytest.mark.skipif({broken} == 0, reason="none is broken")
def test_broken():
    Path(__file__).with_name("broken").touch()
    raise AssertionError


def test_good():
    pass


@pytest.mark.skipif(not {endless}, reason="each ends")
def test_endless():
    Event().wait()
"""


@pytest.fixture
def run(tmp_path):
    """Run a copy of the script over tests of which so many are unstable or broken."""
    copy = tmp_path / "scripts" / SCRIPT.name
    copy.parent.mkdir()
    copy.write_text(SCRIPT.read_text())

    def run(*, unstable=0, broken=0, crash=False, seconds=None, ci="true"):
        endless = seconds is not None
        code = TESTS.format(unstable=unstable, broken=broken, crash=crash, endless=endless)
        (tmp_path / "test_it.py").write_text(code)
        until = {"TESTS_UNTIL": str(time.time() + seconds)} if endless else {}
        workers = ("-p", "xdist", "-n", "1") if crash else ()
        return subprocess.run(
            [sys.executable, copy, *workers, "test_it.py"],
            env={**ENVIRONMENT, "CI": ci, **until},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_what_passes_runs_once(run):
    done = run()
    assert done.returncode == 0
    assert "Once more" not in done.stdout


def test_what_passes_the_second_time_is_named(run):
    done = run(unstable=2)
    assert done.returncode == 0, done.stdout
    assert "UNSTABLE, to be mended: test_it.py::test_unstable[0], test_it.py::" in done.stdout


def test_what_fails_twice_fails(run):
    done = run(unstable=1, broken=1)
    assert done.returncode == 1
    assert "UNSTABLE" not in done.stdout


def test_a_crash_is_no_accident(run):
    """An interpreter that dies says something of the product, whatever it does the next time."""
    done = run(crash=True)
    assert done.returncode == 1, done.stdout
    assert "node down: Not properly terminated" in done.stdout
    assert "Once more" not in done.stdout


def test_many_failures_are_no_accident(run):
    done = run(unstable=9)
    assert done.returncode == 1
    assert "Once more" not in done.stdout


@pytest.mark.parametrize("broken", [0, 1])
def test_what_is_stopped_by_the_clock_is_named(run, tmp_path, broken):
    """What ran until then counts: it is green only if nothing of it failed."""
    done = run(broken=broken, seconds=6)
    assert "NOT ALL TESTS RAN" in done.stdout, done.stderr
    assert (done.returncode == 1) is (tmp_path / "broken").exists(), done.stdout


def test_a_person_sees_every_failure(run):
    done = run(unstable=1, ci="")
    assert done.returncode == 1
    assert "Once more" not in done.stdout


def test_no_test_is_no_success():
    """Nothing that stops pytest itself counts as a test that failed."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "tests/none_here.py"],
        env={**ENVIRONMENT, "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode not in (0, 1), done.stdout
