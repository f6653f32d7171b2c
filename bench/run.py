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
SECONDS = 1_200  # for one file
PYTEST = ["-q", "-W", "default", "--tb", "short", "-o", "python_files=bench_*.py"]


def main(names: Sequence[str]) -> int:
    """Measure; return how many measurements failed."""
    peers.install()
    files = [HERE / f"bench_{name}.py" for name in names] or sorted(
        HERE.glob("bench_*.py")
    )
    began = time.time()
    busy = machine.load()
    rows = [row for file in files for row in measured(file)]
    if not names:
        when = time.strftime("%Y-%m-%d", time.gmtime(began))
        about = [
            f"Date: {when}; {(time.time() - began) / 60:.0f} minutes",
            *machine.described(),
            f"Load average when it began: {busy:.1f}",
        ]
        (HERE / "RESULTS.md").write_text(written(rows, about), encoding="utf-8")
    missed = sum(row.missed for row in rows)
    failed = sum(row.kind == "error" for row in rows)
    print(f"{len(rows)} rows, {missed} missed, {failed} failed.")
    return min(failed, 1)


def measured(file: Path) -> list[Row]:
    """Run one file in a process of its own; return its rows, also if it fails."""
    sink = ROWS / f"{file.stem}.jsonl"
    ROWS.mkdir(parents=True, exist_ok=True)
    sink.write_text("")
    program = peers.PLACE / "ripgrep" / "bin"
    path = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{program}"
    env = {**os.environ, SINK: str(sink), "PATH": path}
    print(f"\n{file.stem}", flush=True)
    command = [sys.executable, "-m", "pytest", *PYTEST, str(file)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=env, timeout=SECONDS, capture_output=True, text=True
        )
        trouble = done.stdout if done.returncode not in (0, 5) else ""
    except subprocess.TimeoutExpired:
        trouble = f"It took more than {SECONDS} s and was stopped."
    rows = [Row.load(line) for line in sink.read_text("utf-8").splitlines()]
    for row in rows:
        print(f"  {as_text(row)}", flush=True)
    if trouble:
        print(trouble, flush=True)
        if not any(row.kind == "error" for row in rows):
            rows.append(Row(file.stem, file.stem, "error", note=trouble[-300:]))
    return rows


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
