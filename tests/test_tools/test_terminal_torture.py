import hashlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import pytest
from patience import PATIENCE, eventually, join
from test_widgets.tooling import finish

from test_tools.terminal_parts import Terminal, alive
from toolbench.tools.terminal import TerminalTool
from toolbench.widgets.panel import ToolPanel

# as `nohup` does: what is started ignores the hang-up of a terminal
WITHOUT_HANG_UPS = ("sh", "-c", 'trap "" HUP; exec "$@"', "sh")


@pytest.fixture(name="terminal")
def _terminal(tmp_path):
    with Terminal(tmp_path, full_output_save_dir=tmp_path / "kept") as executor:
        yield executor


class TestOutput:
    def test_may_be_binary(self, terminal, tmp_path):
        """Every byte there is comes back as text, and untouched in the file."""
        (tmp_path / "bytes").write_bytes(bytes(range(256)) * 400)
        result = terminal.run("cat bytes; echo; echo end")
        assert result.exit_code == 0
        assert result.text.endswith("end")
        assert "\0" not in result.text
        [file] = (tmp_path / "kept").iterdir()
        assert file.read_bytes().startswith(bytes(range(256)) * 400)

    def test_may_be_no_utf8_and_hold_nuls(self, terminal):
        """What is no text is replaced, the rest stays."""
        assert terminal.run("printf 'a\\0b\\xffc\\xc3\\n'").text == "ab\ufffdc\ufffd"

    @pytest.mark.slow
    def test_may_be_many_megabytes(self, tmp_path):
        """The memory it takes is bounded, and both ends are right."""
        with Terminal(tmp_path) as terminal:
            result = terminal.run("echo first; yes | head -c 20000000; echo last")
        assert result.text.startswith("first\ny\n")
        assert result.text.endswith("y\nlast")
        assert len(result.text) < 31_000

    def test_may_be_one_endless_line(self, terminal):
        """A million characters without a line end are cut as well."""
        result = terminal.run("head -c 1000000 /dev/zero | tr '\\0' x; echo")
        assert 29_000 < len(result.text) < 31_000

    def test_may_look_like_our_own_marks(self, terminal):
        """A program cannot end the wait by printing what ends it for another."""
        fake = "printf '\\0360123456789abcdef\\036'"
        assert terminal.run(f"{fake}; sleep 0.1; echo real").text == "real"

    def test_comes_whole_however_fast_the_command_ends(self, terminal):
        """No output is lost between the last byte and the news of the end."""
        for size in (1, 4095, 4096, 4097, 20_000):
            assert terminal.run(f"printf '%0{size}d' 1").text == f"{1:0{size}d}"


