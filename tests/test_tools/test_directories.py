"""The directories tools are made with."""

import os

import pytest

from toolbench.core.state import ConversationState
from toolbench.tools import (
    ApplyPatchTool,
    FileEditorTool,
    GlobTool,
    GrepTool,
    TaskTrackerTool,
    TerminalTool,
)

OPTIONS = [
    (FileEditorTool, "workspace_root"),
    (ApplyPatchTool, "workspace_root"),
    (TaskTrackerTool, "save_dir"),
    (GlobTool, "working_dir"),
    (GrepTool, "working_dir"),
]
NO_PATHS = {"NUL": "/tmp/a\0b", "half a character": "/tmp/a\ud800b"}


@pytest.mark.parametrize("path", NO_PATHS.values(), ids=NO_PATHS)
@pytest.mark.parametrize(("tool_class", "option"), OPTIONS)
def test_one_that_can_be_no_path_is_named(tool_class, option, path):
    """Where a tool is made, one sentence names the value; it is Unicode, so it can be shown."""
    with pytest.raises(ValueError, match="is not a valid directory") as caught:
        tool_class.create(**{option: path})
    assert type(caught.value) is ValueError
    assert repr(path) in str(caught.value)
    str(caught.value).encode()


@pytest.mark.parametrize("path", NO_PATHS.values(), ids=NO_PATHS)
@pytest.mark.parametrize("tool_class", [FileEditorTool, ApplyPatchTool])
def test_so_is_that_of_a_conversation(tool_class, path):
    """A conversation may name such a directory too."""
    with pytest.raises(ValueError, match="is not a valid directory"):
        tool_class.create(ConversationState(path))


def test_bytes_that_are_no_unicode_are_a_path(tmp_path):
    """A file system takes any bytes but NUL."""
    directory = tmp_path / os.fsdecode(b"\xff")
    directory.mkdir()
    [tool] = TaskTrackerTool.create(save_dir=directory)
    tool({"command": "plan", "task_list": [{"title": "task"}]})
    assert (directory / "TASKS.json").is_file()


def test_a_directory_is_no_markup(tmp_path):
    """Descriptions are Markdown: a random name such as `_x7_` must not lose its underscores."""
    place = tmp_path / "_x7_"
    place.mkdir()
    state = ConversationState(place)
    tools = [
        tool for kind in (FileEditorTool, GlobTool, TerminalTool) for tool in kind.create(state)
    ]
    tools += FileEditorTool.create(state, workspace_root=place)
    for tool in tools:
        assert f"`{place}`" in tool.description
        tool.executor.close()
