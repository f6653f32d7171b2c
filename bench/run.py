"""Measure everything in one run, keep the rows in history/, and write RESULTS.md from them.

python bench/run.py             # all of it
python bench/run.py core forms  # some of it: shown, not written
python bench/run.py --minutes 30  # all of it, in more than the 12 minutes it has otherwise
python bench/run.py --report    # write RESULTS.md anew from the last run in history/
python bench/run.py --course "a call"  # what this work took in every run in history/
"""

import argparse
import ast
import compileall
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import history
import machine
import peers
from ledger import SINK, Row, section
from measuring import SHARE
from report import as_text, bounds, find_bounds, reasons, written

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.append(str(ROOT / "scripts"))

import figures  # noqa: E402 - a script, which is in no package

ROWS = ROOT / "build" / "bench"
# For all files: where they are short, works are measured in fewer rounds
MINUTES = 12
# For one file
SECONDS = 300
# For one that an earlier run had: so many times what it is thought to take, and no less than that
TIMES, AT_LEAST = 3, 90
# What a file is thought to take that no run had yet, and what is left over for what takes longer
SOME, SPARE = 30, 120
LEAST_SHARE = 0.1
# Runs that met a goal, after which nothing is to be explained
MET_FOR = 3
LONG = ("bench_endurance", "bench_feel_browser", "bench_growth")
_LATE = "It took more than"
PYTEST = ["-q", "-W", "default", "--tb", "short", "-o", "python_files=bench_*.py"]


def main(words: Sequence[str]) -> int:
    """Measure; return 1 if a measurement failed."""
    parser = argparse.ArgumentParser(description="Measure toolbench.")
    parser.add_argument("files", nargs="*", help="core, runs, ...: all if left out")
    parser.add_argument("--report", action="store_true", help="write RESULTS.md anew")
    parser.add_argument("--course", metavar="WORK", help="WORK in every run in history")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for all files")
    asked = parser.parse_args(words)
    if asked.report:
        write()
        return 0
    if asked.course:
        for date, commit, row in history.course(asked.course):
            print(f"{date} {commit:11} {as_text(row)}")
        return 0
    # What is wrong in why.toml is said now, not when all is measured
    bounds()
    began, busy = time.time(), machine.load()
    peers.install()
    names = [f"bench_{word}" for word in asked.files] or everything()
    rows, seconds, shares = _all_of(names, began + 60 * asked.minutes)
    find_bounds(rows)
    if not asked.files:
        history.Entry(
            date=history.stamp(began),
            commit=history.commit_here(),
            minutes=(time.time() - began) / 60,
            load=(busy, machine.load()),
            machine=machine.described(),
            rows=rows,
            seconds=seconds,
            shares=shares,
        ).save()
        write()
        for line in to_explain(rows):
            print(line)
    missed = sum(row.missed for row in rows)
    failed = sum(row.kind == "error" for row in rows)
    minutes = (time.time() - began) / 60
    print(f"{len(rows)} rows, {missed} missed, {failed} failed, {minutes:.1f} minutes.")
    return min(failed, 1)


def _all_of(
    names: Sequence[str], end: float
) -> tuple[list[Row], dict[str, float], dict[str, float]]:
    """Return the rows of these files, the seconds that each took, and the share of its rounds.

    Where all rounds would take longer than until the time *end*, all files that are left make the
    same share of them. A file of which a document quotes a row is measured even after the *end*.
    """
    rows, seconds, shares = [], {}, {}
    whole, quoted = history.whole_seconds(), quoted_files()
    spent = planned = 1.0
    for place, name in enumerate(names):
        start = time.time()
        if start >= end and name not in quoted:
            why = f"the minutes of this run were over: `python bench/run.py {name.removeprefix('bench_')}`"
            rows.append(Row(name, name, "absent", note=why))
            continue
        left = end - SPARE - start
        rest = sum(whole.get(each, SOME) for each in names[place:])
        # This machine may be slower than that of the last run
        slower = spent / planned
        share = history.share_for(left / (rest * slower))
        shares[name] = round(min(max(LEAST_SHARE, share), 1.0), 2)
        expected = whole.get(name, SOME) * history.time_for(shares[name])
        limit, late = float(SECONDS), "error"
        if name in whole:
            # Those after it have their time too
            limit = min(limit, max(AT_LEAST, TIMES * expected * slower))
        if name not in quoted and end - start < limit:
            limit, late = end - start, "absent"
        rows += measured(name, limit=limit, late=late, share=shares[name])
        seconds[name] = round(time.time() - start, 1)
        spent += seconds[name]
        planned += expected
    return rows, seconds, shares