class TestCommands:
    def test_may_be_long(self, terminal):
        """A command of 300 kB is not cut."""
        word = "x" * 300_000
        assert terminal.run(f"printf %s {word} | wc -c").text.strip() == "300000"

    def test_may_be_long_and_of_many_lines(self, terminal):
        """A heredoc of 10,000 lines arrives as it was written."""
        lines = "".join(f"line {n} 'quoted' $no\n" for n in range(10_000))
        result = terminal.run(f"cat <<'END' | sha256sum\n{lines}END")
        assert result.text.split()[0] == hashlib.sha256(lines.encode()).hexdigest()

    def test_with_a_nul_are_refused(self, terminal):
        """Bash would drop it without a word."""
        result = terminal.run("echo a\0b")
        assert result.is_error
        assert "NUL" in result.text

    def test_with_half_a_character_are_refused(self, terminal):
        """What cannot be sent changes nothing: neither as a command nor typed at one."""
        for observation in (terminal.run("echo \ud800"), terminal.run("echo next")):
            assert observation.command.isascii()
        assert observation.text == "next"
        terminal.run("read line; echo got $line", timeout=0.2)
        refused = terminal.type("\ud800")
        assert refused.is_error
        assert "'\\ud800', which is half a character" in refused.text
        assert terminal.type("all").text.endswith("got all")

    def test_that_read_get_nothing_of_what_was_not_typed_at_them(self, terminal):
        """The shell's own orders do not come out of a program's standard input."""
        terminal.run("cat; echo over", timeout=0.2)
        assert terminal.type("C-d").text == "over"

    def test_work_in_a_deleted_directory(self, terminal, tmp_path):
        """The shell lives on and can leave."""
        result = terminal.run("mkdir gone; cd gone; rmdir ../gone; pwd; ls; echo ok")
        assert result.text.endswith("ok")
        assert terminal.run("cd ..; cd /; pwd").text == "/"

    def test_may_close_and_move_every_stream_they_know(self, terminal):
        """No redirection takes the shell from us."""
        terminal.run("exec </dev/null 2>/dev/null; for n in {3..20}; do exec {n}<&-; done")
        assert terminal.run("echo still").text == "still"

    @pytest.mark.parametrize(
        "setting",
        [
            "PROMPT_COMMAND='history -a; echo P'; PS1='\\u> '; PS2='two '; PS0='zero '; PS4='four '",
            "PROMPT_COMMAND=('echo one' 'echo two >&2'); readonly PROMPT_COMMAND PS1='> ' PS0=z",
            "trap : DEBUG; trap : ERR; set -o functrace",
            "enable -n echo printf trap type jobs export",
            "printf() { :; }; echo() { :; }; eval() { :; }; trap() { :; }; exec() { :; }",
            "alias printf=x echo=x eval=x trap=x exec=x builtin=x jobs=x if=x",
            "unset PWD PS1; set -u; set -o posix; ulimit -n 64",
            "set -v",
        ],
    )
    def test_see_nothing_of_how_the_shell_works(self, terminal, setting):
        """Whatever a command sets or switches off: outputs are the commands' own, and they end."""
        assert terminal.run(setting).text == ""
        waiting = terminal.run("cat", timeout=0)
        assert terminal.type("C-d").exit_code == 0
        result = terminal.run("/bin/echo hi; false")
        assert (waiting.exit_code, result.exit_code) == (-1, 1)
        # `set -v` shows a command before it runs
        shown = ["cat", "/bin/echo hi; false\n"] if setting == "set -v" else ["", ""]
        assert [waiting.text, result.text] == [shown[0], shown[1] + "hi"]

    @pytest.mark.slow
    def test_end_while_a_job_writes_without_end(self, terminal):
        """The job leaves room for the mark of each end."""
        terminal.run("yes & :")
        ends = [terminal.run("true", timeout=PATIENCE / 2).exit_code for _ in range(20)]
        assert ends == [0] * 20

    def test_run_traps_for_their_own_commands_only(self, terminal):
        """A DEBUG and an ERR trap are told of each command once, and of none of ours."""
        assert terminal.run("trap 'echo \"d '\\''\n\"' DEBUG; trap 'n=x$n' ERR").text == "d '"
        for failures in ("", "x"):
            assert terminal.run("echo $n").text == f"d '\n\n{failures}".rstrip()
            assert "d" in terminal.run("false").text
        assert terminal.run("trap - DEBUG ERR").text == "d '"
        assert terminal.run("false; echo $n").text == "xx"

    def test_may_set_any_trap_and_option(self, terminal):
        """Traps for errors and ends are the command's business."""
        terminal.run("trap 'echo trapped' ERR EXIT; set -o pipefail")
        assert "trapped" in terminal.run("false").text
        ended = terminal.run("set -e; false; echo never")
        assert ended.exit_code == 1
        assert "never" not in ended.text
        assert terminal.run("echo new").text == "new"


