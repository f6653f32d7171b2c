"""A history on disk: read again, only ever appended to, and nothing in it stops the start."""

import json
import math

import pytest

from test_runs import tools
from toolbench import history, register_tool, run_tool
from toolbench.core.registry import default_registry
from toolbench.errors import ToolbenchError
from toolbench.runs.history import RunHistory
from toolbench.runs.numbering import numbers
from toolbench.runs.perform import perform
from toolbench.runs.run import run_here

RECORD = {
    "id": 1,
    "tool": "add",
    "arguments": {},
    "observation": {},
    "state": "ok",
    "seconds": 1,
    "source": "python",
    "started": "2026-11-28T00:00:00+00:00",
}
ODD_NUMBERS = [
    *({"id": math.inf}, {"seconds": math.inf}, {"waited": math.nan}),
    {"seconds": 10**400},
]


class TestOnDisk:
    def test_survives(self, tmp_path):
        """What was written is read again, and new runs are appended."""
        path = tmp_path / "deep" / "history.ndjson"
        history().persist(path)
        run_tool(tools.add, a=1)
        again = RunHistory()
        again.persist(path)
        assert [(r.tool, r.arguments) for r in again] == [("add", {"a": 1})]
        with pytest.raises(LookupError, match="there is no tool 'add' here"):
            again[0].rerun()

    def test_can_be_run_again(self, tmp_path):
        """Once a tool of that name is registered, as after a crash of the kernel."""
        path = tmp_path / "history.ndjson"
        history().persist(path)
        run_tool(tools.add, a=1)
        again = RunHistory()
        again.persist(path)
        register_tool("add", tools.add)
        try:
            assert again[0].rerun().text == "2"
        finally:
            default_registry.unregister("add")

    def test_stands_before_the_session(self, tmp_path):
        """Earlier runs come first, the session's own are never pushed out by them."""
        path = tmp_path / "history.ndjson"
        history().persist(path)
        for n in range(5):
            run_tool(tools.add, a=n)
        history().clear()
        run_tool(tools.add, a=5)
        later = RunHistory(size=3)
        later.add(history()[-1])
        later.persist(path)
        assert [r.arguments["a"] for r in later] == [3, 4, 5]

    def test_is_read_once(self, tmp_path):
        """A cell that persists can be run again: no run is there twice, or known less well."""
        path = tmp_path / "history.ndjson"
        history().persist(path)
        run_tool(tools.add, a=1)
        history().persist(path)
        run_tool(tools.add, a=2)
        history().persist(tmp_path / "deep" / ".." / "history.ndjson")
        assert [r.arguments["a"] for r in history()] == [1, 2]
        assert [r.definition for r in history()] == [tools.add, tools.add]
        assert len(path.read_text().splitlines()) == 2

    def test_numbers_go_on(self, tmp_path):
        """A new run never takes the number of one that was read."""
        path = tmp_path / "history.ndjson"
        history().persist(path)
        run_tool(tools.add, a=1)
        line = json.loads(path.read_text())
        path.write_text(json.dumps(line | {"id": line["id"] + 1000}) + "\n")
        history().clear()
        history().persist(path)
        run_tool(tools.add, a=2)
        assert history()[1].id > history()[0].id

    def test_has_each_number_once(self, tmp_path):
        """Also where runs came before the cell that persists, as they do when a notebook runs anew."""
        path = tmp_path / "history.ndjson"
        for session in range(3):
            # A new kernel
            numbers.reset()
            slow = run_here(tools.add, {"a": 10 * session + 3})
            slow.begin()
            for n in (1, 2):
                run_tool(tools.add, a=10 * session + n)
            history().persist(path)
            history().persist(path)
            perform(slow)
            assert history().find(slow.id).arguments == slow.arguments
            run_tool(tools.add, a=10 * session + 4)
            last = {r.arguments["a"]: r.id for r in history()}
            history().clear()
        later = RunHistory()
        later.persist(path)
        ids = {r.arguments["a"]: r.id for r in later}
        assert ids == last
        assert len(set(ids.values())) == len(later) == 12
        ended_late = {3, 13, 23}
        in_order = [ids[value] for value in sorted(ids.keys() - ended_late)]
        assert in_order == sorted(in_order)

    def test_has_the_numbers_of_a_session_that_has_another_file_too(self, tmp_path):
        """What is in a file keeps its number there: a run is not written twice."""
        first, second = tmp_path / "first.ndjson", tmp_path / "second.ndjson"
        history().persist(second)
        numbers.reset()
        run_tool(tools.add, a=1)
        history().clear()
        numbers.reset()
        history().persist(first)
        run_tool(tools.add, a=2)
        history().persist(second)
        history().persist(first)
        for path, values in ((first, [2]), (second, [1, 2])):
            lines = map(json.loads, path.read_text().splitlines())
            assert [line["arguments"]["a"] for line in lines] == values

    def test_keeps_the_order_of_a_run_that_ends_later(self, tmp_path):
        """It began after the runs that got new numbers when the file was read."""
        path = tmp_path / "history.ndjson"
        numbers.reset()
        history().persist(path)
        run_tool(tools.add, a=1)
        history().clear()
        numbers.reset()
        run_tool(tools.add, a=2)
        slow = run_here(tools.add, {"a": 3})
        slow.begin()
        history().persist(path)
        perform(slow)
        values = {r.id: r.arguments["a"] for r in history()}
        assert [values[number] for number in sorted(values)] == [1, 2, 3]

    def test_has_a_number_for_each_run_of_one_moment(self, tmp_path):
        """Where a clock has long ticks, two runs begin at the same time: each gets a new number."""
        path = tmp_path / "history.ndjson"
        earlier = RunHistory()
        numbers.reset()
        earlier.persist(path)
        run_tool(tools.add, a=1)
        earlier.add(history()[-1])
        history().clear()
        numbers.reset()
        runs = [run_here(tools.add, {"a": a}) for a in (2, 3)]
        runs[1].started = runs[0].started
        for run in runs:
            perform(run)
        history().persist(path)
        assert [(r.id, r.arguments["a"]) for r in history()] == [(1, 1), (3, 2), (4, 3)]

    def test_passes_over_a_torn_line(self, tmp_path):
        """A line cut off by a crash is passed over; the next record starts a new line."""
        path = tmp_path / "history.ndjson"
        history().persist(path)
        run_tool(tools.add, a=1)
        path.write_bytes(path.read_bytes() + b'{"id": 2, "tool": "ad')
        again = RunHistory()
        again.persist(path)
        again.add(history()[-1])
        third = RunHistory()
        third.persist(path)
        assert [r.arguments["a"] for r in third] == [1, 1]

    @pytest.mark.parametrize(
        "line",
        [
            b"null",
            b"[]",
            b"3",
            b'{"id": 1}',
            b"\x00",
            b'""',
            b"\xff\xfe",
            b"[" * 100_000,
            b'{"id": {}, "tool": 1, "arguments": 1, "observation": 1}',
        ],
    )
    def test_passes_over_what_is_not_ours(self, tmp_path, line):
        """No content of the file stops the start."""
        path = tmp_path / "history.ndjson"
        path.write_bytes(line + b"\n")
        again = RunHistory()
        again.persist(path)
        assert len(again) == 0

    def test_passes_over_odd_numbers(self, tmp_path):
        """A line whose number or time is infinite hides no other line."""
        lines = [json.dumps(RECORD | odd) for odd in ODD_NUMBERS]
        path = tmp_path / "history.ndjson"
        path.write_text("\n".join([*lines, json.dumps(RECORD | {"id": 2})]))
        again = RunHistory()
        again.persist(path)
        assert [record.id for record in again] == [2]

    def test_is_only_appended_to(self, tmp_path):
        """Nothing that was there is written again."""
        path = tmp_path / "history.ndjson"
        history().persist(path)
        run_tool(tools.add, a=1)
        before = path.read_bytes()
        again = RunHistory()
        again.persist(path)
        again.clear()
        run_tool(tools.add, a=2)
        assert path.read_bytes().startswith(before)

    def test_says_when_it_cannot_write(self, tmp_path):
        """A path that cannot be written is one sentence."""
        with pytest.raises(ToolbenchError, match="History cannot be kept in"):
            RunHistory().persist(tmp_path)

    def test_a_disk_that_fails_later_is_a_warning(self, tmp_path):
        """A run is not lost because its record could not be written."""
        path = tmp_path / "gone" / "history.ndjson"
        history().persist(path)
        path.unlink()
        path.parent.rmdir()
        with pytest.warns(RuntimeWarning, match="was not written"):
            assert run_tool(tools.add, a=1).text == "2"
        assert len(history()) == 1
