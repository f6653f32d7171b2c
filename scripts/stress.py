"""Print in every way while background runs and cells begin and end, and see the process live.

    make stress                          # ten minutes
    python scripts/stress.py 180         # three

The process ends with 0 if nothing was lost and nobody's output went astray. A crash of the
interpreter is written by faulthandler to the real stderr.
"""

# ruff: noqa: T201 - a script talks to its terminal

import contextlib
import faulthandler
import io
import logging
import sys
import threading
import time
import warnings
from collections.abc import Callable

from toolbench import tool
from toolbench.runs.perform import start
from toolbench.runs.run import Run
from toolbench.tools.ipython import IPythonAction, IPythonExecutor

LINE = "a line of the screen\n"
IN_A_RUN = "a line of a run\n"
IN_A_CELL = "a line of a cell"


class Screen(io.TextIOBase):
    """Stands for a terminal: counts the lines, and keeps what does not belong there."""

    def __init__(self) -> None:
        """Nothing has been written."""
        self.text = ""
        self.lines = 0
        self.strangers: list[str] = []

    def write(self, text: str) -> int:
        """Take *text*; only the main thread is to write here."""
        *lines, self.text = (self.text + text).split("\n")
        self.lines += len(lines)
        self.strangers += [line for line in lines if line != LINE.rstrip()]
        return len(text)


@tool
def speak() -> str:
    """Print, and have a thread print."""
    print(IN_A_RUN, end="")
    thread = threading.Thread(target=print, args=(IN_A_RUN,), kwargs={"end": ""})
    thread.start()
    thread.join()
    return "spoken"


def run_tool() -> str:
    """Do what pressing Run does; return what is wrong with the result."""
    run = Run(speak, {}, source="button")
    start(run).join()
    return "" if run.output.text == 2 * IN_A_RUN else f"a run: {run.output.text!r}"


def run_cell(executor: IPythonExecutor) -> str:
    """Run a cell of a model; return what is wrong with the result."""
    text = executor(IPythonAction(code=f"print({IN_A_CELL!r})")).text
    return "" if text == IN_A_CELL else f"a cell: {text!r}"


def print_in_every_way() -> int:
    """Write to both streams as programs do; return how many lines there are."""
    for _ in range(50):
        print("a", "line", "of", "the", "screen")
    print(LINE, end="", file=sys.stderr)
    sys.stdout.writelines([LINE, LINE])
    with contextlib.redirect_stdout(sys.stderr):
        print(LINE, end="", flush=True)
    warnings.warn("not shown as a line of its own", stacklevel=1)
    logging.getLogger("stress").debug("not shown at all")
    return 54


def stress(seconds: float) -> list[str]:
    """Print for *seconds* while runs and cells begin and end; return what went wrong."""
    end = time.monotonic() + seconds
    wrong: list[str] = []
    counts: list[int] = []

    def repeat(work: Callable[[], str]) -> None:
        count = 0
        while time.monotonic() < end and not wrong:
            wrong.extend(filter(None, [work()]))
            count += 1
        counts.append(count)

    executor = IPythonExecutor(namespace="fresh")
    works = [run_tool, run_tool, lambda: run_cell(executor)]
    threads = [threading.Thread(target=repeat, args=(work,)) for work in works]
    out, err, printed = Screen(), Screen(), 0
    before = sys.stdout, sys.stderr
    warnings.simplefilter("ignore")
    sys.stdout, sys.stderr = out, err
    # Both streams have been seen now
    wrong.extend(filter(None, [run_tool()]))
    for thread in threads:
        thread.start()
    while time.monotonic() < end and not wrong:
        printed += print_in_every_way()
    for thread in threads:
        thread.join()
    if sys.stdout is not out or sys.stderr is not err:
        wrong.append("the streams are not what they were")
    sys.stdout, sys.stderr = before
    executor.close()
    lines = out.lines + err.lines
    if lines != printed:
        wrong.append(f"{printed} lines were printed, {lines} are on the screen")
    wrong += [*out.strangers, *err.strangers][:5]
    print(f"{printed:,} lines beside {sum(counts):,} runs and cells", *wrong, sep="\n")
    return wrong


if __name__ == "__main__":
    faulthandler.enable(sys.__stderr__)
    sys.exit(bool(stress(float(sys.argv[1]) if sys.argv[1:] else 600)))