class TestLifeAndDeath:
    def test_a_killed_shell_is_replaced(self, terminal):
        """A kill -9 of the shell is its end with 137, not ours."""
        assert terminal.run("kill -9 $$").exit_code == 137
        assert terminal.run("echo new").text == "new"

    def test_close_leaves_nobody_behind(self, tmp_path):
        """Foreground, background, disowned and stubborn processes end with the terminal."""
        terminal = Terminal(tmp_path)
        started = terminal.run(
            "sleep 1001 & a=$!; nohup sleep 1002 >/dev/null 2>&1 & b=$!;"
            "(trap '' HUP TERM INT; sleep 1003) & c=$!; sleep 1004 & disown; echo $! $a $b $c"
        )
        pids = [int(pid) for pid in started.text.splitlines()[-1].split()]
        assert len(pids) == 4
        assert all(map(alive, pids))
        terminal.close()
        eventually(lambda: not any(map(alive, pids)))

    def test_exit_leaves_nobody_behind(self, terminal):
        """Background jobs of a shell that exits end with it."""
        pid = int(terminal.run("sleep 1001 & echo $!").text.splitlines()[-1])
        terminal.run("exit")
        eventually(lambda: not alive(pid))

    @pytest.mark.parametrize(
        ("start", "end"),
        [
            pytest.param((), signal.SIGKILL, id="killed"),
            pytest.param(WITHOUT_HANG_UPS, signal.SIGTERM, id="terminated under nohup"),
            # The guard ends what is left in the same way
            pytest.param((), signal.SIGTERM, id="terminated", marks=pytest.mark.long),
            pytest.param(WITHOUT_HANG_UPS, signal.SIGKILL, id="nohup", marks=pytest.mark.long),
        ],
    )
    def test_nobody_outlives_the_kernel(self, tmp_path, end, start):
        """A process that dies without a word takes its shells and their children along."""
        code = (
            "import sys, time\n"
            "from toolbench.tools.terminal import TerminalAction, TerminalExecutor\n"
            "t = TerminalExecutor(sys.argv[1])\n"
            "t(TerminalAction(command='sleep 1001 & echo $$ $! > pids'))\n"
            "t(TerminalAction(command='nohup sleep 1003 >/dev/null 2>&1 & echo $! >> pids'))\n"
            "t(TerminalAction(command='sh -c \"echo \\\\$\\\\$ >> pids; exec sleep 1002\"', timeout=0.2))\n"
            "print('ready', flush=True)\n"
            "time.sleep(100)\n"
        )
        with subprocess.Popen(
            [*start, sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE
        ) as kernel:
            assert kernel.stdout.readline() == b"ready\n"
            # The last command may not have begun when its call returned
            eventually(lambda: len((tmp_path / "pids").read_text().split()) == 4)
            pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
            assert all(map(alive, pids))
            os.kill(kernel.pid, end)
        eventually(lambda: not any(map(alive, pids)))

    def test_the_shell_outlives_the_thread_that_started_it(self, tmp_path):
        """A run's thread ends with the run; the shell is for the next one too."""
        with Terminal(tmp_path) as terminal:
            first = threading.Thread(target=terminal.run, args=("x=kept",))
            first.start()
            join(first)
            assert terminal.run("echo $x").text == "kept"

    def test_no_file_descriptor_is_left(self, tmp_path):
        """Opening and closing terminals leaks nothing."""

        def once() -> int:
            with Terminal(tmp_path) as terminal:
                terminal.run("exit 1")
                terminal.run("true")
            return len(list(Path("/dev/fd").iterdir()))

        assert once() == once()


class TestTwo:
    @pytest.mark.slow
    def test_never_mix(self, tmp_path):
        """Each has its own directory, variables and output, whatever the other does."""

        def work(name: str) -> list[str]:
            (tmp_path / name).mkdir()
            with Terminal(tmp_path / name) as terminal:
                terminal.run(f"me={name}")
                return [terminal.run(f"echo $me {n} $(basename $PWD)").text for n in range(30)]

        with ThreadPoolExecutor(4) as pool:
            results = dict(zip("abcd", pool.map(work, "abcd"), strict=True))
        assert results == {name: [f"{name} {n} {name}" for n in range(30)] for name in "abcd"}

    # With one shell as in test_calls_of_one_wait_for_each_other
    @pytest.mark.parametrize("shells", [pytest.param(1, marks=pytest.mark.long), 2])
    def test_panels_never_mix(self, tmp_path, shells):
        """Two panels that run at once show their own output, with a shell each or with one."""
        tools = [TerminalTool.create(working_dir=tmp_path)[0] for _ in range(shells)]
        panels = [
            ToolPanel(
                tool,
                {"command": f"for n in {{1..60}}; do echo {name}$n; sleep 0.002; done"},
            )
            for tool, name in zip(cycle(tools), "ab", strict=False)
        ]
        for panel in panels:
            panel.run(confirm=False)
        for panel, name in zip(panels, "ab", strict=True):
            finish(panel)
            words = panel.result.text.split()
            assert words == [f"{name}{n}" for n in range(1, 61)]
            panel.close()
        for tool in tools:
            tool.executor.close()

    def test_calls_of_one_wait_for_each_other(self, terminal):
        """Commands from several threads run one after the other, none in another's midst."""
        with ThreadPoolExecutor(4) as pool:
            texts = list(pool.map(lambda n: terminal.run(f"echo a{n}; echo b{n}").text, range(40)))
        assert texts == [f"a{n}\nb{n}" for n in range(40)]
