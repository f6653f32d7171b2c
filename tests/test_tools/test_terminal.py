import os
import threading

import psutil
import pytest
from patience import PATIENCE, eventually, join
from pydantic import ValidationError
from rich.console import Console

from test_tools.terminal_parts import Terminal
from toolbench.tools.terminal import (
    TerminalAction,
)
from toolbench.tools.terminal.pty_shell import PtyShell


@pytest.fixture(name="terminal")
def _terminal(tmp_path):
    with Terminal(tmp_path, full_output_save_dir=tmp_path / "kept") as executor:
        yield executor


class TestCommands:
    def test_give_output_exit_code_and_directory(self, terminal, tmp_path):
        """A command that ended says what it printed, how it ended, and where that left it."""
        result = terminal.run("echo out; echo err >&2; false")
        assert result.text == "out\nerr"
        assert result.exit_code == result.metadata.exit_code == 1
        assert result.metadata.working_dir == str(tmp_path)
        assert (result.timeout, result.is_error) == (False, False)

    def test_leave_directory_variables_and_functions_to_the_next(self, terminal, tmp_path):
        """The shell stays: what one command sets, the next one finds."""
        terminal.run("mkdir sub; cd sub; export A='1 2'; b=3; f() { echo f$1; }; umask 077")
        result = terminal.run('echo "$A" $b; f x; umask')
        assert result.text == "1 2 3\nfx\n0077"
        assert result.metadata.working_dir == str(tmp_path / "sub")

    def test_may_have_many_lines(self, terminal):
        """Loops, heredocs and quotes over several lines run as they stand."""
        result = terminal.run(
            "for i in 1 2\ndo\n  echo \"$i it's\"\ndone\ncat <<'END'\n$raw\n\n  'text'\nEND\n"
        )
        assert result.text == "1 it's\n2 it's\n$raw\n\n  'text'"

    def test_with_windows_line_ends_are_read_as_meant(self, terminal):
        """CRLF in a command is a line end, not part of a word."""
        assert terminal.run("echo a\r\necho b\r\n").text == "a\nb"

    @pytest.mark.parametrize("broken", ["echo 'a", "if true; then", "echo )", "f() {"])
    def test_that_are_no_bash_say_so_and_harm_nothing(self, terminal, broken):
        """A syntax error is the command's, not the shell's."""
        assert terminal.run(broken).exit_code == 2
        assert terminal.run("echo fine").text == "fine"

    def test_show_no_echo_no_prompt_and_no_colours_by_themselves(self, terminal):
        """The output is what the program printed, though it was colourful and typed at."""
        terminal.run("read -p 'name? ' n; printf '\\033[31m%s\\033[0m\\n' $n", timeout=0)
        result = terminal.type("Ada")
        assert result.text.removeprefix("name? ") == "Ada"
        assert terminal.run("PS1='(venv) '; PS2=more").text == ""

    def test_leave_options_that_trace_or_check_bearable(self, terminal):
        """`set -x`, `-u` and a lost stdout neither confuse nor end the shell."""
        assert terminal.run("set -xu; echo hi").text == "++ echo hi\nhi"
        terminal.run("set +xu; exec 3>&1 >/dev/null")
        assert terminal.run("echo lost").text == ""
        assert terminal.run("exec >&3; echo back").text == "back"

    def test_see_the_environment_they_were_given(self, tmp_path):
        """Variables of the executor are there beside those of this process."""
        with Terminal(tmp_path, env={"GREETING": "hello"}) as terminal:
            assert terminal.run("echo $GREETING $TERM ${HOME:+home}").text == "hello dumb home"

    def test_say_which_python_the_shell_would_start(self, terminal, tmp_path):
        """A `python` put first on the PATH is the one in the metadata."""
        terminal.run("mkdir bin; printf '#!/bin/sh\\n' > bin/python; chmod +x bin/python")
        result = terminal.run("PATH=$PWD/bin:$PATH")
        assert result.metadata.py_interpreter_path == str(tmp_path / "bin" / "python")


