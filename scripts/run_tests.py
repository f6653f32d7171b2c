"""Runs pytest; in CI, a few tests that failed run once more, one after the other.

A test that fails only sometimes is broken, and its name is printed for whoever mends it. It does
not hide what thousands of other tests have shown. A test that fails twice fails the run, and so
do more failures than a few. A person at a terminal sees each failure at once: nothing runs twice.
"""
# ruff: noqa: T201, S603 - a script talks to its terminal, and runs pytest

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
A_FEW = 3
"""So many tests may fail the first time. More of them are no accident."""
SOME_FAILED = 1
"""What pytest exits with if it ran to its end and tests failed."""


def main(arguments: list[str]) -> int:
    """Run pytest with *arguments* and return its exit code, or that of the second try."""
    failures = (
        ROOT / ".pytest_cache" / sys.implementation.cache_tag / "v/cache/lastfailed"
    )
    failures.unlink(missing_ok=True)
    pytest = [sys.executable, "-m", "pytest", "-q", "-rs"]
    pytest += ["-o", f"cache_dir={failures.parents[2]}"]
    code = subprocess.run([*pytest, *arguments], cwd=ROOT, check=False).returncode
    if code != SOME_FAILED or os.environ.get("CI", "").lower() not in ("true", "1"):
        return code
    names = list(json.loads(failures.read_text()))
    if len(names) > A_FEW:
        return code
    print(f"\nOnce more, one after the other: {', '.join(names)}", flush=True)
    code = subprocess.run([*pytest, *names], cwd=ROOT, check=False).returncode
    if code == 0:
        print(f"UNSTABLE, to be mended: {', '.join(names)}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
