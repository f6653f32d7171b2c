"""Runs pytest; in CI, a few tests that failed run once more, one after the other.

A test that fails only sometimes is broken, and its name is printed for whoever mends it. It does
not hide what thousands of other tests have shown. Their whole files run again, so that a test that
fails only after another one fails again. These fail the run at once: a test that fails twice, more
failures than a few, and a process that crashed. A person at a terminal sees each failure at once:
nothing runs twice.

TESTS_UNTIL is a time in seconds since 1970, as `date +%s` prints it. Pytest is interrupted then: CI
ends a run that takes too long, and throws away all of its results. What ran must be green, and that
not all tests ran is printed.
"""
# ruff: noqa: T201, S603 - a script talks to its terminal, and runs pytest

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import TIMEOUT_MAX, Timer

ROOT = Path(__file__).resolve().parents[1]
A_FEW = 8
"""So many tests may fail the first time: on a busy machine a browser misses several waits at once.

More of them are no accident.
"""
CRASHES = (b"crashed while running", b"node down:")
"""What pytest-xdist says of a worker whose interpreter died: of its test, and of itself."""
SOME_FAILED = 1
"""What pytest exits with if it ran to its end and tests failed."""
INTERRUPTED = (2, 128 + signal.SIGINT, -signal.SIGINT)
"""What it exits with after an interrupt, or Python before pytest has begun."""


def main(arguments: list[str]) -> int:
    """Run pytest with *arguments* and return its exit code, or that of the second try."""
    cache = ROOT / ".pytest_cache" / str(sys.implementation.cache_tag)
    failures = cache / "v" / "cache" / "lastfailed"
    failures.unlink(missing_ok=True)
    pytest = [sys.executable, "-m", "pytest", "-q", "-rs", "-o", f"cache_dir={cache}"]
    until = float(os.environ.get("TESTS_UNTIL") or "inf")
    code, has_crashed = run([*pytest, *arguments], until)
    if code in INTERRUPTED and time.time() >= until:
        print("NOT ALL TESTS RAN: the time was over (TESTS_UNTIL).", flush=True)
        return SOME_FAILED if has_crashed or failures.exists() else 0
    in_ci = os.environ.get("CI", "").lower() in ("true", "1")
    if code != SOME_FAILED or has_crashed or not in_ci or not failures.exists():
        return code
    names = list(json.loads(failures.read_text()))
    if len(names) > A_FEW:
        return code
    files = sorted({name.partition("::")[0] for name in names})
    print(f"\nOnce more, one after the other: {', '.join(files)}", flush=True)
    code, _ = run([*pytest, *files])
    if code == 0:
        print(f"UNSTABLE, to be mended: {', '.join(names)}", flush=True)
    return code


def run(command: list[str], until: float = math.inf) -> tuple[int, bool]:
    """Run *command* and show its output; return its exit code and whether a worker crashed.

    It is interrupted at the time *until*, in seconds since 1970.
    """
    has_crashed = False
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        seconds = min(max(0.0, until - time.time()), TIMEOUT_MAX)
        end = Timer(seconds, process.send_signal, [signal.SIGINT])
        end.daemon = True
        end.start()
        for line in process.stdout or ():
            sys.stdout.buffer.write(line)
            sys.stdout.flush()
            has_crashed |= any(words in line for words in CRASHES)
    end.cancel()
    return process.returncode, has_crashed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
