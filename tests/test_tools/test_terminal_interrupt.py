"""A call of the terminal that is broken off at any moment leaves a terminal that works."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from patience import PATIENCE, join, when

from test_tools.terminal_parts import Terminal

AT_EVERY_STEP = """
import sys
from test_tools.terminal_parts import Terminal

class Interrupt:  # KeyboardInterrupt in this thread, at one step of what it does
    def __init__(self, step):
        self.left = step

    def __call__(self, frame, event, argument):
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self

sys._getframe().f_trace_opcodes = True  # Python 3.12 wants to know before settrace
with Terminal("/") as terminal:
    terminal.run("x=kept")
    step, interrupted = 0, True
    while interrupted:
        step, interrupted = step + 1, False
        try:
            sys.settrace(Interrupt(step))
            terminal.run(f"echo {step}")
            sys.settrace(None)
        except KeyboardInterrupt:
            interrupted = True
        answer = terminal.run("echo $x")
        assert (answer.text, answer.exit_code) == ("kept", 0), (step, answer)
    print("steps:", step > 50)
"""


@pytest.fixture(name="terminal")
def _terminal(tmp_path):
    with Terminal(tmp_path) as executor:
        yield executor


@pytest.mark.slow
def test_an_interrupt_at_any_step_of_a_call_costs_only_that_call():
    """Whichever bytecode KeyboardInterrupt comes at, the next command runs in the same shell."""
    done = subprocess.run(
        [sys.executable, "-c", AT_EVERY_STEP],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE,
        check=False,
    )
    assert done.stdout == "steps: True\n", done.stderr


def test_an_interrupt_waits_until_the_shell_has_read_the_command(terminal, tmp_path):
    """It hits the command: the shell never runs the half that it had not read."""
    terminal.run("y=kept")
    over = threading.Event()

    def interrupt() -> None:
        while not over.wait(0.001):
            terminal.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    # Takes a while to read
    long = "x" * 3_000_000
    result = terminal.run(f"while :; do :; done; : '{long}'; touch half; touch 'half'")
    over.set()
    join(thread)
    assert result.exit_code == 130
    assert terminal.run("echo $y").text == "kept"
    assert not (tmp_path / "half").exists()


def test_an_interrupt_that_comes_too_late_hits_no_other_command(terminal):
    """One that comes as its command ends costs the next neither a byte nor its output nor its shell."""
    terminal.run("y=kept")
    for number in range(150):
        late = threading.Timer(number % 30 / 5_000, terminal.interrupt)
        late.start()
        terminal.run("echo first")
        join(late)
        answer = terminal.run(f"echo {number} $y")
        assert (answer.text, answer.exit_code) == (f"{number} kept", 0)


class TestInterrupt:
    """Of a call that waits: when the command says that it is there, not after a time."""

    @pytest.fixture(name="ready")
    def _ready(self, tmp_path):
        return (tmp_path / "ready").exists

    def test_stops_what_a_call_waits_for(self, terminal, ready):
        """From another thread, by C-c; the call returns as for any command."""
        with when(ready, terminal.interrupt):
            result = terminal.run("sh -c ': > ready; exec sleep 1000'; echo after")
        assert result.exit_code == 130
        assert terminal.run("echo alive").text == "alive"

    @pytest.mark.slow
    def test_kills_a_program_that_ignores_it(self, terminal, ready):
        """A program that does not react to C-c is killed; the shell stays."""
        terminal.run("x=kept")
        stubborn = "trap '' INT; : > ready; while :; do :; done"
        with when(ready, terminal.interrupt):
            result = terminal.run(f'sh -c "{stubborn}"')
        assert result.exit_code == 137
        assert terminal.run("echo $x").text == "kept"

    @pytest.mark.slow
    def test_stops_even_a_shell_that_ignores_it(self, terminal, ready):
        """What is left is ended with its shell."""
        with when(ready, terminal.interrupt):
            result = terminal.run("trap '' INT; : > ready; while :; do :; done")
        assert result.exit_code == 137
        assert terminal.run("echo alive").text == "alive"

    @pytest.mark.usefixtures("no_collector")
    def test_of_the_kernel_interrupts_the_command(self, terminal, ready):
        """Kernel > Interrupt ends the call with KeyboardInterrupt, and what it waited for."""
        main = threading.main_thread().ident
        with (
            when(ready, lambda: signal.pthread_kill(main, signal.SIGINT)),
            pytest.raises(KeyboardInterrupt),
        ):
            terminal.run("sh -c ': > ready; exec sleep 1000'")
        assert terminal.run("").exit_code == 130

    def test_between_calls_does_nothing(self, terminal):
        """It is for the call under way, not for the next one."""
        terminal.run("cat", timeout=0)
        terminal.interrupt()
        terminal.interrupt()
        typed = terminal.type("still here", timeout=0)
        assert terminal.until("still here", typed) == "still here"
