"""Tools that behave in the ways a run has to cope with."""

import logging
import subprocess
import sys
import threading
import warnings

from toolbench import current_run, tool


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail() -> str:
    """Fail."""
    raise ValueError("the disk is full")


@tool
def talk() -> str:
    """Print, warn and log, here and in a thread of its own."""
    print("printed")
    print("complained", file=sys.stderr)
    thread = threading.Thread(target=print, args=("printed in a thread",))
    thread.start()
    thread.join()
    current_run().log("logged")
    return "talked"


@tool
def warn() -> str:
    """Warn and log, as a library would."""
    warnings.warn("soon gone", UserWarning, stacklevel=1)
    logging.getLogger("a.library").warning("low on memory")
    return "warned"


class Steps:
    """A tool that stands at its step until it is let on, and stops when asked."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.told = threading.Event()

        @tool
        def steps() -> str:
            """Wait for a sign, or for being cancelled."""
            run = current_run()
            run.on_cancel(self.told.set)
            run.on_cancel(self.go_on.set)
            run.progress(1, 2, "waiting")
            self.begun.set()
            assert self.go_on.wait(20)
            return "stopped early" if run.cancelled else "finished"

        self.tool = steps


class Spinner:
    """A tool that never looks whether it should stop."""

    def __init__(self) -> None:
        self.begun = threading.Event()

        @tool
        def spin() -> None:
            """Spin for ever."""
            self.begun.set()
            while True:
                pass

        self.tool = spin


class Sleeper:
    """A tool that waits for a process which would run for minutes."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.pid = 0

        @tool
        def sleep() -> int:
            """Start a process and wait for it."""
            with subprocess.Popen(["sleep", "300"]) as process:
                self.pid = process.pid
                self.begun.set()
                return process.wait()

        self.tool = sleep


@tool
def ask_name() -> str:
    """Ask for a name."""
    answer = current_run().ask(
        "What is your name?",
        {
            "type": "object",
            "properties": {"name": {"type": "string", "minLength": 2}},
            "required": ["name"],
        },
    )
    return f"Hello {answer['name']}." if answer else f"Nobody: {answer.action}."


@tool(destructive=True)
def erase(path: str) -> str:
    """Pretend to erase a file."""
    return f"erased {path}"
