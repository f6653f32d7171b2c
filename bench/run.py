"""Measure everything in one run and write RESULTS.md.

python bench/run.py             # all of it
python bench/run.py core forms  # some of it: shown, not written
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import machine
import peers
from ledger import SINK, Row
from report import as_text, written

HERE = Path(__file__).parent
ROOT = HERE.parent
ROWS = ROOT / "build" / "bench"
ABOUT = ROWS / "about.txt"
SECONDS = 1_800  # for one file
PYTEST = ["-q", "-W", "default", "--tb", "short", "-o", "python_files=bench_*.py"]


def main(words: Sequence[str]) -> int:
    """Measure; return 1 if a measurement failed."""
    if "--report" in words:
        write()
        return 0
    peers.install()
    names = [f"bench_{word}" for word in words] or everything()
    began, busy = time.time(), machine.load()
    rows = [row for name in names for row in measured(name)]
    if not words:
        about = [
            f"Date: {time.strftime('%Y-%m-%d', time.gmtime(began))}",
            *machine.described(),
            f"Load average: {busy:.1f} at the beginning, {machine.load():.1f} at the end, "
            f"{(time.time() - began) / 60:.0f} minutes later",
        ]
        ABOUT.write_text("\n".join(about), encoding="utf-8")
        write()
    missed = sum(row.missed for row in rows)
    failed = sum(row.kind == "error" for row in rows)
    print(f"{len(rows)} rows, {missed} missed, {failed} failed.")
    return min(failed, 1)


def everything() -> list[str]:
    """Return the names of all files."""
    return sorted(file.stem for file in HERE.glob("bench_*.py"))


def write() -> None:
    """Write the page from the rows of the last run of each file."""
    rows = [row for name in everything() for row in recorded(name)]
    about = ABOUT.read_text("utf-8").splitlines()
    (HERE / "RESULTS.md").write_text(written(rows, about), encoding="utf-8")


def recorded(name: str) -> list[Row]:
    """Return the rows that a file left."""
    sink = ROWS / f"{name}.jsonl"
    lines = sink.read_text("utf-8").splitlines() if sink.is_file() else []
    return [Row.load(line) for line in lines]


def measured(name: str) -> list[Row]:
    """Run one file in a process of its own; return its rows, also if it fails."""
    ROWS.mkdir(parents=True, exist_ok=True)
    sink = ROWS / f"{name}.jsonl"
    sink.write_text("")
    path = os.environ.get("PATH", os.defpath)
    program = peers.PLACE / "ripgrep" / "bin"
    env = {SINK: str(sink), "PATH": f"{path}{os.pathsep}{program}"}
    print(f"\n{name}", flush=True)
    command = [sys.executable, "-m", "pytest", *PYTEST, str(HERE / f"{name}.py")]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
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
