"""Editors that work on the same files at once lose nothing, and wait for nobody needlessly."""

import fcntl
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from toolbench import ConversationState
from toolbench.runs.parallel import run_tools
from toolbench.tools import (
    ApplyPatchTool,
    FileEditorTool,
    GlobTool,
    GrepTool,
    TaskTrackerTool,
)
from toolbench.tools.apply_patch import ApplyPatchExecutor
from toolbench.tools.file_editor import FileEditorExecutor
from toolbench.tools.files import locks
from toolbench.tools.files.locks import file_locks
from toolbench.tools.task_tracker import TaskTrackerExecutor

LINES = 8
ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    path.write_text("".join(f"line {n}\n" for n in range(LINES)))
    return path


def edits(path: Path) -> list:
    """An edit of every line, each by an editor of its own; some through another name."""
    link = path.with_name("link")
    link.symlink_to(path)
    return [
        (
            FileEditorTool.create()[0],
            {
                "command": "str_replace",
                "path": str(link if n % 2 else path),
                "old_str": f"line {n}\n",
                "new_str": f"LINE {n}\n",
            },
        )
        for n in range(LINES)
    ]


class TestOneFile:
    def test_edited_side_by_side_gets_every_edit(self, path):
        """What several editors do to one file at once is all done, however often."""
        calls = edits(path)
        before = path.read_text()
        for _ in range(20):
            path.write_text(before)
            with ThreadPoolExecutor(LINES) as pool:
                observations = list(pool.map(lambda call: call[0](call[1]), calls))
            assert [one.text for one in observations if one.is_error] == []
            assert path.read_text() == before.upper()

    def test_calls_of_one_file_run_in_order(self, path):
        """`run_tools` sees by the declared file that calls belong one after another."""
        [editor] = FileEditorTool.create()
        [patcher] = ApplyPatchTool.create(workspace_root=path.parent)
        patch = "*** Begin Patch\n*** Update File: file\n@@\n-line 0\n+patched\n*** End Patch"
        text = {"path": str(path), "old_str": "patched", "new_str": "edited"}
        observations = run_tools(
            [
                (patcher, {"patch": patch}),
                (editor, {"command": "str_replace", **text}),
                (editor, {"command": "view", "path": str(path)}),
            ]
        )
        assert [one.text for one in observations if one.is_error] == []
        assert "edited" in observations[-1].text

    def test_declared_is_the_same_by_every_name(self, path, tmp_path):
        """A file has one name as a resource: the real one."""
        link = tmp_path / "link"
        link.symlink_to(path)
        [editor] = FileEditorTool.create()
        [patcher] = ApplyPatchTool.create(workspace_root=tmp_path)
        [tracker] = TaskTrackerTool.create(save_dir=tmp_path)
        patch = (
            "*** Begin Patch\n*** Update File: link\n*** Move to: new\n@@\n-a\n+b\n*** End Patch"
        )
        for tool, arguments, names in (
            (editor, {"command": "view", "path": str(path)}, ["file"]),
            (editor, {"command": "view", "path": str(link)}, ["file"]),
            (patcher, {"patch": patch}, ["file", "new"]),
            (patcher, {"patch": "no patch"}, []),
            (tracker, {"command": "view"}, ["TASKS.json"]),
            (GlobTool.create(working_dir=tmp_path)[0], {"pattern": "*"}, []),
            (GrepTool.create(working_dir=tmp_path)[0], {"pattern": "a"}, []),
        ):
            resources = tool.declared_resources(tool.action_from_arguments(arguments))
            assert resources.declared
            assert list(resources.keys) == [f"file:{tmp_path / name}" for name in names]


EDITS_OF_A_PROCESS = """
import sys
from toolbench.tools import FileEditorTool

[editor] = FileEditorTool.create()
path, who = sys.argv[1:]
edits = [{"old_str": f"{who}{n}\\n", "new_str": f"done-{who}{n}\\n"} for n in range(40)]
seen = [editor(command="str_replace", path=path, **edit) for edit in edits]
print(sum(not one.is_error for one in seen))
"""


