"""Measure everything in one run, keep the rows in history/, and write RESULTS.md from them.

python bench/run.py             # all of it
python bench/run.py core forms  # some of it: shown, not written
python bench/run.py --report    # write RESULTS.md anew from the last run in history/
python bench/run.py --course "a call"  # what this work took in every run in history/
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import history
import machine
import peers
from ledger import SINK, Row
from report import as_text, written

HERE = Path(__file__).parent
ROOT = HERE.parent
ROWS = ROOT / "build" / "bench"
SECONDS = 1_800  # for one file
PYTEST = ["-q", "-W", "default", "--tb", "short", "-o", "python_files=bench_*.py"]


def main(words: Sequence[str]) -> int:
    """Measure; return 1 if a measurement failed."""
    if "--report" in words:
        write()
        return 0
    if "--course" in words:
        for date, commit, row in history.course(words[-1]):
            print(f"{date} {commit:11} {as_text(row)}")
        return 0
    peers.install()
    names = [f"bench_{word}" for word in words] or everything()
    began, busy = time.time(), machine.load()
    rows = [row for name in names for row in measured(name)]
    if not words:
        history.Entry(
            date=history.stamp(began),
            commit=history.commit_here(),
            minutes=(time.time() - began) / 60,
            load=(busy, machine.load()),
            machine=machine.described(),
            rows=rows,
        ).save()
        write()
    missed = sum(row.missed for row in rows)
    failed = sum(row.kind == "error" for row in rows)
    print(f"{len(rows)} rows, {missed} missed, {failed} failed.")
    return min(failed, 1)


def everything() -> list[str]:
    """Return the names of all files."""
    return sorted(file.stem for file in HERE.glob("bench_*.py"))


def write() -> None:
    """Write the page from the last run in history/."""
    entry = history.newest()
    if entry is None:
        print("There is no run in bench/history yet: run `make bench`.")
        return
    text = written(entry.rows, entry.about())
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")


def recorded(name: str) -> list[Row]:
    """Return the rows that a file left."""
    sink = ROWS / f"{name}.jsonl"
    lines = sink.read_text("utf-8").splitlines() if sink.is_file() else []
    return [Row.load(line) for line in lines]


def measured(name: str, of: Path = ROOT) -> list[Row]:
    """Run one file in a process of its own; return its rows, also if it fails.

    Args:
        name: The name of the file.
        of: The checkout whose package is measured.
    """
    ROWS.mkdir(parents=True, exist_ok=True)
    sink = ROWS / f"{name}.jsonl"
    sink.write_text("")
    path = os.environ.get("PATH", os.defpath)
    program = peers.PLACE / "ripgrep" / "bin"
    env = {
        SINK: str(sink),
        "PATH": f"{path}{os.pathsep}{program}",
        "PYTHONPATH": str(of),
    }
    print(f"\n{name}", flush=True)
    command = [sys.executable, "-m", "pytest", *PYTEST, str(HERE / f"{name}.py")]
    try:
        done = subprocess.run(
            command,
            cwd=of,
            env={**os.environ, **env},
            timeout=SECONDS,
            capture_output=True,
            text=True,
        )
        trouble = done.stdout if done.returncode else ""
    except subprocess.TimeoutExpired:
        trouble = f"It took more than {SECONDS} s and was stopped."
    if trouble and not any(row.kind == "error" for row in recorded(name)):
        row = Row(name, name, "error", note=trouble.strip().splitlines()[-1])
        with sink.open("a", encoding="utf-8") as file:
            file.write(row.dump() + "\n")
    for row in recorded(name):
        print(f"  {as_text(row)}", flush=True)
    if trouble:
        print(trouble, flush=True)
    return recorded(name)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
