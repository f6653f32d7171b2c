"""Tools that behave in the ways a run has to cope with."""

import asyncio
import logging
import operator
import subprocess
import sys
import threading
import warnings
from collections import deque

from IPython.display import HTML, Markdown, display
from patience import PATIENCE, join
from pydantic import SecretStr

from toolbench import ToolDefinition, current_run, run_tool, tool


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
    join(thread)
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
        self.cancel_event = threading.Event()

        @tool
        def steps() -> str:
            """Wait for a sign, or for being cancelled."""
            run = current_run()
            run.on_cancel(self.cancel_event.set)
            run.on_cancel(self.go_on.set)
            run.progress(1, 2, "waiting")
            self.begun.set()
            assert self.go_on.wait(PATIENCE)
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


class Blocked:
    """A call that blocks in C until it is let go.

    No bytecode is between the sign that it begins and the block, so that no exception of another
    thread can come before the block, however slow the machine is.
    """

    def __init__(self) -> None:
        self._begun, self._held = threading.Lock(), threading.Lock()
        self._begun.acquire()
        self._held.acquire()

    def __call__(self) -> None:
        deque(map(operator.call, (self._begun.release, self._held.acquire)), maxlen=0)

    def wait(self) -> None:
        """Wait until the call blocks."""
        assert self._begun.acquire(timeout=PATIENCE)

    def let_go(self) -> None:
        """Let the call return."""
        self._held.release()


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


NAME = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 2}},
    "required": ["name"],
}


@tool
def ask_name() -> str:
    """Ask for a name."""
    answer = current_run().ask("What is your name?", NAME)
    return f"Hello {answer['name']}." if answer else f"Nobody: {answer.action}."


@tool(destructive=True)
def erase(path: str) -> str:
    """Pretend to erase a file."""
    return f"erased {path}"


@tool
def leave() -> str:
    """Leave, as a script would."""
    raise SystemExit(3)


@tool
def unlock(user: str, password: SecretStr) -> str:
    """Say the secret out loud, everywhere."""
    plain = password.get_secret_value()
    print(f"trying {plain}")
    display({"text/plain": f"shown {plain}"}, raw=True)
    if user == "nobody":
        raise ValueError(f"{plain} is wrong")
    return f"{user} got in with {plain}"


@tool
def show() -> str:
    """Display things, one of them twice."""
    display(HTML("<b>bold</b><script>alert(1)</script>"))
    handle = display(Markdown("*first*"), display_id=True)
    handle.update(Markdown("*second*"))
    thread = threading.Thread(target=display, args=(HTML("<i>thread</i>"),))
    thread.start()
    join(thread)
    return "shown"


class Waiter:
    """A coroutine tool that waits for ever, unless it is cancelled."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.cancelled = threading.Event()

        @tool
        async def wait() -> None:
            """Wait for ever."""
            print("waiting")
            current_run().progress(1, 2)
            self.begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise

        self.tool = wait


class Outer:
    """A tool that runs another, which stands and waits."""

    def __init__(self, inner: ToolDefinition) -> None:
        @tool
        def outer() -> str:
            """Run the other one."""
            observation = run_tool(inner)
            return f"inner: {observation.text}"

        self.tool = outer
