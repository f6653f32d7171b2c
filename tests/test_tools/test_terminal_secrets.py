"""Secrets of a conversation reach the commands that name them, and show nowhere."""

from hashlib import sha256

import pytest

from test_tools.terminal_parts import Terminal
from toolbench import Conversation, ConversationState
from toolbench.tools.terminal import TerminalAction, TerminalTool


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
        for seen in (str(first), str(later), file.read_text()):
            assert SECRET not in seen
        assert later.text.startswith("<secret-hidden>\n1\n2\n")

    def test_may_be_those_of_the_state_the_tool_was_made_for(self, tmp_path):
        """Also where a call has no conversation, as in a cell."""
        state = ConversationState(tmp_path, secrets={"API_KEY": SECRET})
        [tool] = TerminalTool.create(state)
        with tool.executor:
            assert tool({"command": "echo =$API_KEY="}).text == "=<secret-hidden>="

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
        assert result.text == (
            "The secret PIN holds a NUL, which no variable of a shell can."
        )
