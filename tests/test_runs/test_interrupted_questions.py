"""Kernel > Interrupt while `input()` waits for an answer to a run."""

import signal

import pytest
from shells import new_shell

from test_runs import tools
from toolbench import run_tool
from toolbench.runs.input_prompt import ask_in_cell
from toolbench.runs.questions import Answer, Question


def test_is_interruptible(monkeypatch):
    """Kernel > Interrupt at the prompt ends the run as it ends the cell."""

    def interrupted(prompt):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_tool(tools.ask_name)


def test_is_interruptible_in_a_cell_that_awaits(monkeypatch):
    """The kernel's own handler there only notes the signal, and `input()` would go on waiting."""
    signals = []

    def note(number, frame):
        signals.append(number)

    def interrupted(prompt):
        signal.raise_signal(signal.SIGINT)
        return "yes"

    monkeypatch.setattr("builtins.input", interrupted)
    before = signal.signal(signal.SIGINT, note)
    try:
        answer = ask_in_cell(Question.about("Really?", None, "me"))
        assert signal.getsignal(signal.SIGINT) is note
    finally:
        signal.signal(signal.SIGINT, before)
    assert answer == Answer("cancel")
    # Which cancels the cell
    assert signals == [signal.SIGINT]


def test_interrupted_is_one_sentence_in_the_cell(monkeypatch, capsys):
    """A traceback would show how toolbench and the kernel ask, and nothing of the person's code."""

    def interrupted(prompt):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    with new_shell(user_ns={"tool": tools.ask_name}) as shell:
        shell.run_cell("from toolbench import run_tool; run_tool(tool)")
    assert capsys.readouterr().out.splitlines() == [
        "KeyboardInterrupt: You interrupted the question of ask_name. It has no answer, and "
        "the call was cancelled."
    ]
