"""The script that tests on other Pythons says which it did not find, and leaves out none."""

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "other_pythons.py"
CLASSIFIER = "Programming Language :: Python :: "


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_a_python_that_is_missing_is_named_and_fails_in_ci(ci, code):
    """A person may lack a Python; CI, which promises it, may not."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "--only", "3.99"],
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Python 3.99 was not found, and NOTHING WAS TESTED on it" in done.stdout
    assert done.returncode == code, done.stderr


def versions() -> tuple[str, ...]:
    """The VERSIONS of the script, read without running it."""
    for statement in ast.parse(SCRIPT.read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == ("VERSIONS"):
            return ast.literal_eval(statement.value)
    raise AssertionError


def test_every_python_that_is_promised_is_tested():
    """The classifiers name the oldest Python, which CI runs on, and those of the script."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    promised = [
        name.removeprefix(CLASSIFIER)
        for name in project["classifiers"]
        if name.startswith(CLASSIFIER)
    ]
    oldest = project["requires-python"].removeprefix(">=")
    assert promised == [oldest, *versions()]
