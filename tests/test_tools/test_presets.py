"""The runtime tools together: their names, old and new, and the sets they come in."""

import json
import subprocess
import sys

import pytest

import toolbench.tools as tools
from toolbench.core.declarations import Unusable
from toolbench.core.registry import ToolRegistry
from toolbench.core.state import ConversationState
from toolbench.tools.file_editor import FileEditorAction
from toolbench.tools.presets import default_tools, register_default_tools
from toolbench.tools.terminal import TerminalAction
from toolbench.tools.web_read import WebReadTool

OURS = ["file_editor", "task_tracker", "glob", "grep", "apply_patch"]


class TestNames:
    def test_importing_costs_nothing(self):
        """The package imports no tool, and a tool does not import its implementation."""
        code = (
            "import sys, toolbench.tools as t; a = set(sys.modules); "
            "t.FileEditorTool, t.TaskTrackerTool, t.GlobTool, t.GrepTool, t.ApplyPatchTool; "
            "print([m for m in a if m.startswith('toolbench.tools.')], "
            "[m for m in sys.modules if m.endswith('.impl')])"
        )
        command = [sys.executable, "-c", code]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert output == "[] []\n"

    def test_older_names(self):
        """The names of the seeds are the same objects."""
        assert tools.BashTool is tools.TerminalTool
        assert tools.ExecuteBashAction is TerminalAction
        assert tools.StrReplaceEditorAction is FileEditorAction
        assert tools.StrReplaceEditorTool is tools.FileEditorTool

    def test_tool_that_waits_for_an_executor(self):
        """`execute_bash_tool.set_executor(...)` makes a tool of one's own executor."""
        assert tools.execute_bash_tool.executor is None
        mine = tools.execute_bash_tool.set_executor(lambda action: action.command)
        assert mine({"command": "hello"}).text == "hello"

    def test_unknown_names(self):
        """Other names are unknown, and all names are listed."""
        with pytest.raises(AttributeError, match="has no attribute 'x'"):
            tools.x  # noqa: B018 - asking is the test
        assert set(tools.__all__) <= set(dir(tools))
        assert sorted(tools.__all__) == sorted(set(tools.__all__))

    @pytest.mark.parametrize("name", OURS)
    def test_packages_know_their_names(self, name):
        """A package exports what it says, and nothing else."""
        package = __import__(f"toolbench.tools.{name}", fromlist=["x"])
        for public in package.__all__:
            assert getattr(package, public)
        with pytest.raises(AttributeError, match="has no attribute 'x'"):
            package.x  # noqa: B018 - asking is the test


class TestSets:
    def test_register(self):
        """What can work here is registered under its own name."""
        registry = ToolRegistry()
        names = register_default_tools(registry)
        assert set(OURS) <= set(names)
        assert sorted(names) == list(registry)
        [tool] = registry.resolve("glob", ConversationState("/"))
        assert str(tool.executor.working_dir) == "/"

    @pytest.mark.parametrize(
        ("older", "name"),
        [
            ("BashTool", "terminal"),
            ("execute_bash", "terminal"),
            ("str_replace_editor", "file_editor"),
            ("StrReplaceEditorTool", "file_editor"),
            ("ipython", "execute_ipython_cell"),
            ("IPythonTool", "execute_ipython_cell"),
            ("GlobTool", "glob"),
        ],
    )
    def test_older_names_resolve(self, older, name):
        """The seeds' names resolve to the same recipe and are not listed beside it."""
        registry = ToolRegistry()
        register_default_tools(registry)
        assert registry.recipe(older) is registry.recipe(name)
        assert older in registry
        assert older not in list(registry)
        registry.unregister(name)
        assert older not in registry

    def test_own_names_go_first(self):
        """A tool of one's own that is called what another's alias is, is meant."""
        registry = ToolRegistry()
        mine = tools.execute_bash_tool.set_executor(lambda action: action.command)
        registry.register("execute_bash", mine)
        register_default_tools(registry)
        assert registry.resolve("execute_bash") == [mine]
        assert "execute_bash" in list(registry)

    def test_unusable_ones_are_not_registered(self, monkeypatch):
        """What cannot work here is left out."""
        monkeypatch.setattr(WebReadTool, "is_usable", lambda: Unusable("no"))
        assert "web_read" not in register_default_tools(ToolRegistry())

    def test_default_tools(self, tmp_path):
        """A set is made for a conversation; each tool can be left out or added."""
        state = ConversationState(tmp_path, persistence_dir=tmp_path / "kept")
        off = dict.fromkeys(["terminal", "ipython", "think"], False)
        tools = default_tools(state, apply_patch=True, **off)
        assert [tool.name for tool in tools] == [*OURS, "finish"]
        tools[1]({"command": "plan", "task_list": [{"title": "t"}]})
        assert (tmp_path / "kept" / "TASKS.json").exists()

    def test_wanted_but_unusable(self, monkeypatch):
        """A tool that cannot work is left out with the reason, and the others are made."""
        monkeypatch.setattr(WebReadTool, "is_usable", lambda: Unusable("It rains."))
        off = dict.fromkeys(["terminal", "ipython"], False)
        with pytest.warns(UserWarning, match="web_read is left out: It rains."):
            tools = default_tools(web_read=True, **off)
        assert "web_read" not in [tool.name for tool in tools]

    @pytest.mark.parametrize("name", OURS)
    def test_every_export_is_json(self, name, tmp_path):
        """Each tool can be described to a model in every format."""
        registry = ToolRegistry()
        register_default_tools(registry)
        [tool] = registry.resolve(name, ConversationState(tmp_path))
        for exported in (
            tool.to_openai_tool(),
            tool.to_responses_tool(),
            tool.to_mcp_tool(),
        ):
            assert json.loads(json.dumps(exported))["type" if "type" in exported else "name"]
        assert tool.title[0].isupper()
        assert "Example" in tool.description or "*** Begin Patch" in tool.description