class TestOtherNamesAndProcesses:
    def test_a_file_of_two_names_gets_every_edit(self, path):
        """Hard links are one file, whichever name an editor knows."""
        other = path.with_name("hard link")
        other.hardlink_to(path)
        before = path.read_text()
        calls = [
            (tool, {**call, "path": str(name)})
            for (tool, call), name in zip(edits(path), cycle((path, other)), strict=False)
        ]
        for _ in range(20):
            path.write_text(before)
            observations = run_tools(calls, max_parallel=LINES)
            assert [one.text for one in observations if one.is_error] == []
            assert other.read_text() == before.upper()

    @pytest.mark.slow
    def test_no_edit_of_two_processes_is_lost(self, path):
        """What both report as done is in the file."""
        path.write_text("".join(f"{who}{n}\n" for who in "AB" for n in range(40)))
        command = [sys.executable, "-c", EDITS_OF_A_PROCESS, str(path)]
        both = [Popen([*command, who], stdout=PIPE, text=True, cwd=ROOT) for who in "AB"]
        done = sum(int(process.communicate()[0]) for process in both)
        assert done == path.read_text().count("done-") == 80

    def test_who_waits_too_long_is_told(self, path, monkeypatch):
        """A program that keeps a file locked keeps no editor waiting for ever."""
        monkeypatch.setattr(locks, "PATIENCE", 0.1)
        [editor] = FileEditorTool.create()
        text = {"path": str(path), "old_str": "line 0", "new_str": "edited"}
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            observation = editor(command="str_replace", **text)
            assert observation.is_error
            assert f"{path} is locked by another program" in observation.text
            assert editor(command="view", path=str(path)).is_error is False
        assert not editor(command="str_replace", **text).is_error

    def test_two_names_in_one_patch_do_not_wait_for_each_other(self, path):
        """Whoever holds a file has it by all its names."""
        other = path.with_name("hard link")
        other.hardlink_to(path)
        with file_locks(path, other):
            assert path.read_text() == other.read_text()


class TestOneEditor:
    def test_edits_a_file_while_another_is_busy(self, path, tmp_path):
        """An edit waits for edits of its own file, and for no other."""
        [editor] = FileEditorTool.create()
        [patcher] = ApplyPatchTool.create(workspace_root=tmp_path)
        create = {"command": "create", "file_text": "x\n"}
        with ThreadPoolExecutor(1) as pool, file_locks(path):
            waiting = pool.submit(editor, edit_of_line_0(path))
            for name in "ab":
                assert not editor({"path": str(tmp_path / name), **create}).is_error
            assert not editor({"command": "view", "path": str(path)}).is_error
            patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch"
            assert not patcher({"patch": patch}).is_error
            assert not waiting.done()
        assert not waiting.result().is_error

    @pytest.mark.parametrize("name", ["/dev/zero", "/dev/tty", "pipe", "/proc/self/pagemap"])
    def test_is_held_up_by_no_device(self, name, tmp_path):
        """What never ends or never begins is refused in a sentence."""
        if name == "pipe":
            os.mkfifo(tmp_path / name)
            name = str(tmp_path / name)
        if not os.access(name, os.R_OK):
            pytest.skip(f"{name} cannot be read here")
        [editor] = FileEditorTool.create()
        observation = editor({"command": "view", "path": name})
        assert observation.is_error
        assert observation.text.count("\n") <= 1
        assert name in observation.text


def edit_of_line_0(path: Path) -> dict:
    text = {"old_str": "line 0", "new_str": "LINE 0"}
    return {"command": "str_replace", "path": str(path), **text}


class TestRoot:
    @pytest.mark.parametrize(
        "path",
        ["../outside/{}", "~/{}", "/../outside/{}", "{root}/../outside/{}", "link/{}"],
    )
    def test_nothing_is_told_of_what_is_outside(self, path, tmp_path, monkeypatch):
        """Whether a file outside is there or not, the same is said, and it is not proposed."""
        root, outside = tmp_path / "root", tmp_path / "outside"
        root.mkdir()
        outside.mkdir()
        (outside / "there").write_text("x")
        (root / "link").symlink_to(outside)
        monkeypatch.setenv("HOME", str(outside))
        [editor] = FileEditorTool.create(workspace_root=root)

        def told_of(name: str) -> str:
            path_text = path.format(name, root=root)
            observation = editor({"command": "view", "path": path_text})
            assert observation.is_error
            return observation.text.replace(name, "NAME")

        assert told_of("there") == told_of("gone")
        assert "Did you mean" not in told_of("there")

    def test_what_is_inside_is_proposed(self, tmp_path):
        """A path that was meant is proposed as before."""
        (tmp_path / "file").write_text("x")
        [editor] = FileEditorTool.create(workspace_root=tmp_path)
        for path in ("file", str(tmp_path / "fil")):
            observation = editor({"command": "view", "path": path})
            assert f"Did you mean '{tmp_path / 'file'}'?" in observation.text


class TestMade:
    def test_with_a_path_as_in_the_reference(self, path, tmp_path):
        """The first argument of an executor may be a directory."""
        editor = FileEditorExecutor(str(tmp_path))
        assert editor.places.root == tmp_path
        assert ApplyPatchExecutor(str(tmp_path)).root == tmp_path
        assert TaskTrackerExecutor(str(tmp_path)).file == tmp_path / "TASKS.json"
        assert FileEditorExecutor(ConversationState(tmp_path)).places.root is None
