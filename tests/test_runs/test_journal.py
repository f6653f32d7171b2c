"""A history on disk: read again, only ever appended to, and nothing in it stops the start."""

import json
import math
from dataclasses import replace
from threading import Thread

import pytest

from test_runs import tools
from toolbench import history, register_tool, run_tool
from toolbench.core.registry import default_registry
from toolbench.errors import ToolbenchError
from toolbench.redaction import MARK
from toolbench.runs.history import Journal, RunHistory
from toolbench.runs.record import SESSION
from toolbench.runs.run import numbers
from toolbench.runs.run_rows import run_key
from toolbench.values import NOT_KEPT
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.panel.tabs import HistoryView

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
    *({"seconds": 1e300}, {"waits": [{"question": "?", "began": 1e20, "ended": None}]}),
    {"seconds": 10**400},
]


def record_of(a):
    """The record of a run."""
    run_tool(tools.add, a=a)
    record = history()[-1]
    history().clear()
    return record


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

    def test_has_runs_of_two_sessions_under_one_number(self, tmp_path):
        """Those that ended before the cell that persists keep their numbers, and so do those in the file."""
        path = tmp_path / "history.ndjson"
        numbers.reset()
        run_tool(tools.add, a=1)
        earlier = replace(history()[0], session="yesterday", arguments={"a": 10})
        Journal(path).write(earlier)
        for _ in range(2):
            history().persist(path)
        run_tool(tools.add, a=2)
        assert [(r.id, r.arguments["a"]) for r in history()] == [(1, 10), (1, 1), (2, 2)]
        assert history().find(1).arguments == {"a": 1}
        assert history().find(1, "yesterday").arguments == {"a": 10}
        assert "twice" in repr(history())
        later = RunHistory()
        later.persist(path)
        assert [r.key for r in later] == [r.key for r in history()]

    def test_of_two_sessions_is_chosen_in_the_panel(self, tmp_path):
        """A row is the run that it shows, although another session has its number."""
        run_tool(tools.add, a=1)
        earlier = replace(history()[0], session="yesterday", arguments={"a": 10})
        history().clear()
        run_tool(tools.add, a=2)
        latest = replace(history()[0], id=earlier.id)
        history().clear()
        history().add(earlier)
        history().add(latest)
        panel = ToolPanel(tools.add)
        view = HistoryView(panel)
        view.runs.pick(run_key(earlier))
        panel.put_back_run(view.runs.record)
        assert panel.form.value == {"a": 10}
        view.close()
        panel.close()

    def test_of_a_session_goes_to_another_file_too(self, tmp_path):
        """A run is written once to each; those of other sessions stay where they are."""
        first, second = tmp_path / "first.ndjson", tmp_path / "second.ndjson"
        run_tool(tools.add, a=1)
        Journal(second).write(replace(history()[0], session="yesterday"))
        for path in (first, second, first):
            history().persist(path)
        sessions = {
            path: [*map(json.loads, path.read_text().splitlines())] for path in (first, second)
        }
        assert [line["session"] for line in sessions[first]] == [SESSION]
        assert [line["session"] for line in sessions[second]] == ["yesterday", SESSION]

    def test_has_a_number_for_each_of_many_threads(self, tmp_path):
        """Although a file is read meanwhile, whose numbers are skipped."""
        path = tmp_path / "history.ndjson"
        Journal(path).write(replace(record_of(1), session="yesterday"))
        taken = []
        threads = [
            Thread(target=lambda: taken.extend(numbers.take() for _ in range(500)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for n in range(100):
            numbers.skip_to(n * 10)
        for thread in threads:
            thread.join()
        assert len(set(taken)) == len(taken) == 2_000

    def test_has_each_line_of_many_threads(self, tmp_path):
        """No line is torn or lost."""
        path = tmp_path / "history.ndjson"
        record = replace(record_of(1), arguments={"text": "x" * 20_000})
        history().persist(path)
        threads = [
            Thread(
                target=lambda n=n: [
                    history().add(replace(record, id=n * 100 + m)) for m in range(25)
                ]
            )
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        later = RunHistory()
        later.persist(path)
        assert {r.id for r in later} == {r.id for r in history()}
        assert len(later) == 100

    def test_loses_only_the_line_of_a_process_that_was_killed(self, tmp_path):
        """Another kernel writes on: its record does not end the line that was cut off."""
        path = tmp_path / "history.ndjson"
        history().persist(path)
        run_tool(tools.add, a=1)
        with path.open("ab") as file:
            file.write(b'{"id": 7, "tool": "ad')
        run_tool(tools.add, a=2)
        later = RunHistory()
        later.persist(path)
        assert [r.arguments["a"] for r in later] == [1, 2]

    def test_of_the_first_version_has_no_sessions(self, tmp_path):
        """Each run counts as one of its own; what was hidden in it has to be given again."""
        path = tmp_path / "history.ndjson"
        line = RECORD | {
            "arguments": {"user": "ada", "token": MARK, "text": f"… 2 characters{NOT_KEPT}"}
        }
        path.write_text(json.dumps(line) + "\n")
        for _ in range(2):
            history().persist(path)
        [record] = history()
        assert (record.lost, record.known_arguments) == (("token", "text"), {"user": "ada"})

    def test_believes_the_list_of_what_was_lost(self, tmp_path):
        """A model may send a mark as it read it: that is what was sent."""
        history().persist(tmp_path / "history.ndjson")
        run_tool(tools.erase, path=MARK)
        later = RunHistory()
        later.persist(tmp_path / "history.ndjson")
        for record in (history()[0], later[0]):
            assert (record.lost, record.known_arguments) == ((), {"path": MARK})

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
