"""The data of the benchmarks: runs are kept as they were measured, pairs are judged by an interval."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "bench"))

import compare
import history
from ledger import Row
from report import written


def row(work: str = "a call", ours: float = 1.0, **more) -> Row:
    return Row("Core", work, "limit", "s CPU", ours, goal=2.0, **more)


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
        assert [
            (date, each.ours) for date, _, each in history.course("a call", tmp_path)
        ] == [("2026-11-24T03:05", 1.0), ("2026-11-25T01:00", 2.5)]

    def test_the_page_is_written_from_it(self, tmp_path):
        """The page names the date, the commit and the machine, and each row."""
        whole = history.Entry.load_from(entry("2026-11-24T03:05", 2.5).save(tmp_path))
        page = written(whole.rows, whole.about())
        assert "Date: 2026-11-24; commit: 0123456789ab" in page
        assert "Processor: one" in page
        assert "**1 of 2 goals met, 1 missed.**" in page


class TestCompare:
    @pytest.mark.parametrize(
        ("ours", "verdict"), [(1.0, ""), (1.5, "more"), (0.5, "less")]
    )
    def test_a_clear_change(self, ours, verdict):
        """The interval lies around the ratio of the pairs; where it leaves out 1, there is a change."""
        noise = [1.0, 1.02, 0.97, 1.01, 0.99]
        bases = [1.0, 1.3, 0.8, 1.1, 1.0]  # the machine's speed drifts
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
