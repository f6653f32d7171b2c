"""The tasks that are kept for later kernels."""

import subprocess
import sys

import pytest
from patience import PATIENCE

from toolbench.mcp.tasks.kept_tasks import KeptTask, KeptTasks

ADD = """
import sys
from pathlib import Path
from toolbench.mcp.tasks.kept_tasks import KeptTask, KeptTasks

tasks = KeptTasks("server", Path(sys.argv[1]))
print("ready", flush=True)
input()
for number in range(40):
    tasks.add(KeptTask(f"{sys.argv[2]}-{number}", "t"))
"""


class TestKeptTasks:
    @pytest.mark.slow
    def test_of_kernels_at_the_same_time_are_all_kept(self, tmp_path):
        """None loses what another one adds between its reading and its writing."""
        kernels = [
            subprocess.Popen(
                [sys.executable, "-c", ADD, str(tmp_path), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for name in ("a", "b")
        ]
        for kernel in kernels:
            assert kernel.stdout.readline() == b"ready\n"
        for kernel in kernels:
            kernel.stdin.write(b"\n")
            kernel.stdin.flush()
        for kernel in kernels:
            kernel.communicate(timeout=PATIENCE)
            assert kernel.returncode == 0
        ids = {task.id for task in KeptTasks("server", tmp_path).all()}
        assert ids == {f"{name}-{number}" for name in "ab" for number in range(40)}

    @pytest.mark.parametrize("content", ["", "{", "[1]", "null", '{"id": "1"}'])
    def test_hide_none_because_of_a_damaged_file(self, tmp_path, content):
        """The task of the file is not there; its next start replaces the file."""
        tasks = KeptTasks("server", tmp_path)
        tasks.add(KeptTask("1", "t"))
        (file,) = tmp_path.glob("*/*")
        tasks.add(KeptTask("2", "t"))
        file.write_text(content)
        assert KeptTasks("server", tmp_path).all() == [KeptTask("2", "t")]
        tasks.add(KeptTask("1", "t"))
        assert KeptTasks("server", tmp_path).all() == [
            KeptTask("2", "t"),
            KeptTask("1", "t"),
        ]

    def test_are_of_one_server(self, tmp_path):
        """The tasks of another server, and tasks that were forgotten, are not among them."""
        tasks = KeptTasks("server", tmp_path)
        KeptTasks("other", tmp_path).add(KeptTask("1", "t"))
        tasks.add(KeptTask("2", "t", "2026-11-24", 5.5))
        tasks.add(KeptTask("3", "t"))
        tasks.forget("3")
        tasks.forget("4")
        assert tasks.all() == [KeptTask("2", "t", "2026-11-24", 5.5)]

    def test_are_in_memory_where_no_file_can_be(self, tmp_path):
        """They end with the kernel then."""
        place = tmp_path / "file"
        place.write_text("no folder")
        tasks = KeptTasks("server", place)
        tasks.add(KeptTask("1", "t"))
        tasks.add(KeptTask("2", "t"))
        tasks.forget("1")
        assert [task.id for task in tasks.all()] == ["2"]

    def test_of_a_server_of_this_process_leave_no_file(self, tmp_path):
        """They end with the kernel."""
        tasks = KeptTasks(None, tmp_path)
        tasks.add(KeptTask("1", "t"))
        assert [task.id for task in tasks.all()] == ["1"]
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("server", ["server", None])
    def test_are_the_newest_hundred(self, tmp_path, server):
        """A folder does not grow for ever."""
        tasks = KeptTasks(server, tmp_path)
        for number in range(105):
            tasks.add(KeptTask(str(number), "t"))
        ids = [task.id for task in tasks.all()]
        assert ids == [str(number) for number in range(5, 105)]