class TestUnfinished:
    def test_stay_attached_until_they_end(self, terminal, tmp_path):
        """A command that outlives its timeout is waited on by an empty command."""
        os.mkfifo(fifo := tmp_path / "go")
        first = terminal.run("echo a; cat go; echo b; (exit 7)", timeout=0)
        assert (first.exit_code, first.timeout) == (-1, True)
        assert terminal.until("a", first) == "a"
        assert terminal.run("", timeout=0).exit_code == -1
        fifo.write_text("word\n")
        last = terminal.run("", timeout=PATIENCE)
        assert (last.text, last.exit_code, last.timeout) == ("word\nb", 7, False)
        assert "cat go" in last.metadata.prefix

    def test_are_told_of_though_they_ended_between_calls(self, terminal, tmp_path):
        """The end of a command is told once: to the next wait, or beside the next command."""
        for ask, note in (
            ("", "last\n[Exit code 5"),
            ("echo new", "ended meanwhile with exit code 5.]\nlast"),
        ):
            os.mkfifo(tmp_path / "go")
            first = terminal.run("cat go; (echo last; exit 5)", timeout=0)
            assert first.exit_code == -1
            (tmp_path / "go").write_text("")
            eventually(lambda: terminal._shell.settled)
            result = terminal.run(ask)
            assert note in "".join(block.text for block in result.to_llm_content)
            assert result.exit_code == (0 if ask else 5)
            assert "Nothing is running" in terminal.run("").text
            (tmp_path / "go").unlink()

    def test_give_up_after_silence(self, tmp_path):
        """Without a timeout a call returns when nothing has been printed for a while."""
        with Terminal(tmp_path, no_change_timeout_seconds=0.1) as terminal:
            result = terminal.run("echo a; cat")
            assert (result.exit_code, result.timeout) == (-1, True)
            assert "silent for 0.1 s" in result.metadata.suffix
            assert terminal.until("a", result) == "a"

    def test_that_show_a_prompt_return_early(self, terminal):
        """A line left open is taken for a question long before the silence is over."""
        result = terminal.run("read -p 'sure? ' answer; echo $answer")
        assert (result.text, result.exit_code, result.timeout) == ("sure? ", -1, False)
        assert terminal.type("yes").text == "yes"

    def test_show_a_prompt_that_came_before_anybody_waited(self, terminal, monkeypatch):
        """However late the wait begins, what came since the command was sent counts."""
        wait = PtyShell.wait

        def late(shell, **options):
            eventually(lambda: shell.settled or b"? " in shell.output.last)
            return wait(shell, **options)

        terminal.run("true")
        monkeypatch.setattr(PtyShell, "wait", late)
        result = terminal.run("read -p 'sure? ' answer; echo $answer")
        assert (result.text, result.timeout) == ("sure? ", False)

    @pytest.mark.parametrize("command", ["cat go; echo done", "printf 'go: '; cat go"])
    def test_with_a_timeout_are_waited_for_in_silence(self, tmp_path, command):
        """A `timeout` is the only limit: neither silence nor an open line ends the wait."""
        with Terminal(tmp_path, no_change_timeout_seconds=0.1) as terminal:
            os.mkfifo(tmp_path / "go")
            go = threading.Timer(2.0, (tmp_path / "go").write_text, ["word\n"])
            go.start()
            result = terminal.run(command, timeout=PATIENCE)
            join(go)
        assert (result.exit_code, result.timeout) == (0, False)
        assert "word" in result.text

    def test_refuse_another_command(self, terminal):
        """Nothing is typed at a program by mistake."""
        terminal.run("cat", timeout=0)
        refused = terminal.run("rm -rf /nowhere")
        assert refused.is_error
        assert "'cat' is still running" in refused.text
        assert terminal.run("C-d").text == ""

    def test_take_text_and_keys(self, terminal):
        """Text comes with Enter, C-d ends the input, C-c interrupts."""
        terminal.run("cat; echo ended", timeout=0)
        assert terminal.until("hello", terminal.type("hello", timeout=0)) == "hello"
        assert terminal.type("C-d").text == "ended"
        terminal.run("sleep 1000", timeout=0)
        eventually(lambda: terminal.program == "sleep")
        running = terminal.run("", timeout=0)
        assert psutil.Process(running.metadata.pid).name() == "sleep"
        assert terminal.type("C-c").exit_code == 130
        terminal.run("while :; do :; done", timeout=0)
        assert terminal.run("C-c").exit_code == 130
        assert terminal.run("echo alive").text == "alive"

    def test_can_be_suspended_and_taken_up(self, terminal):
        """C-z stops a command, `jobs` lists it, `fg` goes on with it."""
        terminal.run("cat", timeout=0)
        eventually(lambda: terminal.program == "cat")
        stopped = terminal.type("C-z")
        assert stopped.exit_code > 128
        assert "Stopped" in stopped.text
        assert "cat" in terminal.run("jobs").text
        terminal.run("fg", timeout=0)
        terminal.until("word", terminal.type("word", timeout=0))
        assert terminal.type("C-d").exit_code == 0

    def test_input_for_nobody_is_refused_and_never_run(self, terminal, tmp_path):
        """What is typed cannot become a command, neither now nor later."""
        for attempt in (terminal.type("touch typed"), terminal.run("C-c")):
            assert attempt.is_error
            assert "Nothing is running" in attempt.text
        terminal.run("sleep 0.2", timeout=0)
        terminal.type("touch typed")
        assert terminal.run("read -t 0.01 x; echo [$x]").text == "[]"
        assert not (tmp_path / "typed").exists()