def everything() -> list[str]:
    """Return the names of all files: first those that documents quote, last those that take long."""
    names = sorted(file.stem for file in HERE.glob("bench_*.py"))
    quoted = quoted_files()
    return sorted(names, key=lambda name: (name not in quoted, name in LONG))


def quoted_files() -> set[str]:
    """Return the names of the files of which a document has a row, as the last run has them."""
    works, entry = figures.quoted(), history.newest()
    sections = {row.section for row in entry.rows if row.work in works} if entry else set()
    files = HERE.glob("bench_*.py")
    return {file.stem for file in files if section(_docstring(file)) in sections}


def _docstring(file: Path) -> str:
    return ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""


def write() -> None:
    """Write the page from the last run in history/."""
    entry = history.newest()
    if entry is None:
        print("There is no run in bench/history yet: run `make bench`.")
        return
    text = written(entry.rows, entry.about())
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")


def to_explain(rows: Sequence[Row]) -> list[str]:
    """Return what is to be done in why.toml, a line for each row or entry."""
    works, why, beside = {row.work for row in rows}, reasons(), bounds()
    lines = [
        f"{row.work}: missed, and not explained in bench/why.toml"
        for row in rows
        if row.missed and row.work not in why
    ]
    lines += [f"{each}: not measured, a bound" for each in beside.values() if each not in works]
    for work in why:
        last = [row for _, _, row in history.course(work)][-MET_FOR:]
        if work not in works:
            lines.append(f"{work}: in bench/why.toml, but this run has no such row")
        elif len(last) == MET_FOR and not any(row.missed or row.bound for row in last):
            lines.append(f"{work}: in bench/why.toml, but met in the last {MET_FOR} runs")
    return lines


def recorded(name: str) -> list[Row]:
    """Return the rows that a file left."""
    sink = ROWS / f"{name}.jsonl"
    lines = sink.read_text("utf-8").splitlines() if sink.is_file() else []
    return [Row.load(line) for line in lines]


def measured(
    name: str, of: Path = ROOT, limit: float = SECONDS, late: str = "error", share: float = 1
) -> list[Row]:
    """Run one file in a process of its own; return its rows, also if it fails.

    Args:
        name: The name of the file.
        of: The checkout whose package is measured.
        limit: The seconds after which it is stopped.
        late: The kind of the row that says so: `error`, or `absent` if the whole run is over.
        share: The share of its rounds that it has time for.
    """
    ROWS.mkdir(parents=True, exist_ok=True)
    sink = ROWS / f"{name}.jsonl"
    sink.write_text("")
    # as pip does, also for the peers; else a fresh process may compile each module it imports
    compileall.compile_dir(of / "toolbench", quiet=1)
    path = os.environ.get("PATH", os.defpath)
    program = peers.PLACE / "ripgrep" / "bin"
    env = {
        SINK: str(sink),
        SHARE: str(share),
        "PATH": f"{path}{os.pathsep}{program}",
        "PYTHONPATH": str(of),
    }
    print(f"\n{name}", flush=True)
    command = [sys.executable, "-m", "pytest", *PYTEST, str(HERE / f"{name}.py")]
    trouble = _trouble_of(command, of, {**os.environ, **env}, limit)
    if trouble and not any(row.kind == "error" for row in recorded(name)):
        kind = late if trouble.startswith(_LATE) else "error"
        row = Row(name, name, kind, note=trouble.strip().splitlines()[-1])
        with sink.open("a", encoding="utf-8") as file:
            file.write(row.dump() + "\n")
    for row in recorded(name):
        print(f"  {as_text(row)}", flush=True)
    if trouble:
        print(trouble, flush=True)
    return recorded(name)


def _trouble_of(command: Sequence[str], folder: Path, env: Mapping[str, str], limit: float) -> str:
    """Run *command*; return what it printed if it failed, or a sentence if it took too long.

    Its output goes to a file: a process that it leaves behind could keep a pipe open.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=env,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            _stop(process)
            return f"{_LATE} {limit:.0f} s and was stopped; what it had is here."
        except BaseException:
            # Ctrl-C here is none there: it has a session of its own
            _stop(process)
            raise
        if not process.returncode:
            return ""
        output.seek(0)
        return output.read().decode(errors="replace") or "It failed silently."


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Interrupt *process*, so that it ends its servers and browsers itself; kill what is left.

    A browser that the signal ends too is a failure of the measurement that uses it.
    """
    process.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(15)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
