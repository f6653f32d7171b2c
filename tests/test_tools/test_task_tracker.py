"""The task tracker: what it keeps, where, and what it does with a file it cannot read."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from toolbench.core.state import ConversationState
from toolbench.errors import ArgumentsError
from toolbench.tools.task_tracker import (
    TaskItem,
    TaskTrackerAction,
    TaskTrackerObservation,
    TaskTrackerTool,
)

TASKS = [
    {"title": "Find it", "status": "done"},
    {"title": "Fix it", "notes": "in two\nplaces", "status": "in_progress"},
    {"title": "Test it"},
]


def tracker(directory: Path | None = None) -> TaskTrackerTool:
    [tool] = TaskTrackerTool.create(ConversationState(persistence_dir=directory))
    return tool


class TestList:
    def test_begins_empty(self):
        """A new list has no tasks; viewing is what a call does by default."""
        observation = tracker()({})
        assert (observation.command, observation.task_list) == ("view", [])
        assert "empty" in observation.text

    def test_plan_and_view(self):
        """What was planned is what is seen, for the model as a numbered list."""
        tool = tracker()
        planned = tool({"command": "plan", "task_list": TASKS})
        observation = tool({"command": "view"})
        assert observation.task_list == planned.task_list
        assert observation.text.splitlines() == [
            "3 tasks: 1 done, 1 in progress, 1 to do.",
            "1. [x] Find it",
            "2. [>] Fix it",
            "   in two",
            "   places",
            "3. [ ] Test it",
        ]

    @pytest.mark.parametrize("field", ["title", "notes"])
    @pytest.mark.parametrize("is_saved", [True, False])
    def test_half_a_character(self, tmp_path, field, is_saved):
        """What no file and no model can take is refused, and the list stays as it was."""
        tool = tracker(tmp_path if is_saved else None)
        tool({"command": "plan", "task_list": TASKS})
        odd = {"title": "x", field: "\ud800"}
        refused = tool({"command": "plan", "task_list": [odd]})
        assert refused.is_error
        assert "half a character" in refused.text
        assert len(tool({}).task_list) == 3

    def test_plan_replaces(self):
        """A plan takes the place of the one before; an empty one clears the list."""
        tool = tracker()
        tool({"command": "plan", "task_list": TASKS})
        assert tool({"command": "plan", "task_list": TASKS[:1]}).task_list == [TaskItem(**TASKS[0])]
        assert tool({"command": "plan", "task_list": []}).task_list == []

    def test_plan_without_tasks(self):
        """A plan that forgets the tasks changes nothing."""
        tool = tracker()
        tool({"command": "plan", "task_list": TASKS})
        observation = tool({"command": "plan"})
        assert observation.is_error
        assert "needs `task_list`" in observation.text
        assert len(tool({}).task_list) == 3

    @pytest.mark.parametrize(
        ("written", "status"),
        [
            ("pending", "todo"),
            ("to-do", "todo"),
            ("To Do", "todo"),
            ("completed", "done"),
            ("in-progress", "in_progress"),
            ("DONE", "done"),
        ],
    )
    def test_statuses_by_other_names(self, written, status):
        """A status may be written as models write it."""
        task = {"title": "t", "status": written}
        observation = tracker()({"command": "plan", "task_list": [task]})
        assert observation.task_list[0].status == status

    def test_unknown_status(self):
        """A status that means nothing does not fit."""
        task = {"title": "t", "status": "someday"}
        with pytest.raises(ArgumentsError, match=r"task_list\[0\].status"):
            tracker()({"command": "plan", "task_list": [task]})

    def test_fields_of_older_lists(self):
        """Tasks with an id, as older models send them, are taken without it."""
        task = {"id": "task-1", "title": "t"}
        assert not tracker()({"command": "plan", "task_list": [task]}).is_error


class TestFile:
    def test_outlives_the_tool(self, tmp_path):
        """A list with a directory is there for the next tool."""
        tracker(tmp_path / "new")({"command": "plan", "task_list": TASKS})
        assert tracker(tmp_path / "new")({}).task_list[1].notes == "in two\nplaces"

    def test_is_plain_json(self, tmp_path):
        """It is a JSON list that others can read and write."""
        tracker(tmp_path)({"command": "plan", "task_list": TASKS})
        file = tmp_path / "TASKS.json"
        tasks = json.loads(file.read_text())
        assert tasks[0] == {"title": "Find it", "notes": "", "status": "done"}
        file.write_text(json.dumps([{"title": "theirs", "status": "pending"}]))
        assert tracker(tmp_path)({}).task_list == [TaskItem(title="theirs")]

    def test_directory_by_the_older_name(self, tmp_path):
        """`create(save_dir=...)` is the older way to say where."""
        [tool] = TaskTrackerTool.create(save_dir=tmp_path)
        tool({"command": "plan", "task_list": TASKS})
        assert (tmp_path / "TASKS.json").exists()

    def test_two_tools_see_each_other(self, tmp_path):
        """Tools with one directory share one list."""
        one, other = tracker(tmp_path), tracker(tmp_path)
        one({})
        other({"command": "plan", "task_list": TASKS})
        assert len(one({}).task_list) == 3

    def test_tools_without_a_directory_do_not(self):
        """Tools without one have a list each."""
        one, other = tracker(), tracker()
        one({"command": "plan", "task_list": TASKS})
        assert other({}).task_list == []

    @pytest.mark.parametrize("command", ["view", "plan"])
    @pytest.mark.parametrize("content", ["", "{bad", '{"a": 1}', '[{"notes": "x"}]', "\0\xff"])
    def test_corrupt_file_is_kept(self, tmp_path, command, content):
        """A file that holds no tasks is set aside, said, and never written over."""
        file = tmp_path / "TASKS.json"
        file.write_text(content, "latin-1")
        (tmp_path / "TASKS.corrupt-1.json").write_text("an older one")
        arguments = {"task_list": TASKS} if command == "plan" else {}
        observation = tracker(tmp_path)({"command": command, **arguments})
        assert not observation.is_error
        aside = tmp_path / "TASKS.corrupt-2.json"
        assert str(aside) in observation.text
        assert aside.read_text("latin-1") == content
        assert (tmp_path / "TASKS.corrupt-1.json").read_text() == "an older one"
        assert file.exists() == (command == "plan")

    @pytest.mark.parametrize("command", ["view", "plan"])
    def test_directory_in_its_place(self, tmp_path, command):
        """What is no file at all is an error, and the list stays as it was."""
        (tmp_path / "TASKS.json").mkdir()
        arguments = {"task_list": TASKS} if command == "plan" else {}
        observation = tracker(tmp_path)({"command": command, **arguments})
        assert observation.is_error
        assert "is not a regular file" in observation.text

    def test_cannot_be_written(self, tmp_path):
        """A list that cannot be kept is not pretended to be."""
        (tmp_path / "file").touch()
        tool = tracker(tmp_path / "file" / "below")
        observation = tool({"command": "plan", "task_list": TASKS})
        assert observation.is_error
        assert "Could not" in observation.text

    @given(
        st.lists(
            st.builds(
                TaskItem,
                title=st.text(alphabet=st.characters(exclude_categories=["Cs"])),
                status=st.sampled_from(["todo", "in_progress", "done"]),
            )
        )
    )
    def test_every_list_comes_back(self, tmp_path_factory, tasks):
        """What is kept is what was planned, whatever the titles."""
        directory = tmp_path_factory.mktemp("tasks")
        tracker(directory)(TaskTrackerAction(command="plan", task_list=tasks))
        assert tracker(directory)({}).task_list == tasks


class TestShown:
    def test_checklist(self):
        """A person sees the tasks; markup in them is text."""
        tasks = [
            TaskItem(title="[red]x[/]", notes="a\nb"),
            TaskItem(title="y", status="done"),
        ]
        observation = TaskTrackerObservation(command="view", task_list=tasks)
        console = Console(width=60, color_system=None)
        with console.capture() as capture:
            console.print(observation.visualize)
            console.print(TaskTrackerAction(command="plan", task_list=tasks).visualize)
            console.print(TaskTrackerAction().visualize)
        checklist = ["⏳ 1. [red]x[/]", "      a", "      b", "✅ 2. y"]
        assert [line.rstrip() for line in capture.get().splitlines()] == [
            "2 tasks: 1 done, 1 to do",
            *checklist,
            "Plan",
            *checklist,
            "View the task list",
        ]