class TestTheShell:
    def test_that_exits_gives_its_code_and_is_replaced(self, terminal, tmp_path):
        """`exit 3` gives 3 at once; the next command has a new shell, where it began."""
        terminal.run("cd /; x=1")
        result = terminal.run("exit 3")
        assert (result.exit_code, result.is_error) == (3, False)
        assert "ended with exit code 3" in result.metadata.suffix
        assert terminal.run("pwd; echo [$x]").text == f"{tmp_path}\n[]"

    def test_is_new_after_a_reset(self, terminal, tmp_path):
        """Reset ends what runs, forgets what was set, and may come with a command."""
        terminal.run("x=1; cd /; cat", timeout=0)
        result = terminal.run("pwd; echo [$x]", reset=True)
        assert result.text == f"{tmp_path}\n[]"

    @pytest.mark.parametrize("command", ["", "echo hi"])
    def test_says_that_it_was_reset(self, terminal, command):
        """A model reads that what ran has ended, with a command and without."""
        terminal.run("cat", timeout=0)
        result = terminal.run(command, reset=True)
        assert not result.is_error
        text = "".join(block.text for block in result.to_llm_content)
        assert "The shell was reset: all it ran has ended. This is a new one." in text

    def test_is_reset_by_blanks_as_by_nothing(self, terminal):
        """They are no command that could be refused."""
        terminal.run("x=1")
        assert "The shell was reset" in terminal.run(" \n", reset=True).text
        assert terminal.run("echo [$x]").text == "[]"

    def test_cannot_be_reset_and_typed_at(self):
        """The two together mean nothing."""
        with pytest.raises(ValidationError, match="nothing to type at"):
            TerminalAction(command="x", is_input=True, reset=True)

    def test_shows_what_background_jobs_printed_since(self, terminal, tmp_path):
        """Their output comes with the next call and says where it is from."""
        started = terminal.run("(echo one; echo two; touch done) &")
        assert started.exit_code == 0
        assert started.metadata.pid > 0
        eventually((tmp_path / "done").exists)
        later = terminal.run("echo three")
        text = started.text + "\n" + later.metadata.prefix + "\n" + later.text
        assert {"one", "two", "three"} <= set(text.split())

    def test_tells_the_sentence_where_it_cannot_start(self, tmp_path):
        """A directory that is not there is an observation, not an exception."""
        with Terminal(tmp_path / "nowhere") as terminal:
            result = terminal.run("pwd")
        assert result.is_error
        assert "No shell could be started" in result.text

    def test_is_gone_after_close(self, tmp_path):
        """A closed terminal says so; closing twice is fine."""
        terminal = Terminal(tmp_path)
        terminal.run("true")
        terminal.close()
        terminal.close()
        assert "closed" in terminal.run("true").text


class TestLongOutput:
    def test_keeps_both_ends_and_the_whole_in_a_file(self, terminal, tmp_path):
        """A model sees the first and last lines; the file has every one of them."""
        result = terminal.run("seq 1 100000")
        assert result.text.startswith("1\n2\n")
        assert result.text.endswith("99999\n100000")
        assert len(result.text) < 31_000
        [file] = (tmp_path / "kept").iterdir()
        assert str(file) in result.text
        assert result.full_output_save_dir == str(tmp_path / "kept")
        whole = "".join(f"{n}\n" for n in range(1, 100001)).encode()
        assert file.read_bytes() == whole

    def test_says_why_the_whole_is_not_kept(self, terminal, tmp_path):
        """A model learns that there is no file, and what to do about it."""
        (tmp_path / "kept").write_text("a file in its place")
        text = terminal.run("seq 1 100000").text
        assert "are left out here. Could not keep all of it in" in text

    def test_leaves_no_file_for_a_short_one(self, terminal, tmp_path):
        """Nothing is written where nothing was left out."""
        terminal.run("seq 1 100")
        assert not (tmp_path / "kept").exists()


def rendered(renderable) -> str:
    console = Console(width=60, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get()


class TestWhatIsShown:
    def test_never_reads_output_as_markup(self, terminal):
        """Square brackets in output are square brackets."""
        result = terminal.run("echo '[bold]not bold[/bold] [/oops]'")
        assert "[bold]not bold[/bold] [/oops]" in rendered(result.visualize)
        action = TerminalAction(command="echo [red]")
        assert rendered(action.visualize) == "$ echo [red]\n"

    def test_tells_a_model_and_a_person_how_it_ended(self, terminal, tmp_path):
        """Exit code and directory stand after the output."""
        result = terminal.run("echo out; false")
        text = "".join(block.text for block in result.to_llm_content)
        assert text == f"out\n[Exit code 1 in {tmp_path}]"
        assert result.visualize.plain == text
