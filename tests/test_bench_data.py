"""The data of the benchmarks: runs are kept as they were measured, pairs are judged by an interval."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from patience import PATIENCE

sys.path.append(str(Path(__file__).parents[1] / "bench"))

import compare
import history
import measuring
import run
from ledger import Row
from report import find_bounds, written

BENCH = Path(compare.__file__).parent


def row(work: str = "a call", ours: float = 1.0, **more) -> Row:
    usual = {"section": "Core", "kind": "limit", "unit": "s CPU", "goal": 2.0}
    return Row(work=work, ours=ours, **{**usual, **more})


def entry(date: str, ours: float) -> history.Entry:
    return history.Entry(
        date=date,
        commit="0123456789ab",
        minutes=12.5,
        load=(0.5, 1.5),
        machine=["Processor: one"],
        rows=[row(ours=ours, points={"10": 1.0}), row("another")],
    )


class TestHistory:
    def test_is_kept_as_it_was_measured(self, tmp_path):
        """A run that is read again is the same, with all its rows."""
        whole = entry("2026-11-24T03:05", 1.0)
        assert history.Entry.load_from(whole.save(tmp_path)) == whole

    def test_is_one_file_for_each_run(self, tmp_path):
        """The last run is the newest; a work has its value in each, oldest first."""
        assert history.newest(tmp_path) is None
        for date, ours in (("2026-11-25T01:00", 2.5), ("2026-11-24T03:05", 1.0)):
            entry(date, ours).save(tmp_path)
        last = history.newest(tmp_path)
        assert last is not None
        assert last.date == "2026-11-25T01:00"
        assert [(date, each.ours) for date, _, each in history.course("a call", tmp_path)] == [
            ("2026-11-24T03:05", 1.0),
            ("2026-11-25T01:00", 2.5),
        ]

    def test_the_page_is_written_from_it(self, tmp_path):
        """The page names the date, the commit and the machine, and each row."""
        whole = history.Entry.load_from(entry("2026-11-24T03:05", 2.5).save(tmp_path))
        page = written(whole.rows, whole.about())
        assert "Date: 2026-11-24; commit: 0123456789ab" in page
        assert "Processor: one" in page
        assert "**1 of 2 goals met, 1 missed.**" in page

    def test_each_column_has_a_header(self):
        """A reader of a screen hears what each cell is."""
        page = written([row(), row("grows", kind="curve", points={"10": 1.0})], [])
        heads = re.findall(r"^\|.*\|(?=\n\|--)", page, re.M)
        assert len(heads) == 2
        assert not [head for head in heads if re.search(r"\| *\|", head)]


class TestBounds:
    CALL = "call over HTTP"

    @pytest.mark.parametrize(
        ("least", "ours", "bound"),
        [(1.5, 1.6, 1.6 / 1.5), (1.5, 2.0, None), (1.0, 1.1, None)],
        ids=["ours is near it", "ours is far from it", "the goal is more than it"],
    )
    def test_a_goal_out_of_reach(self, least, ours, bound):
        """It counts as met where the least that the work takes, measured in this run, is over it."""
        missed = row(self.CALL, ours, kind="ratio", theirs=1.0, goal=1.05)
        beside = row(f"{self.CALL}, beside a client in a thread", ours, theirs=least, goal=None)
        find_bounds([missed, beside])
        assert missed.bound == bound
        assert missed.missed == (bound is None)

    def test_that_was_not_measured(self):
        """A bound of another run does not count."""
        missed = row(self.CALL, 1.6, kind="ratio", theirs=1.0, goal=1.05, bound=1.01)
        find_bounds([missed])
        assert missed.missed


class TestExplanations:
    def test_what_is_to_be_done(self, monkeypatch):
        """A run says what was missed without a word, and which words are of no use any more."""
        met, missed = row("met"), row("missed", 3.0)
        monkeypatch.setattr(run, "reasons", lambda: {"met": "Slow.", "gone": "Slow."})
        monkeypatch.setattr(run, "bounds", lambda: {"missed": "the least"})
        past = {"met": [("", "", met)] * run.MET_FOR, "gone": []}
        monkeypatch.setattr(history, "course", past.__getitem__)
        said = [line.partition(":")[0] for line in run.to_explain([met, missed])]
        assert said == ["missed", "the least", "met", "gone"]
        past["met"][-1] = ("", "", row("met", 3.0))
        assert len(run.to_explain([met, missed])) == 3


def test_long_work_is_done_once_to_warm_up(monkeypatch):
    """And once in each round."""
    monkeypatch.setattr(measuring, "LONG", -1)
    done = []
    watch = measuring.Stopwatch(lambda: done.append("work"))
    for times in (1, 2, 3):
        watch.seconds()
        assert len(done) == times


class TestCompare:
    @pytest.mark.parametrize(("ours", "verdict"), [(1.0, ""), (1.5, "more"), (0.5, "less")])
    def test_a_clear_change(self, ours, verdict):
        """The interval lies around the ratio of the pairs; where it leaves out 1, there is a change."""
        noise = [1.0, 1.02, 0.97, 1.01, 0.99]
        # The machine's speed drifts
        bases = [1.0, 1.3, 0.8, 1.1, 1.0]
        pairs = [
            (row(ours=ours * base * n), row(ours=base))
            for base, n in zip(bases, noise, strict=True)
        ]
        each = compare.compared(pairs)
        assert each.verdict == verdict
        assert each.low < each.ratio < each.high
        assert each.ratio == pytest.approx(ours, rel=0.02)

    def test_noise_is_no_change(self):
        """Pairs that differ in both directions have an interval with 1 in it."""
        pairs = [(row(ours=a), row(ours=b)) for a, b in [(1, 2), (2, 1), (3, 2.5)]]
        assert not compare.compared(pairs).verdict

    def test_counts(self):
        """Counts without noise are the same, or any difference is one; zero is no error."""
        same = compare.compared([(row(ours=20), row(ours=20))] * 3)
        more = compare.compared([(row(ours=21), row(ours=20))] * 3)
        none = compare.compared([(row(ours=0), row(ours=0))] * 3)
        assert [each.verdict for each in (same, more, none)] == ["", "more", ""]

    def test_a_table_names_changes_first(self):
        """What takes more or less stands above what stayed the same."""
        same = compare.compared([(row("same", 20), row("same", 20))] * 3)
        more = compare.compared([(row("more", 21), row("more", 20))] * 3)
        lines = compare.written([same, more]).splitlines()
        assert [line.split(" | ")[0] for line in lines[2:]] == ["| more", "| same"]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one commit, which `compare` takes for ours."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "file").write_text("x")
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*name, "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    monkeypatch.setattr(compare, "ROOT", root)
    return root


def checkouts(root: Path) -> int:
    command = ["git", "-C", str(root), "worktree", "list"]
    return len(subprocess.check_output(command, text=True).splitlines())


class TestCheckout:
    @pytest.mark.slow
    def test_is_removed_at_the_end(self, repository):
        """The commit is there while it is measured, and nothing of it after that."""
        with compare.checkout("HEAD") as base:
            assert (base / "file").read_text() == "x"
            assert checkouts(repository) == 2
        assert not base.exists()
        assert checkouts(repository) == 1

    @pytest.mark.slow
    def test_of_a_killed_run_is_removed_by_the_next(self, repository, tmp_path):
        """Its process is gone; one whose process runs stays."""
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        folders = []
        for process in (ended.pid, os.getpid()):
            folder = tmp_path / f"toolbench-base-{process}-x"
            command = ["worktree", "add", "-q", "--detach", str(folder / "base")]
            subprocess.run(["git", "-C", str(repository), *command], check=True)
            folders.append(folder)
        with compare.checkout("HEAD"):
            assert [folder.exists() for folder in folders] == [False, True]

    def test_is_removed_when_a_signal_ends_the_run(self, repository):
        """As `kill` and a closed terminal end it."""
        script = (
            "import sys; sys.path.insert(0, sys.argv[1])\n"
            "import compare, pathlib\n"
            "compare.ROOT = pathlib.Path(sys.argv[2])\n"
            "compare.end_in_order()\n"
            "with compare.checkout('HEAD') as base:\n"
            "    print(base, flush=True)\n"
            "    sys.stdin.read()\n"
        )
        command = [sys.executable, "-c", script, str(BENCH), str(repository)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
            base = Path(process.stdout.readline().strip())
            assert base.is_dir()
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 128 + signal.SIGTERM
        assert not base.exists()
        assert checkouts(repository) == 1


class TestRun:
    @pytest.fixture
    def told(self, monkeypatch):
        """The files that were measured, each with its share; the clock stands still but for them."""
        told, clock = {}, [0.0]

        def measured(name, limit, late, share):
            told[name] = share
            # Twice as slow as in the last run
            clock[0] += 2 * 100 * history.time_for(share)
            return []

        monkeypatch.setattr(run, "measured", measured)
        monkeypatch.setattr(run, "time", SimpleNamespace(time=lambda: clock[0]))
        monkeypatch.setattr(history, "whole_seconds", lambda: dict.fromkeys("abcdef", 100))
        monkeypatch.setattr(run, "quoted_files", lambda: {"a", "f"})
        return told

    def test_makes_fewer_rounds_where_the_time_is_short(self, told):
        """All of them where there is time; else fewer, once the machine is seen to be slower."""
        run._all_of("abc", end=10_000)
        assert set(told.values()) == {1.0}
        now = run.time.time()
        run._all_of("abcdef", end=now + 900)
        assert 1 == told["a"] > told["f"]
        assert run.time.time() < now + 900

    def test_measures_what_a_document_quotes(self, told):
        """Even after the end of the time; what no document quotes is then entered as not measured."""
        rows, seconds, shares = run._all_of("abcdef", end=300)
        assert {"a", "f"} <= set(told)
        left_out = [each.section for each in rows]
        assert left_out == [name for name in "abcdef" if name not in told] != []
        assert min(shares.values()) == run.LEAST_SHARE
        assert set(seconds) == set(told)

    def test_begins_with_what_documents_quote(self):
        """So that a run that is stopped has those rows."""
        names, quoted = run.everything(), run.quoted_files()
        assert quoted == set(names[: len(quoted)]) != set()

    @pytest.mark.long
    def test_goes_on_after_a_file_that_takes_too_long(self, tmp_path):
        """It is stopped with all that it started; the rows that it had stay."""
        (tmp_path / "bench_slow.py").write_text(
            "import os, subprocess, sys, threading\n"
            "def test():\n"
            "    with open(os.environ['TOOLBENCH_BENCH_ROWS'], 'a') as rows:\n"
            f"        print({row().dump()!r}, file=rows)\n"
            "    command = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
            "    child = subprocess.Popen(command)\n"
            "    with open('child', 'w') as file:\n"
            "        file.write(str(child.pid))\n"
            "    threading.Event().wait()\n"
        )
        script = (
            "import sys; sys.path.insert(0, sys.argv[1])\n"
            "import pathlib, run\n"
            "run.HERE = run.ROWS = pathlib.Path(sys.argv[2])\n"
            "run.measured('bench_slow', of=run.HERE, limit=10, late='absent')\n"
        )
        command = [sys.executable, "-c", script, str(BENCH), str(tmp_path)]
        # It starts soon
        env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        subprocess.run(command, env=env, check=True)
        lines = (tmp_path / "bench_slow.jsonl").read_text().splitlines()
        own, note = map(Row.load, lines)
        assert own == row()
        # The whole run was over
        assert note.kind == "absent"
        assert "more than 10 s" in note.note
        stat = Path("/proc", (tmp_path / "child").read_text(), "stat")
        assert not stat.exists() or " Z " in stat.read_text()
