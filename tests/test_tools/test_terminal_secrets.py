"""Secrets of a conversation reach the commands that name them, and show nowhere."""

from hashlib import sha256

import pytest
from patience import PATIENCE

from test_tools.terminal_parts import Terminal
from toolbench import Conversation, ConversationState, history, run_tool
from toolbench.runs.history import Journal
from toolbench.tools.terminal import TerminalAction, TerminalTool
from toolbench.tools.terminal.screen_text import clean


@pytest.fixture(name="terminal")
def _terminal(tmp_path):
    with Terminal(tmp_path, full_output_save_dir=tmp_path / "kept") as executor:
        yield executor


SECRET = "s3cr3t-value-123"


class TestSecrets:
    @pytest.fixture(name="conversation")
    def _conversation(self):
        return Conversation(
            ConversationState(secrets={"API_KEY": SECRET, "OTHER": "another value"})
        )

    @pytest.mark.parametrize(
        "command",
        ["echo ${#API_KEY}", "sh -c 'echo ${#API_KEY}'", "printenv API_KEY | wc -L"],
    )
    def test_reach_the_command_that_names_them(self, terminal, conversation, command):
        """A secret of the conversation is a variable, in the shell and in its programs."""
        result = terminal(TerminalAction(command=command), conversation)
        assert result.text == str(len(SECRET))

    def test_reach_no_other_command(self, terminal, conversation):
        """A secret nobody names, or whose name is only part of a word, stays where it is."""
        command = "env | grep -c -e another -e s3cr3t; echo MY_API_KEY"
        result = terminal(TerminalAction(command=command), conversation)
        assert result.text == "0\nMY_API_KEY"

    def test_show_in_no_output_from_then_on(self, terminal, conversation, tmp_path):
        """Not when they come in pieces, not in a later call, not in the file, not under `-x`."""
        first = terminal(
            TerminalAction(
                command="set -x; echo [$API_KEY]; printf %s ${API_KEY:0:5}; sleep 0.1;"
                "echo ${API_KEY:5}; set +x"
            ),
            conversation,
        )
        assert first.text.count("<secret-hidden>") >= 2
        later = terminal.run("echo $API_KEY; seq 1 20000; env")
        [file] = (tmp_path / "kept").iterdir()
        for text in (str(first), str(later), file.read_text()):
            assert SECRET not in text
        assert later.text.startswith("<secret-hidden>\n1\n2\n")

    def test_may_be_those_of_the_state_the_tool_was_made_for(self, tmp_path):
        """Also where a call has no conversation, as in a cell."""
        state = ConversationState(tmp_path, secrets={"API_KEY": SECRET})
        [tool] = TerminalTool.create(state)
        with tool.executor:
            assert tool({"command": "echo =$API_KEY="}).text == "=<secret-hidden>="

    @pytest.mark.parametrize("in_conversation", [True, False])
    def test_show_in_nothing_else_the_terminal_says(self, tmp_path, in_conversation):
        """Not in directories, the command, prefixes, errors, the history and its file.

        It is the terminal that hides them: a run without a conversation knows none.
        """
        state = ConversationState(tmp_path, secrets={"API_KEY": SECRET})
        conversation = Conversation(state) if in_conversation else None
        journal = Journal(tmp_path / "journal.ndjson")
        [tool] = TerminalTool.create(state)
        with tool.executor as executor:
            for action in (
                TerminalAction(command='mkdir "$API_KEY"'),
                TerminalAction(command='cd "$API_KEY"'),
                TerminalAction(command=f"cat # {SECRET}", timeout=0),
                TerminalAction(command="ls"),
                TerminalAction(command="word", is_input=True, timeout=0),
                TerminalAction(command="C-d"),
                TerminalAction(command=f"\0 {SECRET}"),
            ):
                observation = executor(action, conversation)
                assert (
                    SECRET
                    not in f"{observation!r} {observation.to_dict()} {observation.to_llm_content}"
                )
            observation = executor(TerminalAction(command="pwd"), conversation)
            assert observation.text == f"{tmp_path}/<secret-hidden>"
            assert observation.metadata.working_dir == f"{tmp_path}/<secret-hidden>"
            run_tool(tool, {"command": "pwd"}, conversation)
        journal.write(history()[-1])
        saved = (tmp_path / "journal.ndjson").read_text() + history().to_json()
        assert "<secret-hidden>" in saved
        assert SECRET not in saved

    def test_show_in_no_error(self, tmp_path):
        """A shell that cannot start names a directory, and no secret in it."""
        with Terminal(tmp_path / SECRET, secrets={"API_KEY": SECRET}) as terminal:
            failed = terminal.run("pwd")
        assert failed.text.startswith("No shell could be started in")
        assert SECRET not in str(failed.to_dict())

    @pytest.mark.parametrize("between", ["\\033[31m", "\\033[1;31m\\033[K"])
    def test_show_neither_on_the_screen_nor_in_the_file_past_colours(self, tmp_path, between):
        """A secret counts with colours between its characters."""
        folder = tmp_path / "kept"
        with Terminal(
            tmp_path, secrets={"API_KEY": SECRET}, full_output_save_dir=folder
        ) as terminal:
            observation = terminal.run(
                f"printf '%s{between}%s\\n' ${{API_KEY:0:7}} ${{API_KEY:7}}; seq 20000"
            )
        [file] = folder.iterdir()
        for text in (observation.text, clean(file.read_bytes())):
            assert text.startswith("<secret-hidden>\n1\n2\n")

    def test_show_not_where_the_screen_puts_them_together(self, tmp_path):
        """What was overwritten leaves a secret, which is hidden."""
        with Terminal(tmp_path, secrets={"API_KEY": SECRET}) as terminal:
            observation = terminal.run(
                "printf '%sX\\b%s\\n' ${API_KEY:0:7} ${API_KEY:7}", timeout=PATIENCE
            )
        assert observation.text == "<secret-hidden>"

    def test_may_be_short(self, tmp_path):
        """One of a digit is hidden too, and the marks of the shell stay what they are."""
        digits = {f"PIN_{digit}": digit for digit in "0123456789abcdef"}
        with Terminal(tmp_path, secrets=digits) as terminal:
            assert terminal.run("echo xyz; echo $PIN_7").text == "xyz\n<secret-hidden>"
            assert terminal.run("echo z").text == "z"

    def test_that_hold_a_quote_or_lines_arrive_whole(self, terminal):
        """Whatever the value, it is only a value."""
        value = 'it\'s $HOME `id` "two"\n-----lines-----\\'
        conversation = Conversation(ConversationState(secrets={"PEM": value}))
        command = 'printf %s "$PEM" | sha256sum'
        result = terminal(TerminalAction(command=command), conversation)
        assert result.text.split()[0] == sha256(value.encode()).hexdigest()

    def test_that_no_variable_can_hold_say_so(self, terminal):
        """The sentence names the secret and does not tell it."""
        conversation = Conversation(ConversationState(secrets={"PIN": "12\x0034"}))
        result = terminal(TerminalAction(command="echo $PIN"), conversation)
        assert result.is_error
        assert result.text == ("The secret PIN has a NUL, which no shell variable can have.")
