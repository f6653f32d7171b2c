"""How a terminal is made: for a conversation, with the parameters of the reference."""

import re
from getpass import getuser
from shutil import which

import pytest

from toolbench import ConversationState, run_tool
from toolbench.tools.terminal import (
    BashTool,
    TerminalAction,
    TerminalObservation,
    TerminalTool,
)


class TestTool:
    def test_is_made_for_a_conversation(self, tmp_path):
        """It starts in the working directory and keeps outputs under the other one."""
        state = ConversationState(tmp_path, persistence_dir=tmp_path / "state")
        [tool] = TerminalTool.create(state)
        with tool.executor:
            result = run_tool(tool, command="pwd; seq 1 20000")
            assert isinstance(result, TerminalObservation)
            assert result.text.startswith(str(tmp_path))
            assert list((tmp_path / "state" / "terminal").iterdir())
        assert tool.name == "terminal"
        assert str(tmp_path) in tool.description

    def test_takes_the_directory_as_the_seeds_give_it(self, tmp_path):
        """`BashTool.create(working_dir=...)` is the same tool under its old name."""
        [tool] = BashTool.create(working_dir=tmp_path)
        with tool.executor:
            assert tool({"command": "pwd"}).text == str(tmp_path)

    # Never made
    @pytest.mark.filterwarnings("ignore:.*without close:ResourceWarning")
    def test_refuses_options_it_does_not_know(self):
        """A misspelt option is no option."""
        with pytest.raises(TypeError, match="workingdir"):
            TerminalTool.create(workingdir="/")

    @pytest.mark.parametrize(
        "parameters",
        [
            {"username": None, "terminal_type": None, "shell_path": None},
            {"username": getuser(), "terminal_type": "subprocess"},
            {"shell_path": which("bash"), "no_change_timeout_seconds": None},
        ],
    )
    def test_takes_what_the_reference_takes(self, tmp_path, parameters):
        """Its parameters work where they say what is so anyway, or what can be done."""
        [tool] = TerminalTool.create(ConversationState(tmp_path), **parameters)
        with tool.executor:
            assert tool({"command": "echo hi"}).text == "hi"

    @pytest.mark.parametrize(
        ("parameters", "sentence"),
        [
            ({"username": "somebody"}, "not as 'somebody': leave username out"),
            ({"terminal_type": "tmux"}, "'tmux' is not supported"),
            ({"shell_path": "/nowhere/bash"}, "'/nowhere/bash' is not a program"),
            ({"env": {"PORT": 8080}}, "PORT is text, not an int: write it in quotes"),
            ({"no_change_timeout_seconds": -1}, "-1 is not a number of seconds"),
            (
                {"no_change_timeout_seconds": float("nan")},
                "nan is not a number of seconds",
            ),
            (
                {"no_change_timeout_seconds": float("inf")},
                "inf is not a number of seconds",
            ),
        ],
    )
    # Never made
    @pytest.mark.filterwarnings("ignore:.*without close:ResourceWarning")
    def test_refuses_what_it_cannot_do_in_a_sentence(self, parameters, sentence):
        """What cannot work is said when the tool is made, not when it first runs."""
        with pytest.raises(ValueError, match=re.escape(sentence)):
            TerminalTool.create(None, **parameters)

    @pytest.mark.parametrize(
        ("parameters", "reason"),
        [({"shell_path": which("ls")}, "did not start"), ({"env": {"A": "x\0y"}}, "null byte")],
    )
    def test_tells_why_no_shell_starts(self, parameters, reason):
        """Another program than bash, or what no variable can hold, is told with the first command."""
        [tool] = TerminalTool.create(**parameters)
        with tool.executor:
            observation = tool({"command": "true"})
        assert observation.is_error
        assert observation.text.startswith("No shell could be started in")
        assert reason in observation.text

    def test_waits_however_long_it_may(self, tmp_path):
        """More seconds than the system's clock has are a very long time, and no error."""
        [tool] = TerminalTool.create(working_dir=tmp_path)
        with tool.executor:
            assert tool({"command": "sleep 0.01; echo hi", "timeout": 1e300}).text == "hi"

    def test_declares_its_shell(self):
        """Calls side by side take turns: one shell runs one command at a time."""
        [tool] = TerminalTool.create()
        with tool.executor:
            resources = tool.declared_resources(TerminalAction(command="ls"))
        assert resources.keys == ("terminal:session",)
        assert resources.declared

    def test_is_usable_where_there_is_bash(self, monkeypatch):
        """Without bash it says what is missing."""
        assert TerminalTool.is_usable()
        monkeypatch.setenv("PATH", "/nowhere")
        assert "bash" in str(TerminalTool.is_usable())
