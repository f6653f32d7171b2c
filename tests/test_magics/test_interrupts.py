"""Kernel > Interrupt while toolbench works: one line says where; no traceback through toolbench."""

import re

import pytest

DEFINITIONS = """
from asyncio import Event
from signal import SIGINT, pthread_kill
from threading import main_thread
from toolbench import Conversation, run_tool, tool
from toolbench.agent import Agent

@tool
def stop(n: int = 1) -> str:
    "Be interrupted."
    raise KeyboardInterrupt

@tool
async def wait(n: int = 1) -> str:
    "Interrupt the cell, which waits for this."
    pthread_kill(main_thread().ident, SIGINT)
    await Event().wait()

def model(messages, tools):
    raise KeyboardInterrupt

talk = Conversation(agent=Agent(model, []))
talk.send_message("Hello")
"""
DESK = """
from fastmcp import FastMCP
desk = FastMCP("desk")

@desk.resource("desk://book")
async def book() -> str:
    pthread_kill(main_thread().ident, SIGINT)
    await Event().wait()
"""
WRITES = """
from logging import Handler, Logger
from toolbench import run_tool, tool

@tool
def login(password: str) -> str:
    "Log in."
    return "ok"

class Stop(Handler):
    def emit(self, record):
        raise KeyboardInterrupt

run_tool(login, password="hunter2!sesame")
log = Logger("mine")
log.addHandler(Stop())
"""
LINES = DEFINITIONS.strip().splitlines()
STOP, MODEL = (n for n, line in enumerate(LINES, 1) if line == "    raise KeyboardInterrupt")


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize(
    ("cell", "place"),
    [
        ("%tool stop n=1", f"In[1], line {STOP}, in stop"),
        ("%%tool stop\nn: 1", f"In[1], line {STOP}, in stop"),
        ("'several lines'\n%tool wait n=1", "In[2], line 2"),
        ("run_tool(stop)", f"In[1], line {STOP}, in stop"),
        pytest.param(
            "%mcp connect desk desk\n%mcp read desk desk://book",
            "In[2], line 2",
            marks=pytest.mark.slow,
        ),
        ("talk.run()", f"In[1], line {MODEL}, in model"),
    ],
)
def test_is_one_line_with_the_place(shell, monkeypatch, capsys, cell, place):
    """Whichever way the work began; the cell is interrupted, as ever."""
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    shell.run_cell(DEFINITIONS, store_history=True).raise_error()
    if "desk" in cell:
        shell.run_cell(DESK).raise_error()
    done = shell.run_cell(cell, store_history=True)
    assert isinstance(done.error_in_exec, KeyboardInterrupt)
    assert capsys.readouterr().out.splitlines()[-1] == f"KeyboardInterrupt: Stopped at {place}."


def test_of_a_plain_call_shows_where_the_tool_was(shell, monkeypatch, capsys):
    """Its author called it as a function: the frames of the person's own code stay."""
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    shell.run_cell(DEFINITIONS, store_history=True).raise_error()
    shell.run_cell("stop(n=1)", store_history=True)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert "in stop(n)" in shown and "toolbench" not in shown


def test_of_code_that_only_writes_through_toolbench_is_as_ever(shell, monkeypatch, capsys):
    """Once a secret is known, all output passes through toolbench: the traceback of a cell stays."""
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    shell.run_cell(WRITES, store_history=True).raise_error()
    shell.run_cell("log.warning('Hello')", store_history=True)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert "in Stop.emit(self, record)" in shown and "Stopped at" not in shown
