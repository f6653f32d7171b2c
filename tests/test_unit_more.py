"""The script that tests on other Pythons says which it did not find."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "unit_more.py"


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_a_python_that_is_missing_is_named_and_fails_in_ci(ci, code):
    """A person may lack a Python; CI, which promises it, may not."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "3.99"],
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Python 3.99 was not found, and NOTHING WAS TESTED on it" in done.stdout
    assert done.returncode == code, done.stderr
