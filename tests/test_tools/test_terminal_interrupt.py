"""A call of the terminal that is broken off at any moment leaves a terminal that works."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

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


def test_an_interrupt_at_any_step_of_a_call_costs_only_that_call():
    """Whichever bytecode KeyboardInterrupt comes at, the next command runs in the same shell."""
    done = subprocess.run(
        [sys.executable, "-c", AT_EVERY_STEP],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=300,
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
    long = "x" * 3_000_000  # takes a while to read
    result = terminal.run(f"while :; do :; done; : '{long}'; touch half; touch 'half'")
    over.set()
    thread.join()
    assert result.exit_code == 130
    assert terminal.run("echo $y").text == "kept"
    assert not (tmp_path / "half").exists()


def test_an_interrupt_that_comes_too_late_hits_no_other_command(terminal):
    """One that comes as its command ends costs the next neither a byte nor its output."""
    for number in range(150):
        late = threading.Timer(number % 30 / 5_000, terminal.interrupt)
        late.start()
        terminal.run("echo first")
        late.join()
        answer = terminal.run(f"echo {number}")
        assert (answer.text, answer.exit_code) == (str(number), 0)
